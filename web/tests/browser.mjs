// A person's browser: Chromium without a window, and tabs that write down whatever goes wrong in them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const PATIENCE_MS = 10_000;

/** Starts the browser that BAILIWICK_CHROMIUM names. */
export async function launch() {
  const executablePath = process.env.BAILIWICK_CHROMIUM;
  assert.ok(executablePath, 'BAILIWICK_CHROMIUM names the browser');
  return await chromium.launch({ executablePath, args: ARGUMENTS });
}

/**
 * A fresh profile with one tab. `look` is what Playwright takes for a context: viewport, colorScheme, reducedMotion, …
 * The tab's `faults` are filled by what the console, the network and the content security policy complain about.
 */
export async function openTab(browser, look = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...look });
  context.setDefaultTimeout(PATIENCE_MS);
  const tab = await context.newPage();
  tab.faults = [];
  const note = (fault) => tab.faults.push(`${new URL(tab.url()).pathname}: ${fault}`);
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(`console ${message.type()}: ${message.text()} (${message.location().url})`);
  });
  tab.on('pageerror', (error) => note(`uncaught: ${error.message}`));
  tab.on('requestfailed', (request) => {
    // A page that is left ends what it was loading.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') note(`request failed: ${request.url()}`);
  });
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`content security policy: ${event.violatedDirective} forbids ${event.blockedURI}`);
    });
  });
  return tab;
}

/** A tab in which the operator is signed in. */
export async function signedIn(browser, desk, look) {
  const tab = await openTab(browser, look);
  await tab.goto(await desk.signInLink());
  await tab.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  return tab;
}

/** Fails if anything went wrong in the tab since the last call, apart from what matches one of `expected`. */
export function checkFaults(tab, ...expected) {
  const faults = tab.faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
  tab.faults.length = 0;
  assert.deepEqual(faults, [], 'nothing goes wrong in the page');
}

/** Ends the tab and its profile; whatever went wrong in it fails. */
export async function closeTab(tab, ...expected) {
  await tab.context().close();
  checkFaults(tab, ...expected);
}

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails unless axe-core finds the tab's page accessible. */
export async function checkAccessible(tab) {
  await tab.evaluate(axeSource);
  const { violations } = await tab.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const said = violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}\n    ${node.html}\n    ${node.failureSummary?.replaceAll('\n', '\n    ')}`),
  );
  assert.equal(said.length, 0, `axe-core finds:\n  ${said.join('\n  ')}`);
}

/** Fails if the page is wider than the window. */
export async function checkFitsWidth(tab) {
  const wide = await tab.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const beyond = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1);
    return [`${root.scrollWidth} > ${root.clientWidth} px`, ...beyond.slice(0, 5).map((element) => element.outerHTML.slice(0, 160))];
  });
  assert.deepEqual(wide, [], 'the page fits the window without scrolling sideways');
}
