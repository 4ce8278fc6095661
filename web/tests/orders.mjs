// Orders and reports to try the dashboard with.

import { OPERATOR, WORKER } from './desk.mjs';

const HOUR = 3_600_000;

/** An order as REST takes it. */
export function order(changes = {}) {
  return {
    to: WORKER,
    goal: 'Find the outage window and name it',
    criteria: [
      { id: 'window', text: 'The window is named, with its source' },
      { id: 'cause', text: 'The cause is named' },
    ],
    budget: { usd: 1, tool_calls: 10 },
    deadline: new Date(Date.now() + 5 * HOUR).toISOString(),
    tools: ['status/*'],
    ...changes,
  };
}

/** A report that says done. */
export function done(changes = {}) {
  return {
    status: 'done',
    result: { summary: 'The window is 14 minutes, from 09:02 to 09:16', output: { minutes: 14 } },
    evidence: [
      { criterion: 'window', type: 'tool_call', ref: 'status/window#1' },
      { criterion: 'cause', type: 'note', note: 'A certificate ran out' },
    ],
    cost: { usd: 0.25, tool_calls: 1 },
    tools_used: ['status/window'],
    ...changes,
  };
}

/** A report that asks. */
export function blocked(changes = {}) {
  return {
    status: 'blocked',
    result: { summary: 'I need a word' },
    evidence: [],
    cost: { usd: 0.1, tool_calls: 1 },
    tools_used: ['status/window'],
    questions: ['Which time zone does the page use?'],
    ...changes,
  };
}

/** Puts orders of every state into the desk, all from the operator; resolves to their ids by name. */
export async function seed(desk) {
  const decide = (path, body) => desk.rest(OPERATOR, path, body);
  const act = (id, action, body = {}) => desk.rest(WORKER, `orders/${id}/${action}`, body);
  const make = async (changes) => (await decide('orders', order(changes))).id;
  const begin = async (changes) => {
    const id = await make(changes);
    await act(id, 'accept');
    await act(id, 'start');
    return id;
  };
  const ids = {};
  ids.offered = await make({ goal: 'Draft the notice to customers' });
  ids.working = await begin({ goal: 'Compare the three hosting offers', deadline: new Date(Date.now() + 30 * HOUR).toISOString() });
  await act(ids.working, 'progress', { note: 'Read two of three', percent: 60 });
  ids.blocked = await begin({ goal: 'Name the time of the outage', deadline: new Date(Date.now() + HOUR / 2).toISOString() });
  await act(ids.blocked, 'reports', blocked());
  ids.submitted = await begin({ metadata: { ticket: 7 }, context: [{ uri: 'https://example.com/status' }] });
  await act(ids.submitted, 'reports', done());
  ids.checked = await begin({
    goal: 'Count the failed payments',
    output_schema: { type: 'object', required: ['minutes'], properties: { minutes: { type: 'integer' } } },
  });
  await act(ids.checked, 'reports', done());
  ids.approved = await begin({ goal: 'List the open invoices' });
  await act(ids.approved, 'reports', done());
  await decide(`orders/${ids.approved}/review`, { decision: 'approve' });
  ids.declined = await make({ goal: 'Translate the handbook into Latin' });
  await act(ids.declined, 'decline', { reason: 'No Latin here' });
  ids.cancelled = await make({ goal: 'Buy a second domain' });
  await decide(`orders/${ids.cancelled}/cancel`, { reason: 'We keep one' });
  return ids;
}
