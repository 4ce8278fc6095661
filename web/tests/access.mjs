// Who gets in, who does not, and how the files travel.

import assert from 'node:assert/strict';
import { request } from 'node:http';

import { checkFaults, closeTab, openTab, signedIn } from './browser.mjs';
import { MANAGER, OPERATOR, WORKER, newDesk } from './desk.mjs';
import { order } from './orders.mjs';

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

const PAGES = ['/', '/orders', '/orders/wo_1', '/new', '/agents', '/journal', '/verify'];
const PROTECTED = ['/', '/orders', '/orders/wo_1', '/new', '/agents', '/journal'];
const ROUTES = ['session', 'inbox', 'orders', 'orders/wo_1', 'agents', 'journal/entries', 'journal/head', 'journal/export', 'events'];

// The browser writes this down for each answer that is not a success.
const REFUSED = /Failed to load resource: the server responded with a status of 40[13]/;

export default async function access({ browser, folder, step }) {
  const desk = await newDesk(folder);
  const link = await desk.start();
  const secret = 'The goal that only people of this desk may read';
  await desk.rest(MANAGER, 'orders', order({ id: 'wo_1', goal: secret }));

  await step('REST answers nobody who says not who they are', () => answersNobody(desk));
  await step('without a sign-in every page says how to sign in, and nothing else', () => showsNothing(browser, desk, secret));
  await step('the link works once, and says so afterwards', () => linkWorksOnce(browser, link));
  await step('the cookie is out of reach of scripts and other sites', () => cookieIsClosed(browser, desk));
  await step('other sites cannot act with the cookie', () => othersCannotAct(browser, desk));
  await step('signing out ends the session', () => signOut(browser, desk));
  await step('every page comes with the policy that allows nothing inline', () => policy(desk));
  await step('files with a digest in their name are kept for ever and travel compressed', () => travel(desk));
  await desk.stop();
}

async function answersNobody(desk) {
  for (const route of ROUTES) {
    const answer = await fetch(`${desk.origin}/api/v1/${route}`);
    assert.equal(answer.status, 401, route);
    const problem = await answer.json();
    assert.equal(problem.code, 'UNAUTHENTICATED', route);
  }
  const created = await fetch(`${desk.origin}/api/v1/orders`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  assert.equal(created.status, 401);
}

async function showsNothing(browser, desk, secret) {
  const tab = await openTab(browser);
  const asked = [];
  tab.on('request', (sent) => {
    const { pathname } = new URL(sent.url());
    if (pathname.startsWith('/api/')) asked.push(pathname);
  });
  for (const path of PROTECTED) {
    await tab.goto(`${desk.origin}${path}`);
    await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const said = await tab.locator('body').innerText();
    assert.match(said, /bailiwick serve/);
    assert.match(said, /bailiwick sign-in/);
    assert.ok(!said.includes(secret) && !(await tab.content()).includes(secret), `${path} tells nothing`);
    assert.equal(await tab.getByRole('navigation').count(), 0, `${path} leads nowhere`);
  }
  assert.deepEqual([...new Set(asked)], ['/api/v1/session'], 'nothing but the session is asked for');
  await closeTab(tab, REFUSED);
}

async function linkWorksOnce(browser, link) {
  const tab = await openTab(browser);
  await tab.goto(link);
  await tab.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  assert.equal(new URL(tab.url()).search, '', 'the token is gone from the address');
  await tab.getByText(OPERATOR).first().waitFor();
  await closeTab(tab);
  const late = await openTab(browser);
  const answer = await late.goto(link);
  assert.equal(answer.status(), 403);
  assert.match(await late.locator('body').innerText(), /bailiwick sign-in/);
  await closeTab(late, REFUSED);
}

async function cookieIsClosed(browser, desk) {
  const tab = await signedIn(browser, desk);
  const cookies = await tab.context().cookies();
  assert.equal(cookies.length, 1);
  const [cookie] = cookies;
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, 'Strict');
  assert.equal(cookie.path, '/');
  assert.ok(cookie.name.includes(String(desk.port)), 'two desks on one machine do not share it');
  assert.equal(await tab.evaluate(() => document.cookie), '');
  await closeTab(tab);
}

async function othersCannotAct(browser, desk) {
  const tab = await signedIn(browser, desk);
  const cookie = await cookieOf(tab);
  const cancel = (headers) =>
    wire(`${desk.origin}/api/v1/orders/wo_1/cancel`, { method: 'POST', headers: { cookie, 'content-type': 'application/json', ...headers }, body: '{"reason":"x"}' });
  for (const headers of [
    {},
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: desk.origin.replace(/\d+$/, '1') },
    { origin: desk.origin, 'sec-fetch-site': 'cross-site' },
    { origin: desk.origin, 'sec-fetch-site': 'same-site' },
  ]) {
    const { status } = await cancel(headers);
    assert.ok(status === 403 || status === 401, `${JSON.stringify(headers)} is refused (${status})`);
  }
  assert.equal((await desk.rest(WORKER, 'orders/wo_1')).state, 'offered', 'nothing happened');
  const overMcp = await wire(desk.url, { method: 'POST', headers: { cookie, origin: desk.origin, 'content-type': 'application/json' }, body: '{}' });
  assert.equal(overMcp.status, 401, 'the cookie is nothing to agents');
  await closeTab(tab);
}

async function signOut(browser, desk) {
  const tab = await signedIn(browser, desk);
  const cookie = await cookieOf(tab);
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  const { status } = await wire(`${desk.origin}/api/v1/session`, { headers: { cookie } });
  assert.equal(status, 401, 'a copy of the cookie is worth nothing any more');
  await closeTab(tab, REFUSED);
}

async function policy(desk) {
  for (const path of PAGES) {
    const { status, headers, body } = await wire(`${desk.origin}${path}`);
    assert.equal(status, 200, path);
    assert.match(headers['content-type'], /^text\/html/);
    assert.equal(headers['content-security-policy'], POLICY, path);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cache-control'], 'no-cache');
    assert.doesNotMatch(body.toString(), /<script(?![^>]* src=)|<style| style=| on[a-z]+=/, 'nothing is inline');
  }
  assert.equal((await wire(`${desk.origin}/no-such-page`)).status, 404);
}

async function travel(desk) {
  const { body } = await wire(`${desk.origin}/`);
  const engine = /name="bailiwick-engine" content="([^"]+)"/.exec(body)[1];
  const names = [...body.toString().matchAll(/(?:href|src)="(?:\.\/)?([^"/]+\.(?:js|css|wasm))"/g)].map((found) => found[1]);
  assert.ok(names.some((name) => name.endsWith('.wasm')) && names.some((name) => name.endsWith('.css')), `the page names its files: ${names}`);
  for (const name of [...new Set(names), ...['bailiwick.js', 'bailiwick.wasm', 'worker.js'].map((file) => engine + file)]) {
    const plain = await wire(`${desk.origin}/${name}`);
    assert.equal(plain.status, 200, name);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable', name);
    assert.equal(plain.headers['content-encoding'], undefined, name);
    const packed = await wire(`${desk.origin}/${name}`, { headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(packed.headers['content-encoding'], 'br', name);
    assert.match(packed.headers.vary ?? '', /accept-encoding/i, name);
    assert.ok(packed.body.length < plain.body.length, `${name} is smaller on its way`);
    if (name.endsWith('.wasm')) assert.equal(plain.headers['content-type'], 'application/wasm');
    const again = await wire(`${desk.origin}/${name}`, { headers: { 'if-none-match': plain.headers.etag } });
    assert.equal(again.status, 304, name);
  }
}

async function cookieOf(tab) {
  const [{ name, value }] = await tab.context().cookies();
  checkFaults(tab);
  return `${name}=${value}`;
}

// `fetch` would unpack what it gets and add headers of its own.
function wire(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject).end(body);
  });
}
