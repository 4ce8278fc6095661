// How pages look, to eyes and to screen readers: light, dark, narrow, with less motion, with forced colours.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { checkAccessible, checkFaults, checkFitsWidth, closeTab, openTab, signedIn } from './browser.mjs';
import { newDesk } from './desk.mjs';
import { seed } from './orders.mjs';
import { emptyScenes, scenes, settled, writeFiles } from './scenes.mjs';

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 400, height: 800 };
const NARROWEST = { width: 320, height: 640 };

const REFUSED = /Failed to load resource: the server responded with a status of 40[14]/;

export default async function looks({ browser, folder, step }) {
  const shots = process.env.BAILIWICK_SCREENSHOTS;
  assert.ok(shots, 'BAILIWICK_SCREENSHOTS names the folder for screenshots');
  await mkdir(shots, { recursive: true });
  const desk = await newDesk(folder);
  await desk.start();
  await step('signed out', () => signedOut(browser, desk, shots));

  const tab = await signedIn(browser, desk, { reducedMotion: 'reduce' });
  for (const scene of emptyScenes(desk)) await step(scene.name, () => inspect(tab, scene, shots));
  const ids = await seed(desk);
  await writeFiles(folder);
  const all = scenes(desk, ids, folder);
  for (const scene of all) await step(scene.name, () => inspect(tab, scene, shots));
  await step('with less motion, nothing moves', () => nothingMoves(tab, all));
  await closeTab(tab, REFUSED);
  await step('with forced colours, controls and focus stay visible', () => forcedColours(browser, desk, ids));
  await desk.stop();
}

async function signedOut(browser, desk, shots) {
  const tab = await openTab(browser);
  const open = async () => {
    await tab.goto(desk.origin);
    await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  };
  await inspect(tab, { name: 'signed-out', open }, shots);
  await tab.context().close();
}

async function inspect(tab, { name, open }, shots) {
  const shoot = (look) => tab.screenshot({ path: join(shots, `${name}-${look}.png`), fullPage: true });
  await tab.emulateMedia({ colorScheme: 'light' });
  await tab.setViewportSize(WIDE);
  await open(tab);
  await shoot('light');
  await checkAccessible(tab);
  await tab.emulateMedia({ colorScheme: 'dark' });
  await shoot('dark');
  await checkAccessible(tab);
  await tab.emulateMedia({ colorScheme: 'light' });
  await tab.setViewportSize(NARROW);
  await shoot('narrow');
  await checkFitsWidth(tab);
  await tab.setViewportSize(NARROWEST);
  await checkFitsWidth(tab);
  await checkAccessible(tab);
  checkFaults(tab, REFUSED);
}

async function nothingMoves(tab, all) {
  await tab.setViewportSize(WIDE);
  for (const { name, open } of all) {
    await open(tab);
    const moving = await tab.evaluate(() => {
      const slow = (times) => times.split(',').some((time) => parseFloat(time) * (time.trim().endsWith('ms') ? 1 : 1000) > 10);
      const moves = (element) => {
        const style = getComputedStyle(element);
        const animated = style.animationName !== 'none' && slow(style.animationDuration);
        return animated || (slow(style.transitionDuration) && style.transitionProperty !== 'none');
      };
      return [...document.querySelectorAll('*')].filter(moves).map((element) => element.outerHTML.slice(0, 120));
    });
    assert.deepEqual(moving, [], name);
  }
}

async function forcedColours(browser, desk, ids) {
  const tab = await signedIn(browser, desk, { forcedColors: 'active' });
  for (const path of ['/', `/orders/${ids.submitted}`, '/new', '/journal', '/verify']) {
    await tab.goto(desk.origin + path);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await settled(tab);
    const bare = await tab.evaluate(() => {
      const drawn = (element) => {
        const style = getComputedStyle(element);
        return parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== 'none';
      };
      const controls = [...document.querySelectorAll('button:not([role=tab]), input:not([type=checkbox], [type=radio], [type=file]), select, textarea')];
      return controls.filter((control) => control.checkVisibility() && !drawn(control)).map((control) => control.outerHTML.slice(0, 120));
    });
    assert.deepEqual(bare, [], `${path}: controls have a border`);
    const lines = await tab.evaluate(() => [...document.querySelectorAll('.tabs > *')].map((tab) => {
      const chosen = tab.getAttribute('aria-selected') === 'true' || tab.hasAttribute('aria-current');
      return { chosen, colour: getComputedStyle(tab).borderBottomColor };
    }));
    const plain = new Set(lines.filter(({ chosen }) => !chosen).map(({ colour }) => colour));
    assert.ok(lines.every(({ chosen, colour }) => !chosen || !plain.has(colour)), `${path}: the chosen tab differs from the others`);
    await tab.keyboard.press('Tab');
    const outline = await tab.evaluate(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    });
    assert.ok(outline, `${path}: the focus is visible`);
  }
  await closeTab(tab);
}
