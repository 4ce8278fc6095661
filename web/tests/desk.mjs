// A desk under test: `bailiwick serve` on a database of its own, and what a person at the same machine can do beside it.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { program, stop } from '../../crates/server/tests/clients/harness.mjs';

export const OPERATOR = 'human:operator';
export const WORKER = 'agent:worker';
export const MANAGER = 'agent:manager';
const KEYS = {
  [WORKER]: 'key-of-the-worker-0123456789',
  [MANAGER]: 'key-of-the-manager-0123456789',
  [OPERATOR]: 'key-of-the-operator-0123456789',
};

const START_SECONDS = 60;

/** A desk that is not running yet, with its files in `folder`. */
export async function newDesk(folder) {
  const keys = join(folder, 'keys.json');
  const ring = Object.fromEntries(Object.entries(KEYS).map(([who, key]) => [key, who]));
  await writeFile(keys, JSON.stringify({ keys: ring }), { mode: 0o600 });
  return new Desk(join(folder, 'desk.db'), keys);
}

class Desk {
  constructor(database, keys) {
    Object.assign(this, { database, keys, store: `sqlite:${database}`, port: 0 });
  }

  /** Starts the server, at the port of the last time if there was one; resolves to the link that signs the operator in. */
  async start() {
    const args = ['serve', '--json', '--store', this.store, '--port', String(this.port), '--keys', this.keys];
    const server = spawn(program(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.server = server;
    // Whatever happens to us, no server is left behind.
    process.once('exit', () => server.kill('SIGKILL'));
    const ready = await firstLine(server);
    this.origin = ready.address;
    this.port = Number(new URL(ready.address).port);
    this.url = `${this.origin}/mcp`;
    return ready.sign_in;
  }

  /** Asks the server to end, and waits until it has. */
  async stop() {
    await stop(this.server);
  }

  /** Another link that signs the operator in. */
  async signInLink() {
    const said = await this.run('sign-in', '--store', this.store, '--address', this.origin, '--json');
    return JSON.parse(said).sign_in;
  }

  /** Runs the program on the same database; resolves to what it prints. */
  async run(...args) {
    const { stdout } = await promisify(execFile)(program(), args, { maxBuffer: 64 << 20 });
    return stdout;
  }

  /** Calls REST as `agent`; `body` makes it a POST. Resolves to the answer's JSON. */
  async rest(agent, path, body) {
    const headers = { authorization: `Bearer ${this.key(agent)}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await fetch(`${this.origin}/api/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** The key that lets `agent` in. */
  key(agent) {
    return KEYS[agent];
  }
}

/** The first line that a program prints, read as JSON. Everything it says is part of the error if there is none. */
function firstLine(server) {
  let said = '';
  let out = '';
  return new Promise((resolve, reject) => {
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      out += chunk;
      const end = out.indexOf('\n');
      if (end >= 0) resolve(JSON.parse(out.slice(0, end)));
    });
    server.stderr.setEncoding('utf8').on('data', (chunk) => (said += chunk));
    server.on('error', reject);
    server.on('exit', (code, signal) => reject(new Error(`the server ended (${code ?? signal}) and said:\n${said}`)));
    const late = () => reject(new Error(`no address after ${START_SECONDS} s; the server said:\n${said}`));
    setTimeout(late, START_SECONDS * 1000).unref();
  });
}
