// Uses every export, as strictly as TypeScript can be.

import init, * as api from 'bailiwick/full';
import {
  BailiwickError, JournalVerifier, ORDER_SPEC, ORDER_SPECS, REPORT_SPEC, REPORT_SPECS, ROLE_FOR, STATES, TERMINAL_STATES, UNITS,
  allowedActions, canonicalize, effectReferences, hasInvalid, heldBySubOrders, isTerminal, isWorkOrder, isWorkReport,
  journalHash, journalPreimage, lastSeq, leafHash, merkleRoot, nextState, orderSpecFor, patternCovered, proveConsistency,
  proveInclusion, reportSpecFor, runPassVector, summarize, toolAllowed, validateChildBudgets, validateChildOrder, validateOrder,
  validateOwnCost, validateReport, verifyConsistency, verifyInclusion, verifyJournal, verifyPage, verifyPasses, workOrderSchema,
  workReportSchema,
} from 'bailiwick';
import type {
  Action, Amounts, ErrorCode, Finding, Hash, JournalReport, JournalRow, OrderRecord, PassVerdict, Role, Rule, State, SubOrder, Summary,
  TerminalState, Unit, Validation, WorkOrder, WorkReport,
} from 'bailiwick';

const assert = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

await init();
await api.init();

const order: WorkOrder = {
  spec: ORDER_SPEC,
  id: 'wo_7',
  created_at: '2026-03-02T08:00:00Z',
  from: 'human:ada',
  to: 'agent:clerk',
  goal: 'File the outage ticket',
  criteria: [{ id: 'ticket', text: 'A ticket exists' }],
  budget: { usd: 0.3, tool_calls: 6 },
  deadline: '2026-03-02T10:00:00+01:00',
  tools: ['tracker/*'],
  staged: ['tracker/create'],
  'x-team': { floor: 3 },
};
const report: WorkReport = {
  spec: REPORT_SPEC,
  order_id: 'wo_7',
  from: 'agent:clerk',
  status: 'done',
  result: { summary: 'Ready', output: { parts: [1, 'two', null] } },
  evidence: [{ criterion: 'ticket', type: 'tool_call', ref: 'tracker/find#1' }],
  cost: { usd: 0.1, tool_calls: 1 },
  finished_at: '2026-03-02T08:30:00Z',
  tools_used: ['tracker/find'],
  effects: [{ ref: 'tracker/create#2', tool: 'tracker/create', arguments: { title: 'Outage' } }],
};

const checked: Validation = validateOrder(order, { duplicates: 'refuse' });
const findings: Finding[] = validateReport(report, order).findings;
const skipped: Rule[] = checked.skipped;
assert(!hasInvalid(checked) && !hasInvalid(findings) && skipped.length === 0, 'the documents are in order');

const child: WorkOrder = { ...order, id: 'wo_8', parent_id: 'wo_7', tools: ['tracker/find'], budget: { usd: 0.2, tool_calls: 3 } };
delete child.staged;
const sub: SubOrder = { order: child, state: 'offered' };
assert(!hasInvalid(validateChildOrder(child, order)), 'the child is narrower');
assert(validateChildBudgets(child, order, [sub]).findings[0]?.rule === 'C4', 'twice the child is too much');
assert(validateOwnCost({ ...report, cost: { usd: 0.3, tool_calls: 1 } }, order, [sub]).findings[0]?.kind === 'limit', 'R13 is a limit');
const held: Amounts = heldBySubOrders([sub]);
assert(held.usd === 0.2 && held.seconds === undefined, 'the child holds its budget');

const unknown: unknown = JSON.parse(JSON.stringify(order));
if (isWorkOrder(unknown)) assert(unknown.criteria[0]?.id === 'ticket', 'narrowed');
assert(isWorkReport(JSON.stringify(report)), 'a text may be a report');
assert(orderSpecFor(order) === ORDER_SPECS[3] && reportSpecFor(report) === REPORT_SPECS[2], 'the versions fit');

const states: readonly State[] = STATES;
const terminal: readonly TerminalState[] = TERMINAL_STATES;
const units: readonly Unit[] = UNITS;
const next: State | undefined = nextState('offered', 'accept');
const actions: Action[] = allowedActions('submitted');
const role: Role = ROLE_FOR[actions[0] ?? 'approve'];
assert(next === 'accepted' && role === 'manager' && states.filter((state) => isTerminal(state)).length === terminal.length, 'lifecycle');
assert(units.length === 4 && toolAllowed('tracker/find', order.tools) && !patternCovered('*', order.tools), 'tools');
assert(effectReferences({ a: { $ref: 'x/y#1', pointer: '/b' } })[0]?.path === '/a', 'references');

const record: OrderRecord = {
  order,
  state: 'offered',
  events: [{ seq: 1, at: '2026-03-02T08:00:00.000Z', actor: 'human:ada', action: 'create', from: null, to: 'offered' }],
};
const summary: Summary = summarize(record);
assert(summary.last_seq === lastSeq(record), 'summaries');

assert(canonicalize({ b: 1, a: 2n }) === '{"a":2,"b":1}', 'RFC 8785');
assert(workOrderSchema['title'] !== workReportSchema['title'], 'schemas');

const leaves: Hash[] = [leafHash(Uint8Array.of()), leafHash(Uint8Array.of(0))];
const root = merkleRoot(leaves);
verifyInclusion({ index: 0, size: 2n, leaf: leaves[0] ?? '', path: proveInclusion(leaves, 0), root });
verifyConsistency({ old_size: 1, new_size: 2, old_root: leaves[0] ?? '', new_root: root, path: proveConsistency(leaves, 1) });

const row: JournalRow = {
  protocol: 'agenttool.collab/0.2', workspace_id: 'w', epoch_id: 'e', sequence: 1, id: 'i', type: 't', entity_id: 'x', actor: 'a',
  session_id: null, occurred_at: '2026-01-01T00:00:00.000Z', payload_json: '{}', prev_hash: '0'.repeat(64), hash: '',
};
row.hash = journalHash(row);
assert(journalPreimage(row).startsWith('{"actor":"a"'), 'preimages');
assert(verifyPage({ epoch_id: 'e', rows: [row], head_sequence: 1, head_hash: row.hash }).chain_valid, 'pages');

const journal = JSON.stringify({ format: 'coordination-journal/1', workspace: { id: 'w', epoch_id: 'e', event_head_sequence: 1, event_head_hash: row.hash }, events: [row] });
const whole: JournalReport = await verifyJournal([journal.slice(0, 9), journal.slice(9)], { onProgress: ({ bytes }) => assert(bytes > 0, 'progress') });
assert(whole.ok && whole.head_hash === row.hash, 'journals');
const verifier = new JournalVerifier({ up_to: 2 });
assert(verifier.push(journal).finish().failure === 'missing_events' && verifier.bytes === journal.length && verifier.entries === 1, 'prefixes');

try {
  validateOrder('{');
  assert(false, 'half a text is no order');
} catch (error) {
  if (!(error instanceof BailiwickError)) throw error;
  const code: ErrorCode = error.code;
  assert(code === 'unexpected_end' && error.offset === 1, 'errors say where');
}
assert(api.validateOrder({ ...order, output_schema: { type: 'x' } }).findings[0]?.rule === 'O4', 'the full build knows schemas');

const vector = { kind: 'pass', keys: { keys: [] }, check: { now: '2026-01-01T09:00:00Z' }, passes: ['x'], expect: {} };
const verdict: PassVerdict = api.verifyPasses(['x'], { keys: [] }, { now: '2026-01-01T09:00:00Z', order: 'wo_1' });
assert(!verdict.ok && verdict.link === 0 && api.runPassVector(vector)['code'] === verdict.code, 'the full build knows passes');
for (const absent of [() => verifyPasses([], {}), () => runPassVector({})]) {
  try {
    absent();
    assert(false, 'the small build has no passes');
  } catch (error) {
    assert(error instanceof BailiwickError && error.code === 'not_in_this_build', 'and says so');
  }
}
