// The whole flow: a person in the page gives an order, an agent over MCP does it, and neither reloads anything.

import assert from 'node:assert/strict';

import { connectAgent } from './agent.mjs';
import { checkFaults, closeTab, signedIn } from './browser.mjs';
import { OPERATOR, WORKER, newDesk } from './desk.mjs';
import { blocked, done } from './orders.mjs';

const GOAL = 'Say when the payment page was down, and why';
const SECONDS = 20;

export default async function flow({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  const agent = await connectAgent(desk, WORKER);
  const tab = await signedIn(browser, desk);
  await tab.evaluate(() => (globalThis.neverReloaded = true));
  const told = { tab, agent, desk };
  for (const [title, run] of STEPS) {
    // Each step builds on the one before.
    if (!(await step(title, () => run(told)))) break;
    checkFaults(tab);
  }
  await agent.close();
  await closeTab(tab);
  await desk.stop();
}

const STEPS = [
  ['an empty inbox teaches', emptyInbox],
  ['the form says what is missing while one writes', formTeaches],
  ['the order goes out', orderGoesOut],
  ['the agent takes it and starts, and the page shows it', agentStarts],
  ['a question reaches the inbox live', questionArrives],
  ['the answer is shown before it is sent, and reaches the agent', answered],
  ['a report reaches the inbox live', reportArrives],
  ['criteria, cost and tools stand beside what was asked', reportIsShown],
  ['sent back, the agent reads the reason', sentBack],
  ['the better report is approved', approved],
  ['an order is cancelled, after asking once more', cancelled],
  ['the track record adds up', trackRecord],
  ['nothing was reloaded on the way', ({ tab }) => tab.evaluate(() => globalThis.neverReloaded).then((kept) => assert.equal(kept, true))],
];

async function emptyInbox({ tab }) {
  await tab.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
  assert.equal(await tab.title(), 'Inbox · Bailiwick');
  await tab.getByText('Live', { exact: true }).waitFor();
}

async function formTeaches({ tab }) {
  await tab.getByRole('link', { name: 'New order' }).click();
  await heading(tab, 'New order');
  await tab.getByRole('button', { name: 'Issue the order' }).click();
  await tab.getByRole('group', { name: 'What is missing or wrong' }).getByText('Worker is needed').waitFor();
  assert.equal(await tab.getByLabel('Worker', { exact: true }).getAttribute('aria-invalid'), 'true');
  await tab.getByLabel('Worker', { exact: true }).fill('worker');
  await tab.getByText(/agent:|human:/).first().waitFor();
}

async function orderGoesOut(told) {
  const { tab, agent } = told;
  await fillIn(tab, GOAL);
  await tab.getByText('This order keeps every rule.').waitFor();
  // A text that cannot be read is not sent, nor what was there before it.
  await tab.getByRole('tab', { name: 'JSON' }).click();
  const json = tab.getByLabel('The order you send');
  const right = await json.inputValue();
  await json.fill(`${right} oops`);
  await tab.getByText("The text can't be read").waitFor();
  await tab.getByRole('button', { name: 'Issue the order' }).click();
  assert.equal(await json.evaluate((field) => document.activeElement === field), true, 'the text has the focus');
  assert.deepEqual((await agent.call('list_work_orders', { to: WORKER })).orders, []);
  await json.fill(right);
  await tab.getByRole('tab', { name: 'Form' }).click();
  await tab.getByText('This order keeps every rule.').waitFor();
  await tab.getByRole('button', { name: 'Issue the order' }).click();
  await heading(tab, GOAL);
  const { orders } = await agent.call('list_work_orders', { to: WORKER });
  assert.deepEqual(orders.map((order) => order.goal), [GOAL]);
  told.id = orders[0].id;
  assert.equal(new URL(tab.url()).pathname, `/orders/${told.id}`);
  const { order } = await agent.call('get_work_order', { id: told.id });
  assert.equal(order.from, OPERATOR);
  assert.deepEqual(order.criteria.map((criterion) => criterion.id), ['window', 'cause']);
  assert.deepEqual(order.budget, { usd: 1, tool_calls: 10 });
  assert.deepEqual(order.tools, ['status/*']);
}

async function agentStarts({ tab, agent, id }) {
  await agent.call('accept_work_order', { id });
  await agent.call('start_work_order', { id });
  await state(tab, 'Working');
  await agent.call('report_progress', { id, note: 'Read the status page', percent: 40 });
  await tab.getByText('Read the status page').first().waitFor();
}

async function questionArrives({ tab, agent, id }) {
  await tab.getByRole('link', { name: /^Inbox/ }).first().click();
  await heading(tab, 'Inbox');
  await agent.call('submit_work_report', { id, ...blocked() });
  const item = waiting(tab).getByRole('listitem').filter({ hasText: GOAL });
  await item.getByText('Answer the question').waitFor();
  await tab.waitForFunction(() => document.title === '(1) Inbox · Bailiwick');
}

async function answered({ tab, agent, id }) {
  await waiting(tab).getByRole('link', { name: GOAL }).click();
  await heading(tab, GOAL);
  await tab.getByText('Which time zone does the page use?').first().waitFor();
  const { last_seq } = await agent.call('get_work_order', { id });
  const news = agent.call('wait_for_update', { id, since_seq: last_seq, timeout_s: SECONDS });
  await tab.getByLabel('Your answer').fill('UTC, always');
  const promised = await preview(tab);
  assert.equal(promised.note ?? promised.events?.at(-1)?.note, 'UTC, always');
  await tab.getByRole('button', { name: 'Send the answer' }).click();
  const { events, state: reached } = await news;
  assert.equal(reached, 'working');
  sameEvent(events.at(-1), promised);
  await said(tab, 'Answered.');
  await state(tab, 'Working');
}

async function reportArrives({ tab, agent, id }) {
  await tab.getByRole('link', { name: /^Inbox/ }).first().click();
  await tab.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
  await agent.call('submit_work_report', { id, ...done() });
  const item = waiting(tab).getByRole('listitem').filter({ hasText: GOAL });
  await item.getByText('Review the report').waitFor();
  await tab.waitForFunction(() => document.title === '(1) Inbox · Bailiwick');
}

async function reportIsShown({ tab }) {
  await waiting(tab).getByRole('link', { name: GOAL }).click();
  await heading(tab, GOAL);
  const main = tab.locator('main');
  for (const text of ['The window is named, with its source', 'status/window#1', 'A certificate ran out', 'status/window', 'The window is 14 minutes']) {
    await main.getByText(text).filter({ visible: true }).first().waitFor();
  }
  await main.getByText(/checked in this browser/i).first().waitFor();
}

async function sentBack({ tab, agent, id }) {
  const { last_seq } = await agent.call('get_work_order', { id });
  const news = agent.call('wait_for_update', { id, since_seq: last_seq, timeout_s: SECONDS });
  await tab.getByRole('radio', { name: 'Send back to work' }).check();
  await tab.getByRole('button', { name: 'Send back', exact: true }).click();
  await tab.getByRole('alert').getByText('Say what is missing').waitFor();
  await tab.getByLabel('What is missing').fill('Name the certificate');
  const promised = await preview(tab);
  await tab.getByRole('button', { name: 'Send back', exact: true }).click();
  const { events, state: reached } = await news;
  assert.equal(reached, 'working');
  assert.equal(events.at(-1).note, 'Name the certificate');
  sameEvent(events.at(-1), promised);
  await said(tab, 'Sent back.');
}

async function approved({ tab, agent, id }) {
  await agent.call('submit_work_report', { id, ...done({ result: { summary: 'The certificate of pay.example ran out' }, cost: { usd: 0.5, tool_calls: 2 } }) });
  await tab.getByText('The certificate of pay.example ran out').first().waitFor();
  await tab.getByRole('radio', { name: 'Approve' }).check();
  await tab.getByRole('button', { name: 'Approve', exact: true }).click();
  await said(tab, 'Approved.');
  await state(tab, 'Approved');
  const view = await agent.call('get_work_order', { id });
  assert.equal(view.state, 'approved');
  assert.equal(view.events.at(-1).actor, OPERATOR);
}

async function cancelled({ tab, agent }) {
  await tab.getByRole('link', { name: 'New order' }).click();
  await heading(tab, 'New order');
  await fillIn(tab, 'Something that nobody needs');
  await tab.getByRole('button', { name: 'Issue the order' }).click();
  await heading(tab, 'Something that nobody needs');
  const id = decodeURIComponent(new URL(tab.url()).pathname.split('/').at(-1));
  await tab.getByRole('button', { name: 'Cancel the order…' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Cancel this order?' });
  await tab.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.equal((await agent.call('get_work_order', { id })).state, 'offered', 'Escape keeps it');
  await tab.getByRole('button', { name: 'Cancel the order…' }).click();
  await dialog.getByLabel(/^Reason/).fill('Nobody needs it');
  await dialog.getByRole('button', { name: 'Cancel the order', exact: true }).click();
  await state(tab, 'Cancelled');
  const view = await agent.call('get_work_order', { id });
  assert.equal(view.state, 'cancelled');
  assert.equal(view.events.at(-1).note, 'Nobody needs it');
}

async function trackRecord({ tab }) {
  await tab.getByRole('link', { name: 'Agents', exact: true }).click();
  await heading(tab, 'Agents');
  const record = tab.getByRole('list', { name: 'Track records' }).getByRole('listitem').filter({ hasText: WORKER }).first();
  await record.waitFor();
  assert.match(await record.innerText(), /Approved/i);
}

/** Fills in the form for a new order. */
async function fillIn(tab, goal) {
  const field = (name) => tab.getByLabel(name, { exact: true });
  await field('Worker').fill(WORKER);
  await field('Goal').fill(goal);
  await field('US dollars').fill('1');
  await field('Tool calls').fill('10');
  await field('Tools it may use').fill('status/*');
  await tab.getByRole('group', { name: 'Deadline from now' }).getByRole('button').first().click();
  const criteria = tab.getByRole('group', { name: 'Criteria', exact: true });
  await criteria.getByLabel('Short id').first().fill('window');
  await criteria.getByLabel('What must be shown').first().fill('The window is named, with its source');
  await tab.getByRole('button', { name: 'Add a criterion' }).click();
  await criteria.getByLabel('Short id').nth(1).fill('cause');
  await criteria.getByLabel('What must be shown').nth(1).fill('The cause is named');
}

const waiting = (tab) => tab.getByRole('list', { name: 'Waiting for you' });
const heading = (tab, name) => tab.getByRole('heading', { level: 1, name }).waitFor();
const state = (tab, word) => tab.locator('main').getByText(word, { exact: true }).first().waitFor();
const said = (tab, text) => tab.getByRole('status').getByText(text).waitFor();

/** The event as the page says the agent will see it. */
async function preview(tab) {
  const text = await tab.getByRole('group', { name: 'preview', exact: true }).filter({ visible: true }).locator('code').innerText();
  const value = JSON.parse(text);
  return value.events?.at(-1) ?? value;
}

/** What the agent got is what the page promised, but for the moment it happened. */
function sameEvent(got, promised) {
  const { at: _, ...rest } = got;
  const { at: __, ...expected } = promised;
  assert.deepEqual(rest, expected);
}
