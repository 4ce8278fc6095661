// The flow through the newer client, which speaks the newest revision: no `initialize`, every request on its own.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { drive } from './harness.mjs';

const REVISION = '2026-07-28';

async function connect({ command, args, url, key }) {
  const client = new Client({ name: 'bailiwick-flow-v2', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const transport = command
    ? new StdioClientTransport({ command, args, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } });
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), REVISION);
  return {
    list: async () => (await client.listTools(undefined, { cacheMode: 'bypass' })).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

await drive('client v2', connect);
