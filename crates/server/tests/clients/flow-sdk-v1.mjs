// The flow through the older SDK, which speaks the last revision that has `initialize`.

import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { drive } from './harness.mjs';

async function connect({ command, args, url, key }) {
  const client = new Client({ name: 'bailiwick-flow-v1', version: '1.0.0' });
  const transport = command
    ? new StdioClientTransport({ command, args, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } });
  await client.connect(transport);
  assert.ok(client.getServerVersion()?.version, 'the server names its version');
  return {
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

await drive('SDK v1', connect);
