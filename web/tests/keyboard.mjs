// Every page by keyboard alone.

import assert from 'node:assert/strict';

import { checkFaults, closeTab, openTab, signedIn } from './browser.mjs';
import { newDesk } from './desk.mjs';
import { seed } from './orders.mjs';
import { emptyScenes, scenes, writeFiles } from './scenes.mjs';

const REFUSED = /Failed to load resource: the server responded with a status of 40[14]/;

// More than any page has; without an end to Tab there is a trap.
const MOST_STOPS = 400;

export default async function keyboard({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  const out = await openTab(browser);
  await step('signed-out', () => walk(out, { open: () => out.goto(desk.origin).then(() => out.getByRole('heading', { name: 'Sign in' }).waitFor()) }));
  await closeTab(out, REFUSED);
  const tab = await signedIn(browser, desk);
  for (const scene of emptyScenes(desk)) await step(scene.name, () => walk(tab, scene));
  const ids = await seed(desk);
  await writeFiles(folder);
  for (const scene of scenes(desk, ids, folder)) {
    await step(scene.name, () => walk(tab, scene));
    checkFaults(tab, REFUSED);
  }
  await closeTab(tab, REFUSED);
  await desk.stop();
}

/** Goes through the page with Tab: the skip link first, everything in its order, visibly, and out again at the end. */
async function walk(tab, { open }) {
  await open(tab);
  // Some scenes end with a click; the walk starts at the top again.
  await tab.evaluate(() => {
    document.activeElement?.blur();
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  const stops = await tab.evaluate(markStops);
  const reached = [];
  for (let pressed = 0; ; pressed += 1) {
    assert.ok(pressed < MOST_STOPS, `Tab leads out again; the last stops were ${JSON.stringify(reached.slice(-5))}`);
    await tab.keyboard.press('Tab');
    const here = await tab.evaluate(look);
    if (here.index === 'outside' || (here.index === 0 && reached.length > 0)) break;
    assert.ok(here.visible, `what has the focus is in sight: ${here.what}`);
    assert.ok(here.marked, `the focus is drawn: ${here.what}`);
    if (here.index !== -1) reached.push(here.index);
  }
  const missed = stops.filter((_, index) => !reached.includes(index));
  assert.deepEqual(missed, [], 'Tab reaches everything that can be used');
  assert.deepEqual(reached, [...reached].sort((a, b) => a - b), 'in the order of the page');
  await skips(tab);
}

async function skips(tab) {
  await tab.keyboard.press('Tab');
  const first = await tab.evaluate(() => document.activeElement.textContent);
  assert.match(first, /skip to/i, 'the first stop skips to the content');
  await tab.keyboard.press('Enter');
  const landed = await tab.evaluate(() => document.activeElement.closest('main') !== null);
  assert.ok(landed, 'and leads there');
}

// Runs in the page: remembers everything that Tab must reach, with how it looks without the focus.
function markStops() {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const mute = (element) => element.disabled || element.tabIndex < 0 || !element.checkVisibility({ visibilityProperty: true });
  // Of a group of radio buttons Tab reaches the chosen one, else the first.
  const chosen = (element) => {
    if (element.type !== 'radio') return true;
    const group = [...document.querySelectorAll(`input[type=radio][name="${CSS.escape(element.name)}"]`)].filter((one) => one.form === element.form);
    return (group.find((one) => one.checked) ?? group[0]) === element;
  };
  const stops = [...document.querySelectorAll(usable)].filter((element) => !mute(element) && chosen(element));
  const drawing = (element) => {
    const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(element);
    return [outlineStyle === 'none' ? '0' : outlineWidth, boxShadow, borderColor, backgroundColor].join();
  };
  globalThis.walked = { stops, drawing, before: new Map(stops.map((stop) => [stop, drawing(stop)])) };
  return stops.map((stop) => stop.outerHTML.slice(0, 120));
}

// Runs in the page: where the focus is, and whether one can see it.
function look() {
  const { stops, drawing, before } = globalThis.walked;
  const here = document.activeElement;
  if (!here || here === document.body || here === document.documentElement) return { index: 'outside' };
  const box = here.getBoundingClientRect();
  const inside = box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  const { outlineStyle, outlineWidth } = getComputedStyle(here);
  const outlined = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  return {
    index: stops.indexOf(here),
    what: here.outerHTML.slice(0, 160),
    visible: inside,
    marked: outlined || (before.has(here) && before.get(here) !== drawing(here)),
  };
}
