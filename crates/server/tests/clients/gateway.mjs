// An order's worker behind the gateway, with real servers behind it: what is allowed, held, refused and carried out.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Desk, MANAGER, WORKER, refused, text } from './gateway-desk.mjs';
import { finish, giveUpAfter, inFolder, program, step } from './harness.mjs';

async function listsWhatIsAllowed(desk) {
  const id = await desk.atWork();
  await desk.with(id, async ({ list }) => {
    const tools = await list();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), [
      'awl__status',
      'every__echo',
      'every__trigger-long-running-operation',
      'test__die',
      'test__fail',
      'test__hang',
      'test__nonsense',
      'test__note',
      'test__slow',
    ]);
    const named = (name) => tools.find((tool) => tool.name === name);
    assert.equal(named('test__note').outputSchema, undefined);
    assert.match(named('test__note').description, /held/);
    assert.ok(named('test__hang').outputSchema && !/held/.test(named('test__hang').description));
    assert.deepEqual(named('test__hang')['x-of-ours'], { kept: true }, 'members that nobody knows come through');
  });
  await desk.with(id, async ({ list }) => assert.ok((await list()).some((tool) => tool.name === 'every/echo')), '--slash');
}

async function resultsPassThrough(desk) {
  const id = await desk.atWork({ staged: [] });
  await desk.with(id, async ({ call }) => {
    const result = await call('test__note', { text: 'first' });
    assert.deepEqual(result, {
      content: [{ type: 'text', text: 'noted' }, { type: 'of-the-future', unknown: [1.5, 12345678901234567000] }],
      structuredContent: { id: 7 },
      unknownMember: { kept: true },
      _meta: { 'awl/cost': { usd: 0.125, tokens: 10 }, other: 1, 'awl/ref': 'test/note#1' },
    });
    assert.equal(text(await call('every__echo', { message: 'hello' })), 'Echo: hello');
    const failed = await call('test__fail');
    assert.equal(failed.isError, true);
    assert.equal(text(failed), 'the mailbox is full');
  });
  const { spent, tools_used } = JSON.parse(await desk.run('order', 'gateway', id, '--store', desk.store, '--json'));
  assert.deepEqual([spent.usd, spent.tokens, spent.tool_calls], [0.125, 10, 3], 'settled before the gateway ended');
  assert.deepEqual(tools_used, ['every/echo', 'test/fail', 'test/note']);
}

async function progressPassesThrough(desk) {
  const id = await desk.atWork();
  await desk.with(id, async ({ call }) => {
    const seen = [];
    const options = { onprogress: (progress) => seen.push(progress.progress) };
    await call('every__trigger-long-running-operation', { duration: 1, steps: 4 }, options);
    assert.ok(seen.length >= 3, `${seen}`);
    const taken = new AbortController();
    const long = call('every__trigger-long-running-operation', { duration: 60, steps: 2 }, { signal: taken.signal });
    setTimeout(() => taken.abort(), 300);
    await assert.rejects(long);
    assert.equal(text(await call('every__echo', { message: 'still here' })), 'Echo: still here');
  });
}

async function refusals(desk) {
  const id = await desk.atWork();
  await desk.with(id, async ({ call }) => {
    assert.equal(refused(await call('every__get-env')).code, 'FORBIDDEN');
    await assert.rejects(call('nobody__knows'), /no tool/);
    const pending = await call('test__note', { text: 'held' });
    assert.equal(text(pending), 'pending:test/note#1');
    assert.deepEqual(pending._meta, { 'awl/ref': 'test/note#1' });
    const early = await call('every__echo', { message: { $ref: 'test/note#1' } });
    assert.equal(refused(early).code, 'BAD_REQUEST');
    assert.equal(refused(await call('test__note', { text: { $ref: 'test/note#9' } })).code, 'BAD_REQUEST');
    assert.equal(text(await call('every__echo', { message: 'x' })), 'Echo: x');
    const status = (await call('awl__status')).structuredContent;
    assert.equal(status.calls, 2, 'refused calls do not count');
    assert.deepEqual(status.held, [{ ref: 'test/note#1', tool: 'test/note', arguments: { text: 'held' } }]);
  });
  assert.deepEqual((await desk.noted()).includes('held'), false, 'nothing of it ran');
  await assert.rejects(desk.run(...desk.arguments('wo_nowhere')), { code: 2 });
  await assert.rejects(desk.run(...desk.arguments(id, '--as', 'agent:other')), { code: 2 });
}

async function pausing(desk) {
  const id = await desk.atWork();
  await desk.with(id, async ({ call }) => {
    await desk.order('human:ada', 'pause', id, '--reason', 'Let me look first');
    const { code, message } = refused(await call('every__echo', { message: 'x' }));
    assert.equal(code, 'PAUSED');
    assert.match(message, /human:ada.*Let me look first/);
    await desk.order('human:ada', 'resume', id);
    assert.equal(text(await call('every__echo', { message: 'x' })), 'Echo: x');
    await desk.order(MANAGER, 'stop', id, '--reason', 'wrong list');
    assert.equal(refused(await call('every__echo', { message: 'x' })).code, 'STOPPED');
  });
}

async function lastUnit(desk) {
  for (let round = 0; round < 3; round += 1) {
    const id = await desk.atWork({ budget: { tool_calls: 5 } });
    const both = await Promise.all([desk.worker(id), desk.worker(id)]);
    const calls = both.flatMap(({ call }) => Array.from({ length: 5 }, () => call('every__echo', { message: 'x' })));
    const results = await Promise.all(calls);
    const allowed = results.filter((result) => result.isError !== true);
    assert.equal(allowed.length, 5, 'exactly the budget');
    assert.equal(new Set(allowed.map((result) => result._meta['awl/ref'])).size, 5, 'each call has a number of its own');
    for (const result of results.filter((result) => result.isError === true)) {
      const { code, unit, limit, spent } = refused(result);
      assert.deepEqual([code, unit, limit, spent], ['BUDGET_EXCEEDED', 'tool_calls', 5, 5]);
    }
    await Promise.all(both.map((worker) => worker.close()));
  }
}

async function deadline(desk) {
  const id = await desk.atWork({ deadline: new Date(Date.now() + 2_500).toISOString() });
  await desk.with(id, async ({ call }) => {
    assert.equal(text(await call('every__echo', { message: 'x' })), 'Echo: x');
    await sleep(3_000);
    assert.equal(refused(await call('every__echo', { message: 'x' })).code, 'DEADLINE_PASSED');
  });
}

async function badServers(desk) {
  const id = await desk.atWork({ staged: [] });
  await desk.with(
    id,
    async ({ call }) => {
      for (const bad of ['hang', 'die', 'nonsense']) {
        const begun = Date.now();
        const [failed, echoed] = await Promise.all([call(`test__${bad}`), call('every__echo', { message: bad })]);
        assert.equal(refused(failed).code, 'UPSTREAM_FAILED', bad);
        assert.ok(Date.now() - begun < 10_000, `${bad} is given up on`);
        assert.equal(text(echoed), `Echo: ${bad}`);
        assert.equal(text(await call('test__note', { text: `after ${bad}` })), 'noted', 'it is started again');
      }
    },
    '--call-timeout',
    '3',
  );
}

async function carriedOutOnce(desk) {
  const id = await desk.atWork();
  const held = await desk.with(id, async ({ call }) => {
    await call('test__note', { text: { id: 'ticket-1' } });
    await call('test__note', { text: { $ref: 'test/note#1', pointer: '/structuredContent/id' } });
    await call('test__note', { text: 'never approved' });
    return (await call('awl__status')).structuredContent.held;
  });
  assert.equal((await desk.commit(id)).code, 1, 'not approved yet');
  await desk.report(id, held);
  await desk.order(MANAGER, 'review', id, 'approve', '--effect', 'test/note#1', '--effect', 'test/note#2');
  const before = (await desk.noted()).length;
  assert.deepEqual(await desk.commit(id), { code: 0, lines: ['test/note#1 done', 'test/note#2 done'] });
  assert.deepEqual((await desk.noted()).slice(before), [{ id: 'ticket-1' }, 'ticket-1']);
  assert.deepEqual(await desk.commit(id), { code: 0, lines: ['test/note#1 done', 'test/note#2 done'] });
  assert.equal((await desk.noted()).length, before + 2, 'nothing ran twice');
  const { events } = await desk.order(MANAGER, 'show', id);
  const effects = events.filter((event) => event.action.startsWith('effect')).map(({ action, actor, effects }) => [action, actor, ...effects]);
  assert.deepEqual(effects, [
    ['effect_start', 'gateway', 'test/note#1'],
    ['effect_done', 'gateway', 'test/note#1'],
    ['effect_start', 'gateway', 'test/note#2'],
    ['effect_done', 'gateway', 'test/note#2'],
  ]);
}

async function killed(desk) {
  const id = await desk.atWork();
  const held = await desk.with(id, async ({ call }) => {
    await call('test__slow', { text: 'slow' });
    await call('test__note', { text: { $ref: 'test/slow#1' } });
    await call('test__fail', {});
    return (await call('awl__status')).structuredContent.held;
  });
  await desk.report(id, held, ['test/slow', 'test/note', 'test/fail']);
  await desk.order(MANAGER, 'review', id, 'approve');
  const before = (await desk.noted()).length;
  const commit = spawn(program(), desk.arguments(id, '--commit'), { stdio: 'ignore' });
  while ((await desk.noted()).length === before) await sleep(50);
  commit.kill('SIGKILL');
  await once(commit, 'exit');
  const again = await desk.commit(id);
  assert.equal(again.code, 1);
  assert.match(again.lines[0], /^test\/slow#1 unknown/);
  assert.match(again.lines[1], /^test\/note#2 skipped/);
  assert.match(again.lines[2], /^test\/fail#3 failed: the mailbox is full/);
  assert.equal((await desk.noted()).length, before + 1, 'what is unknown does not run again by itself');
  await assert.rejects(desk.order(WORKER, 'retry-effect', id, 'test/slow#1'), { code: 1 });
  await desk.order(MANAGER, 'retry-effect', id, 'test/slow#1', '--reason', 'it never came');
  const timed = desk.arguments(id, '--commit', '--call-timeout', '2');
  await assert.rejects(desk.run(...timed), { code: 1 });
  assert.equal((await desk.noted()).length, before + 2, 'allowed once, it ran once more');
}

async function altered(desk) {
  const id = await desk.atWork();
  const held = await desk.with(id, async ({ call }) => {
    await call('test__note', { text: 'to the list' });
    return (await call('awl__status')).structuredContent.held;
  });
  await desk.report(id, [{ ...held[0], arguments: { text: 'to everybody' } }]);
  await desk.order(MANAGER, 'review', id, 'approve');
  const before = (await desk.noted()).length;
  const { code, lines: said } = await desk.commit(id);
  assert.equal(code, 1);
  assert.match(said[0], /^test\/note#1 refused/);
  assert.equal((await desk.noted()).length, before);
}

async function rework(desk) {
  const id = await desk.atWork();
  const status = () => desk.run('order', 'gateway', id, '--store', desk.store, '--json').then(JSON.parse);
  await desk.with(id, ({ call }) => call('test__note', { text: 'too soon' }));
  await desk.report(id, (await status()).held);
  await desk.order(MANAGER, 'review', id, 'rework', '--reason', 'not this');
  assert.deepEqual((await status()).held, []);
  await desk.with(id, async ({ call }) => {
    assert.equal(text(await call('test__note', { text: 'better' })), 'pending:test/note#2', 'numbering goes on');
  });
  assert.deepEqual((await status()).held.map((held) => held.arguments.text), ['better']);
}

giveUpAfter(240);
await inFolder(async (folder) => {
  const desk = new Desk(folder);
  await desk.configure();
  await step('only what the order allows is there, and held tools say so', () => listsWhatIsAllowed(desk));
  await step('a result comes as it came from the server, and is named', () => resultsPassThrough(desk));
  await step('progress comes through', () => progressPassesThrough(desk));
  await step('another tool, another order of things and another name are refused', () => refusals(desk));
  await step('a person pauses the work and the next call is refused with the reason', () => pausing(desk));
  await step('the budget holds, for two gateways at once too', () => lastUnit(desk));
  await step('after the deadline nothing is called', () => deadline(desk));
  await step('a server that dies, hangs or talks nonsense harms nobody else', () => badServers(desk));
  await step('what was approved is carried out once, with the results of what went before', () => carriedOutOnce(desk));
  await step('killed between claim and outcome it is unknown, and runs again only when allowed', () => killed(desk));
  await step('a report may not alter what was held', () => altered(desk));
  await step('rework drops what was held', () => rework(desk));
  await step('the journal of all this verifies, every decision made again', () => desk.run('journal', 'verify', '--store', desk.store, '--require-decided'));
});
finish();
