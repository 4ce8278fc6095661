// The server stops and starts while the page is open.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { closeTab, signedIn } from './browser.mjs';
import { OPERATOR, WORKER, newDesk } from './desk.mjs';
import { blocked, done, order } from './orders.mjs';

const LOST = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|request failed: .*\/api\/v1\//;

export default async function connection({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  const ids = [];
  for (const goal of ['Count the open tickets', 'Find the cheapest offer', 'Say why the build broke']) {
    const { id } = await desk.rest(OPERATOR, 'orders', order({ goal }));
    for (const action of ['accept', 'start']) await desk.rest(WORKER, `orders/${id}/${action}`, {});
    ids.push(id);
  }
  await desk.rest(WORKER, `orders/${ids[0]}/reports`, done());
  const tab = await signedIn(browser, desk);
  const waiting = tab.getByRole('list', { name: 'Waiting for you' });
  await waiting.getByRole('link', { name: 'Count the open tickets' }).waitFor();
  await tab.getByText('Live', { exact: true }).waitFor();
  await tab.evaluate(() => (globalThis.neverReloaded = true));

  await step('a lost connection is shown, and what was there stays', async () => {
    await desk.stop();
    await tab.getByText('Connection lost').waitFor();
    await waiting.getByRole('link', { name: 'Count the open tickets' }).waitFor();
  });
  await step('the page recovers by itself, and has missed nothing', async () => {
    // An agent on the same machine goes on while the server is away.
    await report(desk, folder, ids[1], blocked({ questions: ['Is the cheapest one allowed?'] }));
    await desk.start();
    await tab.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await waiting.getByRole('link', { name: 'Find the cheapest offer' }).waitFor();
    await tab.waitForFunction(() => document.title.startsWith('(2) '));
  });
  await step('what happens afterwards arrives live', async () => {
    await desk.rest(WORKER, `orders/${ids[2]}/reports`, done());
    await waiting.getByRole('link', { name: 'Say why the build broke' }).waitFor();
    await tab.waitForFunction(() => document.title.startsWith('(3) '));
  });
  await step('still signed in, and never reloaded', async () => {
    assert.equal(await tab.evaluate(() => globalThis.neverReloaded), true);
    const session = await tab.evaluate(() => fetch('/api/v1/session').then((answer) => answer.json()));
    assert.equal(session.id, OPERATOR);
    assert.equal(session.established, 'sign_in');
  });
  await step('a page that was read during the outage is read again', async () => {
    await tab.getByRole('link', { name: 'Orders', exact: true }).click();
    await tab.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    await desk.stop();
    await tab.getByText('Connection lost').waitFor();
    await tab.getByRole('link', { name: /^Inbox/ }).first().click();
    await tab.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await tab.getByRole('alert').waitFor();
    await desk.start();
    await waiting.getByRole('link', { name: 'Count the open tickets' }).waitFor({ timeout: 20_000 });
    assert.equal(await tab.getByRole('alert').count(), 0);
    assert.equal(await tab.evaluate(() => globalThis.neverReloaded), true);
  });
  await closeTab(tab, LOST);
  await desk.stop();
}

/** Reports on the same database, without the server. */
async function report(desk, folder, id, document) {
  const file = join(folder, 'report.json');
  await writeFile(file, JSON.stringify(document));
  await desk.run('order', 'report', id, file, '--as', WORKER, '--store', desk.store);
}
