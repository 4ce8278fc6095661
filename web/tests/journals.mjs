// Journal exports to try verification with: written here, by the rule of the format alone, without a line of our own code.

import { createHash } from 'node:crypto';
import { open, readFile, writeFile } from 'node:fs/promises';

const GENESIS = '0'.repeat(64);
const START = Date.parse('2026-01-01T00:00:00Z');

/** Writes an export of `count` entries of about 500 bytes each; resolves to the hash of the last. */
export async function writeExport(file, count) {
  const lines = [];
  let head = GENESIS;
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const { line, hash } = entry(sequence, head);
    lines.push(line);
    head = hash;
  }
  const header = { format: 'bailiwick.journal-export/1', workspace_id: 'desk', journal: 'decisions', head_sequence: count, head_hash: head };
  const out = await open(file, 'w');
  await out.write(`${JSON.stringify(header)}\n`);
  for (let at = 0; at < lines.length; at += 10_000) await out.write(`${lines.slice(at, at + 10_000).join('\n')}\n`);
  await out.close();
  return head;
}

/** Copies an export with one bit of entry `sequence` turned over, in the name of whoever acted. */
export async function flipByte(from, to, sequence) {
  const bytes = await readFile(from);
  const line = bytes.lastIndexOf('\n', bytes.indexOf(`"sequence":${sequence},`));
  bytes[bytes.indexOf('"actor":"agent:', line) + '"actor":"agent:'.length] ^= 1;
  await writeFile(to, bytes);
}

// Members stand in the order of their names and nothing in them needs escaping, so this is the canonical form.
function entry(sequence, previous) {
  const before = {
    actor: 'agent:worker',
    entity_id: `wo_${String(sequence % 977).padStart(16, '0')}`,
    epoch_id: 'epoch_1',
  };
  const after = {
    id: `entry_${String(sequence).padStart(12, '0')}`,
    occurred_at: new Date(START + sequence * 1000).toISOString(),
    payload: { facts: [], note: 'Read the next page of the filing and wrote down what it says on rates' },
    prev_hash: previous,
    protocol: 'bailiwick.journal/1',
    sequence,
    session_id: null,
    type: 'work.progress',
    workspace_id: 'desk',
  };
  const hash = createHash('sha256').update(JSON.stringify({ ...before, ...after })).digest('hex');
  return { hash, line: JSON.stringify({ ...before, hash, ...after }) };
}
