// The journal of a desk, verified in the tab: as it is, and after somebody reached into the database.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';

import { checkFaults, closeTab, signedIn } from './browser.mjs';
import { newDesk } from './desk.mjs';
import { seed } from './orders.mjs';
import { verdict } from './scenes.mjs';

const FLIPPED = 9;
// While the server is away the page says so in its console, too.
const LOST = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|request failed: .*\/api\/v1\//;

export default async function journal({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  await seed(desk);
  const tab = await signedIn(browser, desk);
  await tab.getByRole('link', { name: 'Journal', exact: true }).click();
  await tab.getByRole('heading', { level: 1, name: 'Journal' }).waitFor();

  await step('the newest entry stands first', async () => {
    const { sequence } = JSON.parse(await inPage(tab, 'journal/head'));
    await tab.getByRole('list', { name: 'Entries, newest first' }).getByRole('listitem').first().getByText(String(sequence)).first().waitFor();
  });
  await step('filters go into the address', async () => {
    const what = tab.getByLabel('What', { exact: true });
    await what.fill('work.review');
    await what.press('Enter');
    await tab.waitForFunction(() => location.search.includes('type=work.review'));
    await tab.getByRole('link', { name: 'Clear' }).click();
    await tab.waitForFunction(() => location.search === '');
  });
  await step('a sound journal holds together, and the desk names the same head', async () => {
    const { sequence, hash } = JSON.parse(await inPage(tab, 'journal/head'));
    await tab.getByRole('button', { name: 'Verify', exact: true }).click();
    await verdict(tab, new RegExp(`^All ${sequence} entries are as they were written`));
    await tab.locator('main').getByText(hash).first().waitFor();
    await verdict(tab, /names the same hash/);
    checkFaults(tab);
  });
  await step('an entry that was changed in the database is found by its number', async () => {
    await desk.stop();
    flip(desk.database, FLIPPED);
    await desk.start();
    await tab.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
    await tab.reload();
    await tab.getByRole('button', { name: 'Verify', exact: true }).click();
    await verdict(tab, new RegExp(`broken at entry ${FLIPPED}\\b`));
    await verdict(tab, /event_hash_mismatch/);
  });
  await closeTab(tab, LOST);
  await desk.stop();
}

/** Changes one letter of what an entry says, as somebody with a database tool would. */
function flip(database, sequence) {
  const opened = new DatabaseSync(database);
  const { preimage } = opened.prepare('SELECT preimage FROM entries WHERE sequence = ?').get(sequence);
  const bytes = Buffer.from(preimage);
  const at = bytes.indexOf('agent:') + 'agent:'.length;
  assert.ok(at > 'agent:'.length, 'the entry names an agent');
  bytes[at] ^= 1;
  assert.equal(opened.prepare('UPDATE entries SET preimage = ? WHERE sequence = ?').run(bytes, sequence).changes, 1);
  opened.close();
}

const inPage = (tab, path) => tab.evaluate((address) => fetch(`/api/v1/${address}`).then((answer) => answer.text()), path);
