// Every page by keyboard alone.

import assert from 'node:assert/strict';

import { checkFaults, closeTab, openTab, signedIn } from './browser.mjs';
import { OPERATOR, WORKER, newDesk } from './desk.mjs';
import { seed } from './orders.mjs';
import { emptyScenes, scenes, writeFiles } from './scenes.mjs';

const REFUSED = /Failed to load resource: the server responded with a status of 40[14]/;

// More than any page has; without an end to Tab there is a trap.
const MOST_STOPS = 400;

export default async function keyboard({ browser, folder, step }) {
  const desk = await newDesk(folder);
  await desk.start();
  // What slides into sight would not be there yet when it is looked at.
  const still = { reducedMotion: 'reduce' };
  const out = await openTab(browser, still);
  await step('signed-out', () => walk(out, { open: () => out.goto(desk.origin).then(() => out.getByRole('heading', { name: 'Sign in' }).waitFor()) }));
  await closeTab(out, REFUSED);
  const tab = await signedIn(browser, desk, still);
  for (const scene of emptyScenes(desk)) await step(scene.name, () => walk(tab, scene));
  const ids = await seed(desk);
  await writeFiles(folder);
  for (const scene of scenes(desk, ids, folder)) {
    await step(scene.name, () => walk(tab, scene));
    checkFaults(tab, REFUSED);
  }
  for (const [title, run] of TASKS) await step(title, () => run(tab, desk, ids));
  await closeTab(tab, REFUSED);
  await desk.stop();
}

const TASKS = [
  ['a report is approved', approves],
  ['a question is answered', answers],
  ['an order is written and sent', writes],
  ['a dialog keeps the focus, and gives it back', dialog],
  ['a text is checked', checks],
];

async function approves(tab, desk, ids) {
  await tab.goto(desk.origin);
  await tabTo(tab, tab.getByRole('list', { name: 'Waiting for you' }).getByRole('link', { name: 'Find the outage window and name it' }));
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1, name: 'Find the outage window and name it' }).waitFor();
  await tabTo(tab, tab.getByRole('radio', { name: 'Approve' }));
  await tab.keyboard.press('Space');
  await tabTo(tab, tab.getByRole('button', { name: 'Approve', exact: true }));
  await tab.keyboard.press('Enter');
  await tab.getByRole('status').getByText('Approved.').waitFor();
  assert.equal((await desk.rest(OPERATOR, `orders/${ids.submitted}`)).state, 'approved');
}

async function answers(tab, desk, ids) {
  await tab.goto(`${desk.origin}/orders/${ids.blocked}`);
  await tab.getByLabel('Your answer').waitFor();
  await tabTo(tab, tab.getByLabel('Your answer'));
  await tab.keyboard.type('UTC');
  await tabTo(tab, tab.getByRole('button', { name: 'Send the answer' }));
  await tab.keyboard.press('Enter');
  await tab.getByRole('status').getByText('Answered.').waitFor();
  assert.equal((await desk.rest(OPERATOR, `orders/${ids.blocked}`)).events.at(-1).note, 'UTC');
}

async function writes(tab, desk) {
  await tab.goto(`${desk.origin}/new`);
  await tab.getByRole('heading', { level: 1, name: 'New order' }).waitFor();
  const write = async (field, text) => {
    await tabTo(tab, field);
    await tab.keyboard.type(text);
  };
  await write(tab.getByLabel('Worker', { exact: true }), WORKER);
  await write(tab.getByLabel('Goal', { exact: true }), 'Written without a mouse');
  await write(tab.getByLabel('Short id').first(), 'done');
  await write(tab.getByLabel('What must be shown').first(), 'It is there');
  await write(tab.getByLabel('US dollars', { exact: true }), '1');
  await tabTo(tab, tab.getByRole('group', { name: 'Deadline from now' }).getByRole('button').first());
  await tab.keyboard.press('Enter');
  await tabTo(tab, tab.getByRole('button', { name: 'Issue the order' }));
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1, name: 'Written without a mouse' }).waitFor();
}

async function dialog(tab) {
  const opener = tab.getByRole('button', { name: 'Cancel the order…' });
  await tabTo(tab, opener);
  await tab.keyboard.press('Enter');
  const shown = tab.getByRole('dialog', { name: 'Cancel this order?' });
  await shown.waitFor();
  for (let pressed = 0; pressed < 12; pressed += 1) {
    await tab.keyboard.press('Tab');
    const behind = await tab.evaluate(() => document.activeElement !== document.body && !document.activeElement.closest('dialog'));
    assert.ok(!behind, 'nothing behind the dialog gets the focus');
  }
  await tab.keyboard.press('Escape');
  await shown.waitFor({ state: 'hidden' });
  assert.ok(await opener.evaluate((button) => button === document.activeElement), 'the focus is back where it was');
}

async function checks(tab, desk) {
  await tab.goto(`${desk.origin}/verify`);
  await tab.getByRole('heading', { level: 1, name: 'Verify' }).waitFor();
  await tabTo(tab, tab.getByLabel('Or paste'));
  await tab.keyboard.type('{"spec": "awl/work-order@0.1"}');
  await tabTo(tab, tab.getByRole('button', { name: 'Check', exact: true }));
  await tab.keyboard.press('Enter');
  await tab.getByText(/Rejected:/).first().waitFor();
}

/** Presses Tab until the target has the focus. */
async function tabTo(tab, target) {
  await target.waitFor();
  for (let pressed = 0; pressed < MOST_STOPS; pressed += 1) {
    await tab.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail(`Tab never reaches ${target}`);
}

/** Goes through the page with Tab: the skip link first, everything in its order, visibly, and out again at the end. */
async function walk(tab, { open }) {
  await open(tab);
  // Some scenes end with a click.
  await toTop(tab);
  const stops = await tab.evaluate(markStops);
  const reached = [];
  for (let pressed = 0; ; pressed += 1) {
    assert.ok(pressed < MOST_STOPS, `Tab leads out again; the last stops were ${JSON.stringify(reached.slice(-5))}`);
    await tab.keyboard.press('Tab');
    const here = await tab.evaluate(look);
    if (here.index === 'outside' || (here.index === 0 && reached.length > 0)) break;
    assert.ok(here.visible, `what has the focus is in sight: ${here.what}`);
    assert.ok(here.marked, `the focus is drawn: ${here.what}`);
    if (here.index !== -1 && here.index !== reached.at(-1)) reached.push(here.index);
  }
  const missed = stops.filter((_, index) => !reached.includes(index));
  assert.deepEqual(missed, [], 'Tab reaches everything that can be used');
  assert.deepEqual(reached, [...reached].sort((a, b) => a - b), 'in the order of the page');
  await skips(tab);
}

/** Puts the focus where it is when a page opens. */
async function toTop(tab) {
  await tab.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
}

async function skips(tab) {
  await toTop(tab);
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
  // The parts of a date draw their focus themselves, where styles of a page do not reach.
  const drawsItself = here.type === 'datetime-local';
  return {
    index: stops.indexOf(here),
    what: here.outerHTML.slice(0, 160),
    visible: inside,
    marked: outlined || drawsItself || (before.has(here) && before.get(here) !== drawing(here)),
  };
}
