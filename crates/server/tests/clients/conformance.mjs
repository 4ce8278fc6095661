// The public MCP conformance suite against the program, for both revisions that it speaks.
//
// Only the scenarios that need no fixture are run: the others call tools, prompts and resources with fixed names that no
// product has. The suite sends no credential, so the server runs in open mode, on loopback. What a scenario asks for beyond
// that is excused, check by check and with the reason, in `conformance-REVISION.yml`; an excuse that is no longer needed fails.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { finish, giveUpAfter, inFolder, serve, step } from './harness.mjs';

const SCENARIOS = {
  '2025-11-25': [
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ],
};

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SUITE = join(HERE, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const RUN_SECONDS = 300;

async function scenario(url, revision, name) {
  const args = [SUITE, 'server', '--url', url, '--spec-version', revision, '--scenario', name];
  args.push('--expected-failures', join(HERE, `conformance-${revision}.yml`));
  try {
    await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    throw new Error(`the scenario ended with ${error.code}\n${telling(`${error.stdout}\n${error.stderr}`)}`);
  }
}

// Of a scenario's output, which repeats every message in full, the lines that say what is wrong.
function telling(output) {
  const lines = output.replaceAll(/\x1b\[\d*m/g, '').split('\n');
  return lines.filter((line) => /\b(FAILURE|WARNING)\b|^ *[✗✓~] |^ *Error: /.test(line)).map((line) => line.slice(0, 400)).join('\n');
}

giveUpAfter(RUN_SECONDS);
await inFolder(async (folder) => {
  let server;
  if (!(await step('the server starts in open mode', async () => void (server = await serve(folder, '--open'))))) return;
  for (const [revision, names] of Object.entries(SCENARIOS)) {
    for (const name of names) await step(`${revision}: ${name}`, () => scenario(server.url, revision, name));
  }
  await step('the server stops when asked to', () => server.stop());
});
finish();
