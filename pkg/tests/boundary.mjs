// Whatever is passed in: an answer or a typed error, and the next call works.

import assert from 'node:assert/strict';

import { BUILDS, check, finish } from './harness.mjs';

for (const build of BUILDS) {
  const api = await import(`../dist/${build}/node.js`);
  const { BailiwickError } = api;
  const order = api.workOrderSchema.examples[0];
  const report = api.workReportSchema.examples[0];
  const here = (name, run) => check(`${build}: ${name}`, run);
  const fails = (run, code, more = {}) =>
    assert.throws(run, (error) => {
      assert.ok(error instanceof BailiwickError && error instanceof Error, `${error}`);
      assert.equal(error.name, 'BailiwickError');
      assert.equal(error.code, code, error.message);
      for (const [name, value] of Object.entries(more)) assert.equal(error[name], value, `${name}: ${error.message}`);
      return true;
    });

  await here('the published examples are in order', () => {
    assert.deepEqual(api.validateOrder(order), { findings: [], skipped: [] });
    assert.deepEqual(api.validateReport(report, order), { findings: [], skipped: [] });
    assert.equal(api.isWorkOrder(order) && api.isWorkReport(JSON.stringify(report)), true);
    assert.equal(api.isWorkOrder(report) || api.isWorkOrder('{') || api.isWorkReport(() => 0), false);
  });

  await here('what JSON.stringify would lose is an error with its place', () => {
    const cyclic = { a: [{}] };
    cyclic.a[0].b = cyclic;
    fails(() => api.validateOrder({ budget: { usd: NaN } }), 'unsupported_value', { path: '/budget/usd' });
    fails(() => api.validateOrder({ a: [1, -Infinity] }), 'unsupported_value', { path: '/a/1' });
    fails(() => api.validateOrder({ 'a/b': () => 1 }), 'unsupported_value', { path: '/a~1b' });
    fails(() => api.validateOrder({ a: Symbol('s') }), 'unsupported_value', { path: '/a' });
    fails(() => api.validateOrder({ a: [undefined] }), 'unsupported_value', { path: '/a/0' });
    fails(() => api.validateOrder(undefined), 'unsupported_value', { path: '/' });
    fails(() => api.validateOrder({ a: new Map([[1, 2]]) }), 'unsupported_value', { path: '/a' });
    fails(() => api.validateOrder({ a: new Uint8Array(3) }), 'unsupported_value', { path: '/a' });
    fails(() => api.validateOrder(cyclic), 'cyclic_value', { path: '/a/0/b' });
    fails(() => api.validateOrder({ goal: 'x\ud800' }), 'unpaired_surrogate', { path: '/goal' });
    fails(() => api.validateOrder({ 'x-\udc00': 1 }), 'unpaired_surrogate');
    fails(() => api.validateOrder({ a: 2n ** 127n }), 'number_out_of_range', { path: '/a' });
    fails(() => api.validateOrder({ get a() { throw new Error('no'); } }), 'unreadable_value', { path: '/a' });
    fails(() => api.validateOrder(new Proxy({}, { ownKeys() { throw new Error('no'); } })), 'unreadable_value');
    fails(() => api.validateOrder({ toJSON() { throw new Error('no'); } }), 'unreadable_value');
  });

  await here('objects are read as JSON.stringify does', () => {
    assert.equal(api.canonicalize({ b: undefined, a: new Date(0), c: { toJSON: () => [1] }, d: Object(2), e: -0 }), '{"a":"1970-01-01T00:00:00.000Z","c":[1],"d":2,"e":0}');
    assert.equal(api.canonicalize(JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}');
    assert.equal(api.canonicalize(Object.create(null, { a: { value: 1, enumerable: true }, b: { value: 2 } })), '{"a":1}');
    assert.equal(api.canonicalize('{"€":1,"\\u0080":"\\u000f","1":1e21}'), '{"1":1e+21,"\u0080":"\\u000f","€":1}');
  });

  await here('large integers stay what they are, as text and as bigint', () => {
    const dear = (tokens) => api.validateReport({ ...report, cost: { usd: 0, tool_calls: 0, tokens } }, { ...order, budget: { usd: 1, tool_calls: 1, tokens: 2n ** 60n } });
    assert.deepEqual(dear(2n ** 60n).findings, []);
    assert.equal(dear(2n ** 60n + 1n).findings[0].message, 'spent 1152921504606846977 tokens of 1152921504606846976');
    const text = JSON.stringify(order).replace('"usd":0.3', '"usd":0.3,"tokens":9007199254740993');
    assert.deepEqual(api.validateOrder(text).findings, []);
  });

  await here('text says where it is wrong', () => {
    fails(() => api.validateOrder('{"ä": 1,\n "b": tru}'), 'unexpected_text', { offset: 15, line: 2, column: 7 });
    fails(() => api.validateOrder(new TextEncoder().encode('{"ä": 1,\n "b": tru}')), 'unexpected_text', { offset: 16, line: 2 });
    fails(() => api.validateOrder(new Uint8Array([0x22, 0xff, 0x22])), 'invalid_utf8', { offset: 1 });
    fails(() => api.validateOrder('"\ud800"'), 'unpaired_surrogate');
    fails(() => api.validateOrder('{"a":1,"a":2}', { duplicates: 'refuse' }), 'duplicate_name', { offset: 7 });
    assert.ok(api.validateOrder('{"a":1,"a":2}').findings.length > 0);
    fails(() => api.canonicalize('{"a":1,"a":2}'), 'duplicate_name');
    fails(() => api.validateOrder(order, { duplicates: 'first' }), 'invalid_argument');
    fails(() => api.validateOrder(order, { duplicate: 'refuse' }), 'invalid_argument');
    fails(() => api.validateOrder(order, 7), 'invalid_argument');
  });

  await here('limits hold, and nothing overflows', () => {
    const nested = (levels) => Array.from({ length: levels }).reduce((inner) => ({ a: inner }), 1);
    assert.ok(api.validateOrder(nested(127)).findings.length > 0);
    fails(() => api.validateOrder(nested(129)), 'too_deep');
    fails(() => api.validateOrder(nested(100_000)), 'too_deep');
    fails(() => api.validateOrder('['.repeat(3_000_000)), 'too_deep');
    fails(() => api.validateOrder('x'.repeat((4 << 20) + 1)), 'too_long');
    fails(() => api.validateOrder({ a: 'x'.repeat(5 << 20) }), 'too_long');
    fails(() => api.validateOrder(new Uint8Array(5 << 20)), 'too_long');
    assert.ok(api.validateOrder({ ...order, tools: Array(100_000).fill('a/b') }).findings.length === 2);
    fails(() => api.validateOrder({ ...order, tools: Array(100_001).fill('a/b') }), 'too_many_members');
    fails(() => api.validateOrder(Array(10_000_000).fill('some text that is long enough')), 'too_long');
    fails(() => api.verifyPage({ epoch_id: '', rows: nested(600), head_sequence: 1, head_hash: '' }), 'too_deep');
  });

  await here('helpers check their arguments', () => {
    assert.equal(api.toolAllowed('a/b', ['a/*']) && !api.patternCovered('a/*', ['a/b']), true);
    fails(() => api.toolAllowed(7, []), 'invalid_argument', { path: '/name' });
    fails(() => api.toolAllowed('a/b', [1]), 'invalid_argument', { path: '/patterns' });
    fails(() => api.nextState('resting', 'accept'), 'invalid_argument', { path: '/state' });
    assert.equal(api.nextState('offered', 'accept'), 'accepted');
    assert.equal(api.nextState('offered', 'approve'), undefined);
    assert.deepEqual(api.allowedActions('blocked'), ['answer', 'cancel', 'expire']);
    assert.deepEqual(api.STATES.filter((state) => api.isTerminal(state)), api.TERMINAL_STATES);
    assert.ok(Object.isFrozen(api.STATES) && Object.isFrozen(api.workOrderSchema.properties.id));
    assert.equal(api.ROLE_FOR.approve, 'manager');
    assert.deepEqual(api.effectReferences({ b: [{ $ref: 'x/y#1' }] }), [{ ref: 'x/y#1', pointer: '', path: '/b/0' }]);
    const record = { order, state: 'working', events: [{ seq: 3 }] };
    assert.equal(api.summarize(record).last_seq, 3);
    assert.equal(api.lastSeq(record), 3);
    fails(() => api.lastSeq({}), 'invalid_argument');
    assert.equal(api.orderSpecFor(order), 'awl/work-order@0.4');
    assert.equal(api.reportSpecFor({}), 'awl/work-report@0.1');
    assert.equal(api.hasInvalid(api.validateOrder({})), true);
    assert.equal(api.hasInvalid([]), false);
    fails(() => api.hasInvalid([{ rule: 'Z9' }]), 'invalid_argument');
    assert.deepEqual(api.heldBySubOrders([{ order, state: 'offered' }, { order, state: 'declined' }]), { usd: 0.3, tool_calls: 6 });
    fails(() => api.heldBySubOrders([{ order, state: 'gone' }]), 'invalid_argument', { path: '/subOrders' });
    fails(() => api.verifyInclusion({}), 'invalid_argument');
    fails(() => api.verifyInclusion({ index: 2, size: 1, leaf: '0'.repeat(64), path: [], root: '0'.repeat(64) }), 'index_beyond_tree');
    fails(() => api.leafHash('text'), 'invalid_argument');
  });

  await here('an output schema is evaluated, or said to be skipped', () => {
    const found = api.validateOrder({ ...order, output_schema: { type: 'nonsense' } });
    if (build === 'full') assert.equal(found.findings[0].rule, 'O4');
    else assert.deepEqual(found, { findings: [], skipped: ['O4'] });
  });

  await here('journals come in any form', async () => {
    const { readFileSync, createReadStream } = await import('node:fs');
    const file = new URL('../../conformance/journal/exports.json', import.meta.url);
    const text = JSON.parse(readFileSync(file, 'utf8')).cases[0].lines.map((line) => `${line}\n`).join('');
    const bytes = new TextEncoder().encode(text);
    const whole = await api.verifyJournal(text);
    assert.equal(whole.ok && whole.checked_events, 3);
    const pieces = (size) => Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
    const stream = new ReadableStream({ pull(controller) { controller.enqueue(bytes); controller.close(); } });
    for (const form of [bytes, bytes.buffer, new DataView(bytes.buffer), pieces(1), pieces(7), [bytes], stream, new Blob([bytes]), new Blob([bytes]).stream(), (async function* () { yield* pieces(100); })()]) {
      assert.deepEqual(await api.verifyJournal(form), whole);
    }
    const seen = [];
    await api.verifyJournal(pieces(500), { onProgress: (progress) => seen.push(progress.bytes) });
    assert.equal(seen.at(-1), bytes.length);
    assert.ok((await api.verifyJournal(createReadStream(file)).catch((error) => error)) instanceof BailiwickError);
    assert.equal((await api.verifyJournal(text, { workspace_id: 'other' })).failure, 'workspace_not_found');
    for (const wrong of [undefined, null, 7, {}, [7], Symbol.iterator]) {
      const error = await api.verifyJournal(wrong).then(() => undefined, (error) => error);
      assert.equal(error?.code, 'invalid_argument', String(wrong));
    }
    const verifier = new api.JournalVerifier().push('\ud83d');
    fails(() => verifier.push(bytes), 'unpaired_surrogate');
    fails(() => new api.JournalVerifier().push('\udc00'), 'unpaired_surrogate');
    fails(() => new api.JournalVerifier().finish(), 'export_empty');
    fails(() => new api.JournalVerifier({ decisions: true }), 'invalid_argument');
    const done = new api.JournalVerifier().push(text);
    assert.equal(done.entries, 3);
    done.finish();
    fails(() => done.push(text), 'verifier_finished');
    fails(() => done.finish(), 'verifier_finished');
    if (build === 'small') fails(() => new api.JournalVerifier({ decisions: 'again' }), 'invalid_argument');
    else assert.ok((await api.verifyJournal(text, { decisions: 'again' })).decisions);
  });

  await here('a thousand abandoned verifiers need no care', () => {
    for (let at = 0; at < 1000; at++) new api.JournalVerifier().push('{"format":');
  });

  await here('random values give an answer or a typed error', () => {
    const random = generator(0x5eed);
    const calls = Object.entries(api).filter(([name, value]) => typeof value === 'function' && !/^(init|default|BailiwickError|JournalVerifier|verifyJournal)$/.test(name));
    for (let round = 0; round < 20_000; round++) {
      const [name, call] = calls[random(calls.length)];
      const values = Array.from({ length: random(5) }, () => value(random, 0, [order, report]));
      try {
        call(...values);
      } catch (error) {
        assert.ok(error instanceof BailiwickError, `${name}: ${error?.stack}`);
        assert.notEqual(error.code, 'internal', `${name}: ${error.message}`);
      }
    }
    assert.deepEqual(api.validateOrder(order).findings, []);
  });

  await here('a call without stack left is an error, and the next one works', () => {
    const survivors = new api.JournalVerifier();
    const codes = new Set();
    (function deeper() {
      try {
        deeper();
      } catch {
        // Too deep for more: the rules run here with next to no stack.
      }
      try {
        api.validateOrder(order);
      } catch (error) {
        codes.add(error instanceof BailiwickError ? error.code : error.constructor.name);
      }
    })();
    assert.deepEqual([...codes].filter((code) => !['internal', 'RangeError', 'unreadable_value'].includes(code)), []);
    assert.deepEqual(api.validateOrder(order).findings, []);
    if (codes.has('internal')) fails(() => survivors.push('x'), 'internal');
    assert.deepEqual(new api.JournalVerifier().push('').bytes, 0);
  });
}

finish();

/** Values of every kind, and pieces of documents that are nearly right. */
function value(random, depth, documents) {
  const inner = () => value(random, depth + 1, documents);
  const kinds = [
    () => null,
    () => undefined,
    () => random(2) === 0,
    () => [0, -0, 1.5, NaN, Infinity, 1e308, 2 ** 53, -1, 4294967296][random(9)],
    () => BigInt(random(1000)) ** BigInt(random(20)),
    () => ['', 'a/b', '*', '{}', '[1,2]', '"x"', 'null', '\ud800', 'é', '{"a":', 'offered', 'accept', '0'.repeat(64)][random(13)],
    () => String.fromCharCode(...Array.from({ length: random(8) }, () => random(65536))),
    () => Symbol('s'),
    () => () => 1,
    () => new Date(random(2) ? 0 : NaN),
    () => new Map(),
    () => Uint8Array.from({ length: random(6) }, () => random(256)),
    () => structuredClone(documents[random(documents.length)]),
    () => JSON.stringify(documents[random(documents.length)]),
    () => Object.create(null),
    () => Object(random(5)),
    () => new Proxy({}, { get: () => random(9), ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) }),
  ];
  if (depth < 4) {
    kinds.push(
      () => Array.from({ length: random(4) }, inner),
      () => Object.fromEntries(Array.from({ length: random(4) }, () => [['order', 'state', 'events', 'seq', 'findings', '__proto__', 'x-a'][random(7)], inner()])),
      () => {
        const document = structuredClone(documents[random(documents.length)]);
        const names = Object.keys(document);
        document[names[random(names.length)]] = inner();
        return document;
      },
    );
  }
  return kinds[random(kinds.length)]();
}

/** The same numbers from the same seed: xorshift. */
function generator(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
