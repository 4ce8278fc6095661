// The package in Node says about every vector what the program says, byte for byte.

import assert from 'node:assert/strict';

import { BUILDS, check, compare, finish, nativeLines, vectorFiles } from './harness.mjs';
import { parts, sayAll } from './vectors.mjs';

const native = nativeLines();
const files = vectorFiles();

await check('there are vectors of every kind', () => {
  const counts = Object.groupBy?.(native, (line) => JSON.parse(line).file) ?? {};
  assert.ok(native.length > 1000, `${native.length} vectors`);
  if (Object.groupBy) assert.deepEqual(Object.keys(counts).sort(), Object.keys(files).sort());
  console.log(`        ${native.length} vectors in ${Object.keys(files).length} files`);
});

for (const build of BUILDS) {
  const api = await import(`../dist/${build}/node.js`);
  await check(`${build}: native and Node agree`, () => {
    const { differences, skipped } = compare(native, sayAll(api, files), build);
    console.log(`        ${native.length - skipped.length} the same byte for byte, ${skipped.length} skipped for want of a schema engine`);
    assert.deepEqual(differences.slice(0, 3), []);
    assert.equal(skipped.length > 0, build === 'small', 'only the small build has no schema engine');
  });
  await check(`${build}: objects give what their text gives`, () => {
    let compared = 0;
    for (const text of Object.values(files).filter((text) => text.trimStart().startsWith('['))) {
      for (const [, vector] of parts(text)) {
        const { order } = Object.fromEntries(parts(vector));
        const value = JSON.parse(order);
        // A string stands for JSON text, and numbers beyond 2^53 only survive as text.
        if (typeof value === 'string' || api.canonicalize(value) !== tryCanonical(api, order) || /[0-9]{17}|: *-0/.test(order)) continue;
        assert.deepEqual(api.validateOrder(value), api.validateOrder(order), order);
        compared += 1;
      }
    }
    assert.ok(compared > 900, `${compared} compared`);
  });
}

finish();

/** Texts with a name twice have no canonical form. */
function tryCanonical(api, text) {
  try {
    return api.canonicalize(text);
  } catch {
    return undefined;
  }
}
