// What every Node client shares: starting the program, the flow that each client drives, and the count of its steps.
//
// A client is a function `connect(target)` that resolves to `{ list(), call(tool, arguments), close() }`, where target is
// `{ command, args }` for stdio or `{ url, key }` for HTTP. `call` resolves to the tool result as it came.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const MANAGER = 'agent:manager';
const WORKER = 'agent:worker';
const KEYS = { [MANAGER]: 'key-of-the-manager-0123456789', [WORKER]: 'key-of-the-worker-0123456789' };

const TOOLS = [
  'accept_work_order',
  'allow_effect_retry',
  'answer_question',
  'cancel_work_order',
  'create_work_order',
  'decline_work_order',
  'get_track_record',
  'get_work_order',
  'list_work_orders',
  'report_progress',
  'review_work_report',
  'start_work_order',
  'submit_work_report',
  'wait_for_update',
];

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

// Longer than any step takes; shorter than a person waits.
const RUN_SECONDS = 180;
const START_SECONDS = 30;
const STOP_SECONDS = 10;

const tally = { passed: 0, failed: 0 };

/** Drives the whole flow over stdio and over HTTP, prints the count and ends the process. */
export async function drive(client, connect) {
  giveUpAfter(RUN_SECONDS);
  await overStdio(`${client}, stdio`, connect);
  await overHttp(`${client}, HTTP`, connect);
  finish();
}

/** Prints the count as the last line and ends the process, with 1 if a step failed. */
export function finish() {
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 ? 0 : 1);
}

/** Ends the process as failed when it takes longer than `seconds`. */
export function giveUpAfter(seconds) {
  setTimeout(() => {
    console.log(`FAILED: not done after ${seconds} s`);
    tally.failed += 1;
    finish();
  }, seconds * 1000).unref();
}

/** Counts one step; false when it failed. */
export async function step(title, run) {
  try {
    await run();
    tally.passed += 1;
    console.log(`ok: ${title}`);
    return true;
  } catch (error) {
    tally.failed += 1;
    console.log(`FAILED: ${title}\n${error.stack}`);
    return false;
  }
}

/** Calls `run` with a fresh folder, which is removed afterwards. */
export async function inFolder(run) {
  const folder = await mkdtemp(join(tmpdir(), 'bailiwick-clients-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts `bailiwick serve` on a free port; resolves, once it has said where it listens, to
 * `{ origin, url, process, stop() }`. */
export async function serve(folder, ...options) {
  const args = ['serve', '--store', `sqlite:${join(folder, 'desk.db')}`, ...(options.includes('--port') ? [] : ['--port', '0']), ...options];
  const server = spawn(program(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  // Whatever happens to us, no server is left behind.
  process.once('exit', () => server.kill('SIGKILL'));
  let said = '';
  const address = new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said);
      if (found) resolve(found[0]);
    };
    server.stdout.setEncoding('utf8').on('data', hear);
    server.stderr.setEncoding('utf8').on('data', hear);
    server.on('error', reject);
    server.on('exit', (code, signal) => reject(new Error(`the server ended (${code ?? signal}) and said:\n${said}`)));
    setTimeout(() => reject(new Error(`no address after ${START_SECONDS} s; the server said:\n${said}`)), START_SECONDS * 1000).unref();
  });
  // A server that ends later than it answered is noticed by the calls that fail.
  address.catch(() => {});
  try {
    const origin = await address;
    return { origin, url: `${origin}/mcp`, process: server, stop: () => stop(server) };
  } catch (error) {
    server.kill('SIGKILL');
    throw error;
  }
}

/** Asks a server to end, and waits until it has. */
export async function stop(server) {
  if (server.exitCode === null && server.signalCode === null) {
    server.kill('SIGTERM');
    const stubborn = setTimeout(() => server.kill('SIGKILL'), STOP_SECONDS * 1000);
    await once(server, 'exit');
    clearTimeout(stubborn);
  }
  assert.equal(server.exitCode, 0, `the server ends cleanly when asked to (${server.signalCode ?? server.exitCode})`);
}

/** The path of the program under test. */
export function program() {
  const path = process.env.BAILIWICK_BIN;
  assert.ok(path, 'BAILIWICK_BIN names the program under test');
  return path;
}

async function overStdio(title, connect) {
  await inFolder(async (folder) => {
    const store = `sqlite:${join(folder, 'desk.db')}`;
    const target = (agent) => ({ command: program(), args: ['mcp', '--as', agent, '--store', store] });
    await withBoth(title, connect, target, flow);
  });
}

async function overHttp(title, connect) {
  await inFolder(async (folder) => {
    const keys = join(folder, 'keys.json');
    await writeFile(keys, JSON.stringify({ keys: { [KEYS[MANAGER]]: MANAGER, [KEYS[WORKER]]: WORKER } }), { mode: 0o600 });
    let server;
    if (!(await step(`${title}: the server starts`, async () => void (server = await serve(folder, '--keys', keys))))) return;
    await step(`${title}: only a known key opens the door`, () => refusesStrangers(server));
    await withBoth(title, connect, (agent) => ({ url: server.url, key: KEYS[agent] }), flow);
    await step(`${title}: the server stops when asked to`, () => server.stop());
  });
}

// Connects both agents at once, as two sessions on one machine do, and closes them whatever happens.
async function withBoth(title, connect, target, run) {
  const sessions = [];
  const opened = await step(`${title}: two agents connect`, async () => {
    const both = await Promise.allSettled([MANAGER, WORKER].map((agent) => connect(target(agent))));
    for (const one of both) if (one.status === 'fulfilled') sessions.push(one.value);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
  });
  if (opened) await run(title, ...sessions);
  await Promise.allSettled(sessions.map((session) => session.close()));
}

async function refusesStrangers({ origin, url }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  for (const authorization of [undefined, 'Bearer nobody', 'Basic bm9ib2R5Og==']) {
    const answer = await fetch(url, { method: 'POST', body, headers: authorization ? { ...headers, authorization } : headers });
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer\b/);
    await answer.arrayBuffer();
  }
  const health = await fetch(`${origin}/healthz`);
  assert.equal(health.status, 200);
  await health.arrayBuffer();
}

// The flow: one order from its creation to its approval, by two agents, with every detour on the way.
async function flow(title, manager, worker) {
  const order = {};
  for (const [name, run] of STEPS) {
    if (!(await step(`${title}: ${name}`, () => run({ manager, worker, order })))) {
      // The rest builds on it.
      return;
    }
  }
}

// Each step gets `{ manager, worker, order }`; `order` carries the id and what the next steps need.
const STEPS = [
  ['the tools describe themselves', toolsDescribeThemselves],
  ['the manager creates an order', managerCreates],
  ['the worker finds it', workerFinds],
  ['the worker accepts and starts, the manager may not', workerStarts],
  ['progress is recorded', progressIsRecorded],
  ['a wrong report comes back with findings and changes nothing', wrongReport],
  ['a blocked worker asks, the manager answers', blockedAndAnswered],
  ['the right report is taken', rightReport],
  ['rework wakes the waiting worker', reworkWakes],
  ['approval wakes the waiting worker', approvalWakes],
  ['the track record adds up', trackRecord],
  ['nobody acts in another name', nobodyActsForAnother],
  ['malformed calls are refused and the server goes on', malformedCalls],
  ['a huge argument is refused and the server goes on', hugeArgument],
];

async function toolsDescribeThemselves({ worker }) {
  const tools = await worker.list();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
  assert.deepEqual(await worker.list(), tools, 'two listings are the same');
  for (const tool of tools) {
    assert.ok(tool.title ?? tool.annotations?.title, `${tool.name} has a title`);
    assert.ok(tool.description, `${tool.name} has a description`);
    for (const hint of HINTS) assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} says ${hint}`);
    assert.equal(tool.inputSchema.type, 'object', `${tool.name} has an input schema`);
    assert.equal(tool.outputSchema?.type, 'object', `${tool.name} has an output schema`);
  }
}

async function managerCreates({ manager, order }) {
  const view = await value(manager, 'create_work_order', {
    to: WORKER,
    goal: 'Find the outage window and name it',
    criteria: [
      { id: 'window', text: 'The window is named, with its source' },
      { id: 'cause', text: 'The cause is named' },
    ],
    budget: { usd: 1, tool_calls: 10 },
    deadline: new Date(Date.now() + 3_600_000).toISOString(),
    tools: ['status/*'],
    output_schema: { type: 'object', required: ['minutes'], properties: { minutes: { type: 'integer' } } },
    context: [{ uri: 'https://example.com/status' }],
    metadata: { ticket: 7 },
  });
  order.id = view.id;
  assert.match(view.id, /^wo_[0-9a-f]{16}$/);
  assert.equal(view.state, 'offered');
  assert.equal(view.from, MANAGER);
  assert.equal(view.to, WORKER);
  assert.equal(view.order.from, MANAGER);
  assert.match(view.order.spec, /^awl\/work-order@0\.\d$/);
  assert.deepEqual(view.order.metadata, { ticket: 7 });
  assert.equal(view.latest_report, null);
  assert.deepEqual(view.findings, []);
  assert.deepEqual(view.events.map(({ seq, action, from, to }) => ({ seq, action, from, to })), [
    { seq: 1, action: 'create', from: null, to: 'offered' },
  ]);
  assert.equal(view.last_seq, 1);
}

async function workerFinds({ worker, order }) {
  const offered = await value(worker, 'list_work_orders', { to: WORKER, state: 'offered' });
  assert.deepEqual(offered.map((summary) => summary.id), [order.id]);
  assert.equal(offered[0].goal, 'Find the outage window and name it');
  assert.deepEqual(await value(worker, 'list_work_orders', { to: MANAGER }), []);
  const view = await value(worker, 'get_work_order', { id: order.id });
  assert.equal(view.order.id, order.id);
  assert.equal(await code(worker, 'get_work_order', { id: 'wo_0000000000000000' }), 'NOT_FOUND');
}

async function workerStarts({ manager, worker, order }) {
  const { id } = order;
  assert.equal(await code(manager, 'accept_work_order', { id }), 'FORBIDDEN');
  assert.equal(await code(worker, 'start_work_order', { id }), 'INVALID_TRANSITION');
  assert.equal((await value(worker, 'accept_work_order', { id })).state, 'accepted');
  assert.equal((await value(worker, 'start_work_order', { id })).state, 'working');
  assert.equal(await code(worker, 'decline_work_order', { id }), 'INVALID_TRANSITION');
}

async function progressIsRecorded({ manager, worker, order }) {
  const view = await value(worker, 'report_progress', { id: order.id, note: 'read the status page', percent: 40 });
  assert.equal(view.state, 'working');
  assert.equal(last(view.events).action, 'progress');
  assert.equal(last(view.events).note, 'read the status page');
  assert.equal(await code(worker, 'report_progress', { id: order.id, note: 'more', percent: 101 }), 'BAD_REQUEST');
  assert.equal(await code(manager, 'report_progress', { id: order.id, note: 'hurry' }), 'FORBIDDEN');
}

const report = (id, changes = {}) => ({
  id,
  status: 'done',
  result: { summary: 'The window is 14 minutes', output: { minutes: 14 } },
  evidence: [
    { criterion: 'window', type: 'tool_call', ref: 'status/window#1' },
    { criterion: 'cause', type: 'note', note: 'said by the operator' },
  ],
  cost: { usd: 0.25, tool_calls: 1 },
  tools_used: ['status/window'],
  ...changes,
});

async function wrongReport({ worker, order }) {
  const { id } = order;
  const wrong = report(id, {
    result: { summary: 'The window is long', output: {} },
    evidence: [{ criterion: 'window', type: 'tool_call', ref: 'web/get#1' }],
    tools_used: ['web/get'],
  });
  const error = await refusal(worker, 'submit_work_report', wrong);
  assert.equal(error.code, 'VALIDATION_FAILED');
  assert.deepEqual(error.findings.map(({ rule, kind, path }) => `${rule} ${kind} ${path}`).sort(), [
    'R11 invalid /result/output',
    'R4 invalid /evidence',
    'R5 invalid /tools_used/0',
  ]);
  const view = await value(worker, 'get_work_order', { id });
  assert.equal(view.state, 'working');
  assert.equal(view.latest_report, null);
}

async function blockedAndAnswered({ manager, worker, order }) {
  const { id } = order;
  const blocked = report(id, { status: 'blocked', evidence: [], result: { summary: 'I need a word' } });
  assert.equal((await refusal(worker, 'submit_work_report', blocked)).findings[0].rule, 'R9');
  const summary = await value(worker, 'submit_work_report', { ...blocked, questions: ['Which time zone?'] });
  assert.equal(summary.state, 'blocked');
  assert.deepEqual(summary.findings, []);
  assert.equal(await code(worker, 'answer_question', { id, answer: 'mine' }), 'FORBIDDEN');
  assert.equal(await code(manager, 'answer_question', { id, answer: ' ' }), 'BAD_REQUEST');
  const view = await value(manager, 'answer_question', { id, answer: 'UTC' });
  assert.equal(view.state, 'working');
  assert.equal(last(view.events).note, 'UTC');
  assert.deepEqual(view.latest_report.questions, ['Which time zone?']);
}

async function rightReport({ worker, order }) {
  const summary = await value(worker, 'submit_work_report', report(order.id));
  assert.equal(summary.id, order.id);
  assert.equal(summary.state, 'submitted');
  assert.deepEqual(summary.findings, []);
  const view = await value(worker, 'get_work_order', { id: order.id });
  assert.equal(view.latest_report.attempt, 2);
  assert.equal(view.latest_report.from, WORKER);
  assert.equal(view.latest_report.order_id, order.id);
}

async function reworkWakes({ manager, worker, order }) {
  const { id } = order;
  assert.equal(await code(worker, 'review_work_report', { id, decision: 'approve' }), 'FORBIDDEN');
  assert.equal(await code(manager, 'review_work_report', { id, decision: 'rework' }), 'BAD_REQUEST');
  const view = await wakesOn(worker, id, () =>
    value(manager, 'review_work_report', { id, decision: 'rework', reason: 'name the cause' }),
  );
  assert.equal(view.state, 'working');
  assert.equal(last(view.events).note, 'name the cause');
}

async function approvalWakes({ manager, worker, order }) {
  const { id } = order;
  await value(worker, 'submit_work_report', report(id, { cost: { usd: 0.5, tool_calls: 2 } }));
  const view = await wakesOn(worker, id, () => value(manager, 'review_work_report', { id, decision: 'approve' }));
  assert.equal(view.state, 'approved');
  assert.equal(await code(manager, 'cancel_work_order', { id }), 'INVALID_TRANSITION');
}

// Waits for the order to change; meanwhile somebody else changes it. The waiting call comes back with the change at once.
async function wakesOn(session, id, act) {
  const { last_seq } = await value(session, 'get_work_order', { id });
  const begun = Date.now();
  const waiting = value(session, 'wait_for_update', { id, since_seq: last_seq, timeout_s: 30 });
  await sleep(300);
  await act();
  const view = await waiting;
  const milliseconds = Date.now() - begun;
  assert.ok(view.last_seq > last_seq, 'the order has moved on');
  assert.ok(milliseconds >= 300 && milliseconds < 5000, `woken by the change, not by the clock (${milliseconds} ms)`);
  return view;
}

async function trackRecord({ manager, worker }) {
  const record = await value(worker, 'get_track_record', {});
  assert.deepEqual(await value(manager, 'get_track_record', { agent: WORKER }), record);
  const { orders, approved, approved_first_time, reworks, reports, blocked, spent, budget } = record;
  assert.deepEqual(
    { orders, approved, approved_first_time, reworks, reports, blocked, spent, budget },
    {
      orders: 1,
      approved: 1,
      approved_first_time: 0,
      reworks: 1,
      reports: 3,
      blocked: 1,
      spent: { usd: 0.5, tool_calls: 2 },
      budget: { usd: 1, tool_calls: 10 },
    },
  );
  assert.equal((await value(manager, 'get_track_record', { agent: 'agent:nobody' })).orders, 0);
}

async function nobodyActsForAnother({ manager, worker, order }) {
  const next = {
    to: WORKER,
    goal: 'A second job',
    criteria: [{ id: 'c', text: 'Done' }],
    budget: { usd: 1 },
    deadline: new Date(Date.now() + 3_600_000).toISOString(),
    tools: [],
  };
  const { id } = await value(manager, 'create_work_order', { ...next, actor: MANAGER });
  assert.equal(await code(worker, 'create_work_order', { ...next, actor: MANAGER }), 'FORBIDDEN');
  assert.equal(await code(manager, 'accept_work_order', { id, actor: WORKER }), 'FORBIDDEN');
  assert.equal((await value(worker, 'decline_work_order', { id, reason: 'busy' })).state, 'declined');
  order.second = next;
}

async function malformedCalls({ manager, worker, order }) {
  const { id } = order;
  const malformed = [
    ['get_work_order', {}],
    ['get_work_order', { id: 7 }],
    ['get_work_order', { id, verbose: true }],
    ['list_work_orders', { state: 'lost' }],
    ['report_progress', { id, note: 'x', percent: 'half' }],
    ['wait_for_update', { id, since_seq: -1 }],
    ['wait_for_update', { id, since_seq: 0, timeout_s: 3600 }],
    ['create_work_order', { ...order.second, criteria: [{ id: 'c', text: 'Done', weight: 2 }] }],
    ['create_work_order', { ...order.second, budget: { euros: 1 } }],
    ['no_such_tool', {}],
  ];
  for (const [tool, args] of malformed) {
    assert.ok(await isRefused(manager, tool, args), `${tool} ${JSON.stringify(args)} is refused`);
  }
  assert.equal((await value(worker, 'get_work_order', { id })).state, 'approved');
  assert.equal((await value(manager, 'list_work_orders', {})).length, 2, 'nothing was created');
}

async function hugeArgument({ manager, order }) {
  const goal = 'x'.repeat(6 * 1024 * 1024);
  assert.ok(await isRefused(manager, 'create_work_order', { ...order.second, goal }), 'six megabytes are refused');
  assert.equal((await value(manager, 'get_work_order', { id: order.id })).state, 'approved');
  assert.equal((await value(manager, 'list_work_orders', {})).length, 2, 'nothing was created');
}

/** The result of a call that goes well: the value in the text, which the structured content repeats. */
async function value(session, tool, args) {
  const result = await session.call(tool, args);
  const parsed = onlyText(tool, result);
  assert.notEqual(result.isError, true, `${tool}: ${JSON.stringify(parsed)}`);
  const expected = tool === 'list_work_orders' ? { orders: parsed } : parsed;
  assert.deepEqual(result.structuredContent, expected, `${tool}: structured content and text agree`);
  return parsed;
}

/** The error object of a call that the desk refuses. */
async function refusal(session, tool, args) {
  const result = await session.call(tool, args);
  const parsed = onlyText(tool, result);
  assert.equal(result.isError, true, `${tool} is refused, but gave ${JSON.stringify(parsed)}`);
  assert.equal(typeof parsed.message, 'string');
  if (result.structuredContent !== undefined) assert.deepEqual(result.structuredContent, parsed);
  return parsed;
}

async function code(session, tool, args) {
  return (await refusal(session, tool, args)).code;
}

// A malformed call may be refused by the protocol or by the tool; a client that gave up waiting was not refused.
async function isRefused(session, tool, args) {
  try {
    return (await session.call(tool, args)).isError === true;
  } catch (error) {
    assert.doesNotMatch(String(error.message), /tim(ed|e) ?out/i, `${tool} is answered`);
    return true;
  }
}

function onlyText(tool, result) {
  assert.deepEqual(result.content.map((item) => item.type), ['text'], `${tool} gives one text`);
  return JSON.parse(result.content[0].text);
}

function last(list) {
  return list[list.length - 1];
}
