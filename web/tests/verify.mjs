// Verification with no server behind it: files dropped, picked and pasted, on the desk and on any web server at all.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { closeTab, openTab } from './browser.mjs';
import { newDesk } from './desk.mjs';
import { verdict, writeFiles } from './scenes.mjs';
import { serveFolder } from './static.mjs';

export default async function verify({ browser, folder, step }) {
  await writeFiles(folder);
  const desk = await newDesk(folder);
  await desk.start();
  await verifies(browser, folder, step, 'on the desk', `${desk.origin}/verify`);
  await desk.stop();
  const prefix = '/some/where/';
  const host = await serveFolder(process.env.BAILIWICK_DASHBOARD, prefix);
  await verifies(browser, folder, step, 'from any web server', `${host.origin}${prefix}verify/`);
  await step('from any web server: nothing but its own files is asked for', () => {
    const others = host.asked.filter((path) => !path.startsWith(prefix) || path.includes('/api/'));
    assert.deepEqual([...new Set(others)].filter((path) => path !== '/favicon.ico'), []);
  });
  await host.close();
}

async function verifies(browser, folder, step, where, address) {
  const asked = [];
  const with_tab = (run) => async () => {
    const tab = await openTab(browser);
    tab.on('request', (request) => asked.push(request));
    await tab.goto(address);
    await tab.getByRole('heading', { level: 1, name: 'Verify' }).waitFor();
    await run(tab);
    // On a desk the frame around the page asks who is signed in.
    await closeTab(tab, /status of 401 .*\/api\/v1\/session/);
  };
  const file = (name) => join(folder, name);
  await step(`${where}: a good order is valid`, with_tab(async (tab) => {
    await pick(tab, file('order.json'));
    await verdict(tab, /Valid\./);
  }));
  await step(`${where}: mistakes are named, with their place in the text`, with_tab((tab) => mistakes(tab, file('mistakes.json'))));
  await step(`${where}: what is not JSON is named by line`, with_tab(async (tab) => {
    await pick(tab, file('broken.json'));
    await verdict(tab, /cannot be read/);
    const lines = (await readFile(file('broken.json'), 'utf8')).split('\n');
    const line = lines.findIndex((text) => text.includes('oops')) + 1;
    await tab.locator('main').getByText(new RegExp(`line ${line}\\b`, 'i')).first().waitFor();
  }));
  await step(`${where}: a journal is verified`, with_tab(async (tab) => {
    await pick(tab, file('journal.jsonl'));
    await verdict(tab, /^All 200 entries are as they were written/);
    const { head_hash } = JSON.parse((await readFile(file('journal.jsonl'), 'utf8')).split('\n')[0]);
    await tab.locator('main').getByText(head_hash).first().waitFor();
  }));
  await step(`${where}: one flipped bit is found in the dropped file`, with_tab(async (tab) => {
    await drop(tab, 'flipped.jsonl', await readFile(file('flipped.jsonl'), 'utf8'));
    await verdict(tab, /broken at entry 120/);
    await verdict(tab, /event_hash_mismatch/);
  }));
  await step(`${where}: and in the pasted text`, with_tab(async (tab) => {
    await tab.getByLabel('Or paste').fill(await readFile(file('flipped.jsonl'), 'utf8'));
    await tab.getByRole('button', { name: 'Check', exact: true }).click();
    await verdict(tab, /broken at entry 120/);
  }));
  await step(`${where}: no request leaves the page's own files`, () => {
    const calls = asked.filter((request) => request.method() !== 'GET' || new URL(request.url()).pathname.includes('/api/'));
    assert.deepEqual(calls.map((request) => request.url()).filter((url) => !url.endsWith('/api/v1/session')), []);
  });
}

async function mistakes(tab, file) {
  await pick(tab, file);
  await verdict(tab, /Rejected:/);
  const findings = tab.getByRole('list', { name: 'Findings' }).first();
  await findings.getByText('O2').first().waitFor();
  await findings.getByText('O3').first().waitFor();
  // From the finding to its mark in the text.
  await findings.getByRole('button', { name: /^Line/ }).first().click();
  const marked = await tab.evaluate(() => document.activeElement?.closest('[class~=mark], mark') !== null);
  assert.ok(marked, 'the focus goes to the mark');
}

const pick = (tab, file) => tab.getByLabel('Files', { exact: true }).setInputFiles(file);

async function drop(tab, name, text) {
  const transfer = await tab.evaluateHandle(
    ([called, content]) => {
      const made = new DataTransfer();
      made.items.add(new File([content], called));
      return made;
    },
    [name, text],
  );
  const place = tab.locator('.intake');
  await place.dispatchEvent('dragover', { dataTransfer: transfer });
  await place.dispatchEvent('drop', { dataTransfer: transfer });
}
