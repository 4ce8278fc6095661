// The package in a browser says about every vector what the program says, byte for byte.

import assert from 'node:assert/strict';

import { BUILDS, PACKAGE, check, compare, finish, giveUpAfter, inBrowser, nativeLines, vectorFiles } from './harness.mjs';

giveUpAfter(300);
const native = nativeLines();
const files = vectorFiles();

await inBrowser(PACKAGE, async (page, complaints) => {
  for (const build of BUILDS) {
    await check(`${build}: native and browser agree`, async () => {
      const lines = await page.evaluate(
        async ({ build, files }) => {
          const { sayAll } = await import('/tests/vectors.mjs');
          const api = await import(`/dist/${build}/browser.js`);
          await api.init();
          return sayAll(api, files);
        },
        { build, files },
      );
      const { differences, skipped } = compare(native, lines, build);
      console.log(`        ${native.length - skipped.length} the same byte for byte, ${skipped.length} skipped for want of a schema engine`);
      assert.deepEqual(differences.slice(0, 3), []);
      assert.equal(skipped.length > 0, build === 'small');
    });
  }
  await check('the page had nothing to complain about', () => assert.deepEqual(complaints, []));
});

finish();
