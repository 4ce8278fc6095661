// What large amounts weigh: a long journal in the tab, and a full desk behind it. Figures are printed; what fails is only what
// no slow machine explains.

import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeTab, openTab, signedIn } from './browser.mjs';
import { OPERATOR, WORKER, newDesk } from './desk.mjs';
import { writeExport } from './journals.mjs';
import { done, order } from './orders.mjs';

const ENTRIES = 400_000;
const ORDERS = 10_000;
const AT_ONCE = 64;

// Generous: other work may keep the machine busy.
const MOST_GROWTH_BYTES = 32 << 20;
const MOST_PAUSE_MS = 500;
const MOST_PAINT_MS = 3000;

// On a desk the frame around the page asks who is signed in.
const SIGNED_OUT = /status of 401 .*\/api\/v1\/session/;

export default async function weight({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  await step('a long journal is verified beside the page, in flat memory', () => longJournal(browser, desk, folder));
  await step(`the inbox of a desk with ${ORDERS} orders is there at once`, () => fullDesk(browser, desk));
  await desk.stop();
}

async function longJournal(browser, desk, folder) {
  const short = await verifyOne(browser, desk, join(folder, 'short.jsonl'), ENTRIES / 8);
  const long = await verifyOne(browser, desk, join(folder, 'long.jsonl'), ENTRIES);
  const growth = long.peak - short.peak;
  console.log(`figure: ${ENTRIES} entries of 513 bytes in ${long.seconds.toFixed(2)} s, as seen from outside; the page says: ${long.said}`);
  console.log(`figure: the longest pause of the page: ${long.longest.toFixed(0)} ms, ${long.frames} frames drawn`);
  console.log(`figure: the tab's memory at its highest: ${mebi(short.peak)} MiB with ${mebi(short.bytes)} MiB, ${mebi(long.peak)} MiB with ${mebi(long.bytes)} MiB to read`);
  assert.ok(long.longest < MOST_PAUSE_MS, `the page stays responsive (${long.longest} ms)`);
  assert.ok(growth < MOST_GROWTH_BYTES, `memory stays flat (${growth} bytes more)`);
}

/** Verifies an export of `count` entries in a fresh tab, and watches the page and its memory meanwhile. */
async function verifyOne(browser, desk, file, count) {
  const head = await writeExport(file, count);
  const tab = await openTab(browser);
  await tab.goto(`${desk.origin}/verify`);
  await tab.getByRole('heading', { level: 1, name: 'Verify' }).waitFor();
  await tab.evaluate(watchPauses);
  const meter = new Meter();
  const running = meter.run();
  const start = performance.now();
  await tab.getByLabel('Files', { exact: true }).setInputFiles(file);
  const main = tab.locator('main');
  await main.getByRole('progressbar').waitFor();
  await main.getByText(head).first().waitFor({ timeout: 300_000 });
  const seconds = (performance.now() - start) / 1000;
  await meter.stop(running);
  const { longest, frames } = await tab.evaluate(() => globalThis.pauses);
  const said = /[^\n]*(?:a second)[^\n]*/.exec(await main.innerText())?.[0];
  assert.ok(said, 'the page says how fast it was');
  const { size: bytes } = await stat(file);
  await closeTab(tab, SIGNED_OUT);
  return { bytes, seconds, longest, frames, said, peak: Math.max(...meter.samples) };
}

const mebi = (bytes) => (bytes / 1048576).toFixed(0);

async function fullDesk(browser, desk) {
  let made = 0;
  const worker = async () => {
    while (made < ORDERS) {
      made += 1;
      const number = made;
      const { id } = await desk.rest(OPERATOR, 'orders', order({ goal: `Read page ${number} of the archive` }));
      if (number % 100 !== 0) continue;
      for (const action of ['accept', 'start']) await desk.rest(WORKER, `orders/${id}/${action}`, {});
      await desk.rest(WORKER, `orders/${id}/reports`, done());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const tab = await signedIn(browser, desk);
  for (const [path, content] of [['/', /Read page/], ['/orders', /Read page/]]) {
    const cold = await openTab(browser);
    await cold.context().addCookies(await tab.context().cookies());
    await cold.goto(desk.origin + path, { waitUntil: 'commit' });
    await cold.locator('main').getByText(content).first().waitFor();
    const shown = await cold.evaluate(() => performance.now());
    const painted = await cold.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    console.log(`figure: ${path} with ${ORDERS} orders: first paint after ${painted?.toFixed(0)} ms, content by ${shown.toFixed(0)} ms`);
    assert.ok(shown < MOST_PAINT_MS, `${path} is useful after ${shown} ms`);
    await closeTab(cold);
  }
  await closeTab(tab);
}

// Runs in the page: the longest time between two frames while it is visible.
function watchPauses() {
  globalThis.pauses = { longest: 0, frames: 0 };
  let last = performance.now();
  const tick = (now) => {
    globalThis.pauses.longest = Math.max(globalThis.pauses.longest, now - last);
    globalThis.pauses.frames += 1;
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

/** Reads, while something runs, how much memory the browser's processes that show pages hold. Linux only. */
class Meter {
  samples = [];
  running = true;

  async run() {
    while (this.running) {
      this.samples.push(await rendererBytes());
      await sleep(100);
    }
  }

  async stop(running) {
    this.running = false;
    await running;
  }
}

async function rendererBytes() {
  if (process.platform !== 'linux') return 0;
  let bytes = 0;
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    try {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      if (!line.includes('--type=renderer')) continue;
      const resident = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
      bytes += Number(resident?.[1] ?? 0) * 1024;
    } catch {
      // It ended meanwhile.
    }
  }
  return bytes;
}
