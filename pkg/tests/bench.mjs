// How fast the package is here, and whether memory stays flat: figures for people, not a test.

import { createHash } from 'node:crypto';

import { BUILDS } from './harness.mjs';

const EVENTS = Number(process.env.BAILIWICK_EVENTS ?? 1_000_000);

for (const build of BUILDS) {
  const api = await import(`../dist/${build}/node.js`);
  orders(build, api);
  await journal(build, api);
}

/** An order of the usual size, from text and as an object. */
function orders(build, api) {
  const order = structuredClone(api.workOrderSchema.examples[0]);
  order.criteria = Array.from({ length: 16 }, (_, at) => ({ id: `c${at}`, text: 'Names a risk of the filing, with the section in which it stands' }));
  order.context = Array.from({ length: 8 }, (_, at) => ({ uri: `https://filings.example/${at}/annual-report`, note: 'the filing itself' }));
  const text = JSON.stringify(order);
  for (const [form, input] of Object.entries({ text, object: order })) {
    const seconds = processor(() => repeat(20_000, () => api.validateOrder(input)), () => repeat(5_000, () => api.validateOrder(input)));
    console.log(`${build}: order of ${text.length} bytes from ${form}: ${((seconds / 20_000) * 1e6).toFixed(1)} µs`);
  }
}

/** A journal of entries of 500 bytes that is made as it is verified; what making it takes is taken off. */
async function journal(build, api) {
  const made = processor(() => { for (const _ of exported(EVENTS)); });
  const before = process.memoryUsage().rss;
  let most = 0;
  const verifier = new api.JournalVerifier();
  const start = process.cpuUsage();
  for (const chunk of exported(EVENTS)) {
    verifier.push(chunk);
    most = Math.max(most, process.memoryUsage.rss());
  }
  const report = verifier.finish();
  const seconds = spent(start) - made;
  if (report.checked_events !== EVENTS) throw new Error(JSON.stringify(report));
  console.log(`${build}: ${EVENTS} events of ${Math.round(verifier.bytes / EVENTS)} bytes: ${Math.round(EVENTS / seconds)} events a second, ${Math.round((most - before) / 2 ** 20)} MiB more than before`);
}

/** Chunks of about 64 KiB. The head is only known at the end, so the export states none that holds. */
function* exported(events) {
  let previous = '0'.repeat(64);
  let lines = [JSON.stringify({ format: 'bailiwick.journal-export/1', workspace_id: 'desk', journal: 'decisions', head_sequence: events, head_hash: previous })];
  const encoder = new TextEncoder();
  for (let sequence = 1; sequence <= events; sequence++) {
    const before = `{"actor":"agent:worker","entity_id":"wo_1","epoch_id":"epoch_1",`;
    const after = `"id":"entry_${sequence}","occurred_at":"2026-01-01T00:00:00.000Z","payload":{"note":"${'x'.repeat(60)}"},"prev_hash":"${previous}","protocol":"bailiwick.journal/1","sequence":${sequence},"session_id":null,"type":"work.progress","workspace_id":"desk"}`;
    previous = createHash('sha256').update(before + after).digest('hex');
    lines.push(`${before}"hash":"${previous}",${after}`);
    if (lines.length === 128) {
      yield encoder.encode(`${lines.join('\n')}\n`);
      lines = [];
    }
  }
  if (lines.length > 0) yield encoder.encode(`${lines.join('\n')}\n`);
}

function repeat(times, run) {
  for (let at = 0; at < times; at++) run();
}

/** Processor time in seconds: what others do on the machine hardly counts. */
function processor(run, warm = () => {}) {
  warm();
  const start = process.cpuUsage();
  run();
  return spent(start);
}

function spent(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}
