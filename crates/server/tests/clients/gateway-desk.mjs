// What the gateway's tests share: a desk with orders at work, MCP servers behind a gateway, and a worker's client before it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { program } from './harness.mjs';

export const MANAGER = 'agent:manager';
export const WORKER = 'agent:worker';
export const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
export const UPSTREAM = new URL('upstream.mjs', import.meta.url).pathname;

export function Desk(folder) {
  this.store = `sqlite:${join(folder, 'desk.db')}`;
  this.notes = join(folder, 'notes.jsonl');
  this.config = join(folder, 'upstream.json');
  this.count = 0;

  this.configure = async (more = {}) => {
    const mcpServers = {
      every: { command: process.execPath, args: [EVERYTHING, 'stdio'] },
      test: { command: process.execPath, args: [UPSTREAM, this.notes] },
      ...more,
    };
    await writeFile(this.config, JSON.stringify({ mcpServers }));
    await writeFile(this.notes, '');
  };

  /** Runs the program; resolves to what it prints, rejects with `code`, `stdout` and `stderr` when the answer is no. */
  this.run = (...args) =>
    new Promise((resolve, reject) => {
      execFile(program(), args, (error, stdout, stderr) => (error ? reject(Object.assign(error, { stdout, stderr })) : resolve(stdout)));
    });

  this.order = async (as, ...args) => JSON.parse(await this.run('order', ...args, '--as', as, '--store', this.store, '--json'));

  /** An order at work; its id. */
  this.atWork = async (changes = {}) => {
    this.count += 1;
    const id = `wo_${this.count}`;
    const order = {
      id,
      to: WORKER,
      goal: 'Tell the list',
      criteria: [{ id: 'told', text: 'The list was told' }],
      budget: { usd: 1, tool_calls: 20 },
      deadline: new Date(Date.now() + 3_600_000).toISOString(),
      tools: ['every/echo', 'every/trigger-long-running-operation', 'test/*'],
      staged: ['test/note', 'test/slow', 'test/fail'],
      ...changes,
    };
    const file = join(folder, `${id}.json`);
    await writeFile(file, JSON.stringify(order));
    await this.order(MANAGER, 'create', file);
    await this.order(WORKER, 'accept', id);
    await this.order(WORKER, 'start', id);
    return id;
  };

  this.report = async (id, effects, toolsUsed = ['test/note']) => {
    const report = {
      status: 'done',
      result: { summary: 'Ready' },
      evidence: [{ criterion: 'told', type: 'note', note: 'see the effects' }],
      cost: { usd: 0, tool_calls: effects.length },
      tools_used: toolsUsed,
      effects,
    };
    const file = join(folder, `${id}-report.json`);
    await writeFile(file, JSON.stringify(report));
    return this.order(WORKER, 'report', id, file);
  };

  this.arguments = (id, ...more) => ['gateway', '--order', id, '--config', this.config, '--store', this.store, ...more];

  /** A worker's client behind the gateway of an order. */
  this.worker = (id, ...more) => connect(new StdioClientTransport({ command: program(), args: this.arguments(id, ...more), stderr: 'ignore' }));

  /** Calls `use` with a worker behind the gateway of an order. */
  this.with = async (id, use, ...more) => {
    const worker = await this.worker(id, ...more);
    try {
      return await use(worker);
    } finally {
      await worker.close();
    }
  };

  /** Carries out what was approved; resolves to `{ code, lines }`. */
  this.commit = async (id) => {
    try {
      return { code: 0, lines: lines(await this.run(...this.arguments(id, '--commit'))) };
    } catch (error) {
      return { code: error.code, lines: lines(error.stdout) };
    }
  };

  this.noted = async () => lines(await readFile(this.notes, 'utf8')).map((line) => JSON.parse(line));
}

export const lines = (text) => text.split('\n').filter((line) => line !== '');
export const text = (result) => result.content[0].text;
export const refused = (result) => {
  assert.equal(result.isError, true, JSON.stringify(result));
  return JSON.parse(text(result));
};

/** A client that asks in the raw: its own methods drop or refuse what they don't know. */
export async function connect(transport) {
  const client = new Client({ name: 'bailiwick-gateway-test', version: '1.0.0' });
  await client.connect(transport);
  const ask = (method, params, options) => client.request({ method, params }, ResultSchema, options);
  return {
    ask,
    client,
    list: async () => (await ask('tools/list', {})).tools,
    call: (name, args = {}, options, _meta) => ask('tools/call', { name, arguments: args, ...(_meta ? { _meta } : {}) }, options),
    close: () => client.close(),
  };
}
