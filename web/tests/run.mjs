// The browser tests: a person at the dashboard and agents over MCP, at the program that BAILIWICK_BIN names.
//
//   node run.mjs [AREA]…      all areas, or those named
//
// BAILIWICK_CHROMIUM names the browser, BAILIWICK_DASHBOARD the folder with the built dashboard, and BAILIWICK_SCREENSHOTS
// the folder that screenshots go to.

import assert from 'node:assert/strict';

import { finish, giveUpAfter, inFolder, step } from '../../crates/server/tests/clients/harness.mjs';
import { launch } from './browser.mjs';

const AREAS = ['access', 'flow', 'connection', 'verify', 'journal', 'keyboard', 'looks', 'weight'];

// Longer than all areas take on a slow machine; shorter than a person waits.
const RUN_SECONDS = 1800;

const wanted = process.argv.slice(2);
for (const area of wanted) assert.ok(AREAS.includes(area), `there is no area ${area}; choose from ${AREAS.join(', ')}`);

giveUpAfter(RUN_SECONDS);
const browser = await launch();
for (const area of AREAS) {
  if (wanted.length > 0 && !wanted.includes(area)) continue;
  const { default: check } = await import(`./${area}.mjs`);
  const checkStep = (title, run) => step(`${area}: ${title}`, run);
  await step(`${area} comes to its end`, () => inFolder((folder) => check({ browser, folder, step: checkStep })));
}
await browser.close();
finish();
