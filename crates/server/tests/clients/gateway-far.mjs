// Gateways away from their desk: servers by HTTP, a desk by HTTP, no desk at all but a pass, and the server's own gateways.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client as NewerClient, StreamableHTTPClientTransport as NewerTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Desk, EVERYTHING, MANAGER, WORKER, connect, lines, refused, text } from './gateway-desk.mjs';
import { finish, giveUpAfter, inFolder, program, serve, step } from './harness.mjs';

const ISSUER = 'https://desk.example';
const KEYS = {
  'key-of-the-manager-0123456789': MANAGER,
  'key-of-the-worker-0123456789': WORKER,
  'key-of-somebody-else-01234567': 'agent:other',
  'key-of-the-gateway-0123456789': 'gateway:far',
};
const keyOf = (who) => Object.keys(KEYS).find((key) => KEYS[key] === who);

/** A port that nobody listens on. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A real server that speaks streamable HTTP; `stop` ends it. */
async function everythingAt(port) {
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
  process.once('exit', () => child.kill('SIGKILL'));
  for (let tries = 0; ; tries += 1) {
    try {
      await (await fetch(`http://127.0.0.1:${port}/mcp`)).arrayBuffer();
      break;
    } catch (error) {
      if (tries > 100) throw error;
      await sleep(100);
    }
  }
  return {
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function serversByHttp(desk, port) {
  let server = await everythingAt(port);
  const id = await desk.atWork({ tools: ['web/*'], staged: ['web/get-sum'] });
  await desk.with(
    id,
    async ({ list, call }) => {
      const tools = await list();
      assert.ok(tools.some((tool) => tool.name === 'web__echo'));
      assert.match(tools.find((tool) => tool.name === 'web__get-sum').description, /held/);
      const echoed = await call('web__echo', { message: 'by HTTP' });
      assert.equal(text(echoed), 'Echo: by HTTP');
      assert.equal(echoed._meta['awl/ref'], 'web/echo#1');
      const steps = [];
      await call('web__trigger-long-running-operation', { duration: 1, steps: 4 }, { onprogress: ({ progress }) => steps.push(progress) });
      assert.deepEqual(steps, [1, 2, 3, 4], 'every step, in order, before the answer');
      const spent = async () => (await call('awl__status')).structuredContent.spent.tool_calls;
      assert.equal(await spent(), 2);
      await server.stop();
      assert.equal(refused(await call('web__echo', { message: 'x' })).code, 'UPSTREAM_FAILED');
      await sleep(500);
      assert.equal(await spent(), 2, 'a call that never reached its server gives its unit back');
      server = await everythingAt(port);
      await sleep(600);
      assert.equal(text(await call('web__echo', { message: 'again' })), 'Echo: again', 'a new session is begun');
    },
    '--call-timeout',
    '10',
  );
  await server.stop();
}

/** A gateway whose desk is elsewhere. */
const far = (desk, origin, id, key, ...more) => ({
  command: program(),
  args: ['gateway', '--order', id, '--config', desk.config, '--desk', origin, ...more],
  env: { ...process.env, BAILIWICK_KEY: key },
});

async function callsOf(origin, id) {
  const answer = await fetch(`${origin}/api/v1/orders/${id}/calls`, { headers: { authorization: `Bearer ${keyOf(MANAGER)}` } });
  return (await answer.json()).calls;
}

/** An order's calls once how each went is noted, which is after its agent has the answer. */
async function settled(origin, id) {
  for (let tries = 0; tries < 50; tries += 1) {
    const calls = await callsOf(origin, id);
    if (calls.every((call) => call.state !== 'begun')) return calls;
    await sleep(100);
  }
  throw new Error('a call is not settled after 5 s');
}

async function deskByHttp(desk, { origin }) {
  const id = await desk.atWork({ budget: { tool_calls: 6 } });
  const key = keyOf('gateway:far');
  const one = await connect(new StdioClientTransport({ ...far(desk, origin, id, key), stderr: 'ignore' }));
  assert.equal(text(await one.call('every__echo', { message: 'x' })), 'Echo: x');
  assert.equal(refused(await one.call('every__get-env')).code, 'FORBIDDEN');
  assert.equal(text(await one.call('test__note', { text: 'far away' })), 'pending:test/note#2');
  const { held } = (await one.call('awl__status')).structuredContent;
  await desk.order('human:ada', 'pause', id, '--reason', 'Wait');
  assert.match(refused(await one.call('every__echo', { message: 'x' })).message, /human:ada.*Wait/);
  await desk.order('human:ada', 'resume', id);
  const two = await connect(new StdioClientTransport({ ...far(desk, origin, id, key), stderr: 'ignore' }));
  const results = await Promise.all([one, two, one, two, one, two, one, two].map(({ call }) => call('every__echo', { message: 'race' })));
  const allowed = results.filter((result) => result.isError !== true);
  assert.equal(allowed.length, 4, 'exactly what was left, for both together');
  assert.equal(new Set(allowed.map((result) => result._meta['awl/ref'])).size, 4);
  const full = refused(results.find((result) => result.isError));
  assert.deepEqual([full.code, full.unit, full.limit, full.spent], ['BUDGET_EXCEEDED', 'tool_calls', 6, 6]);
  await Promise.all([one.close(), two.close()]);
  const calls = await callsOf(origin, id);
  assert.ok(calls.every((call) => call.gateway === 'gateway:far'));
  assert.ok(calls.every((call) => call.state === 'done' || call.state === 'held'), 'settled before the gateway ended');
  await desk.report(id, held, ['test/note', 'every/echo']);
  await desk.order(MANAGER, 'review', id, 'approve');
  const before = (await desk.noted()).length;
  const { command, args, env } = far(desk, origin, id, key, '--commit');
  const commit = () => new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    child.on('close', (code) => resolve({ code, lines: lines(said) }));
  });
  const both = await Promise.all([commit(), commit()]);
  assert.ok(both.some(({ lines: said }) => said[0] === 'test/note#2 done'), JSON.stringify(both));
  assert.equal((await desk.noted()).length, before + 1, 'sent once, though two carried out');
  // A worker's key is no gateway's, and an unknown key is nobody's.
  const other = await desk.atWork();
  const wrong = await connect(new StdioClientTransport({ ...far(desk, origin, other, keyOf(WORKER)), stderr: 'ignore' }));
  assert.equal(refused(await wrong.call('every__echo', { message: 'x' })).code, 'FORBIDDEN');
  await wrong.close();
  await assert.rejects(connect(new StdioClientTransport({ ...far(desk, origin, other, 'nobody'), stderr: 'ignore' })));
}

async function passOf(origin, id) {
  const answer = await fetch(`${origin}/api/v1/orders/${id}/pass`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keyOf(WORKER)}` },
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()).pass;
}

async function withoutDesk(desk, folder, start) {
  let server = await start();
  const id = await desk.atWork({ budget: { tool_calls: 5 } });
  const [pass, other] = [await passOf(server.origin, id), await passOf(server.origin, await desk.atWork())];
  const file = join(folder, 'pass.jwt');
  const options = ['--desk-timeout', '1', '--pass-keys', join(folder, 'jwks.json'), '--issuer', ISSUER, '--state', join(folder, 'state')];
  await writeFile(join(folder, 'jwks.json'), await (await fetch(`${server.origin}/.well-known/jwks.json`)).text());
  const target = (...more) => {
    const of = far(desk, server.origin, id, keyOf('gateway:far'), ...options, ...more);
    return { ...of, env: { ...of.env, AWL_PASS_FILE: file } };
  };
  const open = (...more) => connect(new StdioClientTransport({ ...target(...more), stderr: 'ignore' }));
  const one = await open();
  assert.equal((await one.call('every__echo', { message: 'x' }))._meta['awl/ref'], 'every/echo#1');
  await server.stop();

  assert.equal(refused(await one.call('every__echo', { message: 'x' })).code, 'UNAVAILABLE', 'there is no pass yet');
  await writeFile(file, other);
  assert.equal(refused(await one.call('every__echo', { message: 'x' })).code, 'WRONG_ORDER');
  await writeFile(file, `${pass.slice(0, -6)}AAAAAA`);
  assert.equal(refused(await one.call('every__echo', { message: 'x' })).code, 'BAD_SIGNATURE');
  await writeFile(file, `${pass}\n`);
  const echoed = await one.call('every__echo', { message: 'alone' });
  assert.equal(text(echoed), 'Echo: alone');
  assert.equal(echoed._meta['awl/ref'], 'every/echo#2', 'numbers go on');
  assert.equal(refused(await one.call('every__get-env')).code, 'FORBIDDEN');
  assert.equal(text(await one.call('test__note', { text: 'held alone' })), 'pending:test/note#3');
  const status = (await one.call('awl__status')).structuredContent;
  assert.match(status.note, /sum is not bounded/);
  assert.equal(status.spent.tool_calls, 3);
  assert.deepEqual(status.held, [{ ref: 'test/note#3', tool: 'test/note', arguments: { text: 'held alone' } }]);

  // Another process on the same record, which the first one's end does not concern.
  const two = await open();
  process.kill(one.client.transport.pid, 'SIGKILL');
  await writeFile(file, 'gone');
  const shown = (message) => two.call('every__echo', { message }, undefined, { 'awl/pass': pass });
  assert.equal(refused(await two.call('every__echo', { message: 'x' })).code, 'MALFORMED');
  const results = await Promise.all([shown('a'), shown('b'), shown('c'), shown('d')]);
  assert.equal(results.filter((result) => result.isError !== true).length, 2, 'what was counted before the kill still counts');
  assert.equal(refused(results.find((result) => result.isError)).code, 'BUDGET_EXCEEDED');
  const record = JSON.parse(await readFile(join(folder, 'state', `${id}.json`), 'utf8'));
  assert.deepEqual([record.order_id, record.calls, record.next_n, record.held.length], [id, 4, 6, 1]);

  server = await start();
  await sleep(5_500);
  const back = (await two.call('awl__status')).structuredContent;
  assert.equal(back.note, undefined, 'the desk is asked again');
  assert.equal(text(await two.call('every__echo', { message: 'home' })), 'Echo: home');
  await two.close();
  await server.stop();
}

async function serversOwnGateways(desk, server, keysFile, process_) {
  const id = await desk.atWork({ budget: { tool_calls: 8 } });
  const url = new URL(`${server.origin}/gateway/${id}/mcp`);
  const headers = (who) => ({ requestInit: { headers: { authorization: `Bearer ${keyOf(who)}` } } });
  const post = (who, body) =>
    fetch(url, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${who}` },
    });
  const status = async (who, body = { method: 'tools/list', params: {} }) => {
    const answer = await post(who, body);
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await status(keyOf('agent:other')), 403);
  assert.equal(await status(keyOf(MANAGER)), 403);
  assert.equal(await status('nobody'), 401);
  assert.equal(await status(keyOf(WORKER)), 200);
  assert.equal(await status(keyOf('agent:other')), 403, 'also once it is open');
  assert.equal((await fetch(url, { headers: { authorization: `Bearer ${keyOf(WORKER)}` } })).status, 405);

  const older = await connect(new StreamableHTTPClientTransport(url, headers(WORKER)));
  const noted = await older.call('test__note', { text: 'held' });
  assert.equal(text(noted), 'pending:test/note#1');
  const steps = [];
  const options = { onprogress: ({ progress }) => steps.push(progress) };
  await older.call('every__trigger-long-running-operation', { duration: 1, steps: 4 }, options);
  assert.deepEqual(steps, [1, 2, 3, 4]);
  const hung = await older.call('test__hang', {}, { timeout: 500 }).catch((error) => error);
  assert.match(String(hung), /timed out/i);
  await older.close();

  const newer = new NewerClient({ name: 'bailiwick-gateway-test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await newer.connect(new NewerTransport(url, headers(WORKER)));
  assert.equal(newer.getNegotiatedProtocolVersion(), '2026-07-28');
  const echoed = await newer.callTool({ name: 'every__echo', arguments: { message: 'newest' } });
  assert.equal(echoed.content[0].text, 'Echo: newest');
  assert.equal(echoed._meta['awl/ref'], 'every/echo#4');
  await newer.close();

  const calls = await settled(server.origin, id);
  assert.deepEqual(calls.map(({ n, state, gateway }) => [n, state, gateway]), [
    [4, 'done', 'gateway'],
    [3, 'failed', 'gateway'],
    [2, 'done', 'gateway'],
    [1, 'held', 'gateway'],
  ]);

  // Whose key is taken out of force reads no longer.
  const listening = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true },
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
      },
    }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${keyOf(WORKER)}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
  });
  assert.equal(listening.status, 200);
  const { [keyOf(WORKER)]: _, ...others } = KEYS;
  await writeFile(keysFile, JSON.stringify({ keys: others }), { mode: 0o600 });
  process_.kill('SIGHUP');
  const said = await listening.text();
  assert.match(said, /acknowledged/);
  assert.equal(await status(keyOf(WORKER)), 401);
  await writeFile(keysFile, JSON.stringify({ keys: KEYS }), { mode: 0o600 });
  process_.kill('SIGHUP');
}

giveUpAfter(240);
await inFolder(async (folder) => {
  const desk = new Desk(folder);
  const [keys, passKey, [webPort, deskPort]] = [join(folder, 'keys.json'), join(folder, 'desk-key.json'), await Promise.all([freePort(), freePort()])];
  await desk.configure({ web: { url: `http://127.0.0.1:${webPort}/mcp`, headers: { 'x-test': 'kept' } } });
  await writeFile(keys, JSON.stringify({ keys: KEYS }), { mode: 0o600 });
  await desk.run('keys', 'new', passKey);
  const start = (...more) => serve(folder, '--keys', keys, '--pass-key', passKey, '--issuer', ISSUER, '--gateway-config', desk.config, '--port', String(deskPort), ...more);
  await step('servers are reached by HTTP, and again after they were gone', () => serversByHttp(desk, webPort));
  let server;
  if (await step('a desk is served', async () => void (server = await start()))) {
    await step('a gateway asks a desk elsewhere, two share its budget, and what was approved is sent once', () => deskByHttp(desk, server));
    await step('an order’s worker reaches its tools at the server, on both revisions', () => serversOwnGateways(desk, server, keys, server.process));
    await step('the server ends, and its gateways with it', () => server.stop());
    await step('without the desk a pass is gone by, what is spent stays spent, and the desk is asked when it is back', () => withoutDesk(desk, folder, start));
  }
  await step('the journal of all this verifies, every decision made again', () => desk.run('journal', 'verify', '--store', desk.store, '--require-decided'));
});
finish();
