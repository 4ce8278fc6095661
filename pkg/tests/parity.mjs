// The package in Node says about every vector what the program says, byte for byte.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { BUILDS, check, compare, finish, nativeLines, PROGRAM, vectorFiles } from './harness.mjs';
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
    const documents = Object.entries(files).filter(([file, text]) => text.trimStart().startsWith('[') && !file.startsWith('passes/'));
    for (const [, text] of documents) {
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

await check('the decisions of a desk are made again, and a forged one shows', async () => {
  const api = await import('../dist/full/node.js');
  const journal = journalOfADesk();
  const report = await api.verifyJournal(journal, { decisions: 'again' });
  assert.equal(report.ok, true);
  assert.deepEqual(report.decisions, { decided: report.checked_events, applied: 0, erased: 0, decided_all: true });
  assert.ok(report.checked_events >= 2);
  // Nobody who only hashes would see this one: the chain is sealed anew, but the deed was not the actor's to do.
  const forged = resealed(journal, (entry) => entry.replaceAll('"agent:worker"', '"agent:stranger"'));
  assert.equal((await api.verifyJournal(forged)).ok, true);
  const found = await api.verifyJournal(forged, { decisions: 'again' });
  assert.equal(found.ok, false);
  assert.equal(found.decisions.first_difference.sequence, report.checked_events);
});

finish();

/** The export of a new desk on which an order was created and accepted. */
function journalOfADesk() {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-parity-'));
  try {
    const order = { id: 'wo_1', to: 'agent:worker', goal: 'g', criteria: [{ id: 'c', text: 't' }], budget: { usd: 1 }, deadline: '2100-01-01T00:00:00Z', tools: ['a/*'] };
    writeFileSync(join(folder, 'order.json'), JSON.stringify(order));
    const env = { ...process.env, BAILIWICK_STORE: `sqlite:${join(folder, 'desk.db')}` };
    const run = (...args) => execFileSync(PROGRAM, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    run('order', 'create', 'order.json', '--as', 'agent:manager');
    run('order', 'accept', 'wo_1', '--as', 'agent:worker');
    return run('journal', 'export');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A journal whose last entry was changed by somebody who can compute hashes, too. */
function resealed(journal, change) {
  const lines = journal.trimEnd().split('\n');
  const { hash: _, ...entry } = JSON.parse(change(lines.at(-1)));
  const hash = createHash('sha256').update(canonical(entry)).digest('hex');
  lines[lines.length - 1] = canonical({ ...entry, hash });
  lines[0] = JSON.stringify({ ...JSON.parse(lines[0]), head_hash: hash });
  return `${lines.join('\n')}\n`;
}

/** These entries have no names or numbers that canonical forms disagree on. */
function canonical(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** Texts with a name twice have no canonical form. */
function tryCanonical(api, text) {
  try {
    return api.canonicalize(text);
  } catch {
    return undefined;
  }
}
