// Every page of the dashboard, in each state that looks different.
//
// A scene is `{ name, heading, open(tab) }`: `open` leads a tab to it and leaves it when everything is there.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { flipByte, writeExport } from './journals.mjs';
import { order } from './orders.mjs';

/** The scenes of a desk with the orders that `seed` made. */
export function scenes(desk, ids, folder) {
  const at = (name, path, heading, settle = settled) => ({
    name,
    async open(tab) {
      await tab.goto(desk.origin + path);
      await tab.getByRole('heading', { level: 1, name: heading }).waitFor();
      await settle(tab);
    },
  });
  const orders = ['offered', 'working', 'blocked', 'submitted', 'checked', 'approved', 'declined', 'cancelled'];
  return [
    at('inbox', '/', 'Inbox', (tab) => tab.getByRole('list', { name: 'Waiting for you' }).getByRole('link').first().waitFor()),
    at('inbox-no-match', '/?q=nothing-is-called-so', 'Inbox', (tab) => tab.getByText('Nothing here matches').waitFor()),
    at('orders', '/orders', 'Orders', (tab) => tab.getByText('Draft the notice to customers').first().waitFor()),
    ...orders.map((state) => at(`order-${state}`, `/orders/${ids[state]}`, /./)),
    at('order-missing', '/orders/wo_0000000000000000', /./),
    at('new-order', '/new', 'New order'),
    at('new-order-mistakes', '/new', 'New order', async (tab) => {
      await tab.getByRole('button', { name: 'Issue the order' }).click();
      await settled(tab);
    }),
    at('agents', '/agents', 'Agents', (tab) => tab.getByText('agent:worker').first().waitFor()),
    at('journal', '/journal', 'Journal'),
    at('journal-verified', '/journal', 'Journal', async (tab) => {
      await tab.getByRole('button', { name: 'Verify', exact: true }).click();
      await verdict(tab, /^All [\d,]+ entries are as they were written/);
    }),
    ...verifyScenes(at, folder),
  ];
}

/** The scenes that need nothing in the desk. */
export function emptyScenes(desk) {
  const at = (name, path, heading) => ({
    name,
    async open(tab) {
      await tab.goto(desk.origin + path);
      await tab.getByRole('heading', { level: 1, name: heading }).waitFor();
      await settled(tab);
    },
  });
  return [at('inbox-empty', '/', 'Inbox'), at('orders-empty', '/orders', 'Orders'), at('agents-empty', '/agents', 'Agents'), at('journal-empty', '/journal', 'Journal')];
}

function verifyScenes(at, folder) {
  const withFile = (name, file, pattern) =>
    at(name, '/verify', 'Verify', async (tab) => {
      await tab.locator('input[type=file]').setInputFiles(file);
      await verdict(tab, pattern);
    });
  return [
    at('verify', '/verify', 'Verify'),
    withFile('verify-order', join(folder, 'order.json'), /Valid\./),
    withFile('verify-mistakes', join(folder, 'mistakes.json'), /Rejected:/),
    withFile('verify-not-json', join(folder, 'broken.json'), /cannot be read/),
    withFile('verify-journal', join(folder, 'journal.jsonl'), /^All 200 entries/),
    withFile('verify-journal-broken', join(folder, 'flipped.jsonl'), /broken at entry 120/),
  ];
}

/** Writes the files that the scenes of the page that verifies pick up. */
export async function writeFiles(folder) {
  const whole = { spec: 'awl/work-order@0.1', id: 'wo_1', created_at: '2026-01-01T00:00:00Z', from: 'human:ada', ...order({ deadline: '2100-01-01T00:00:00Z' }) };
  const twice = { ...whole, criteria: [whole.criteria[0], whole.criteria[0]], deadline: '2025-01-01T00:00:00Z' };
  await writeFile(join(folder, 'order.json'), JSON.stringify(whole, null, 2));
  await writeFile(join(folder, 'mistakes.json'), JSON.stringify(twice, null, 2));
  await writeFile(join(folder, 'broken.json'), `${JSON.stringify(whole, null, 2).slice(0, -4)},\n  oops\n}`);
  await writeExport(join(folder, 'journal.jsonl'), 200);
  await flipByte(join(folder, 'journal.jsonl'), join(folder, 'flipped.jsonl'), 120);
}

/** Waits until nothing is being loaded. */
export async function settled(tab) {
  await tab.waitForLoadState('networkidle').catch(() => {});
  await tab.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Waits until the page says what it found. */
export async function verdict(tab, pattern) {
  await tab.locator('main').getByText(pattern).filter({ visible: true }).first().waitFor({ timeout: 30_000 });
}
