// An agent: the MCP client that agents bring, over HTTP, with its own key.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Connects `name` to the desk. `call(tool, args)` resolves to the tool's value, and fails when the tool refuses. */
export async function connectAgent(desk, name) {
  const client = new Client({ name: 'bailiwick-browser-tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${desk.key(name)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(desk.url), { requestInit }));
  return {
    async call(tool, args) {
      const result = await client.callTool({ name: tool, arguments: args });
      assert.notEqual(result.isError, true, `${tool}: ${JSON.stringify(result.content)}`);
      return result.structuredContent;
    },
    close: () => client.close(),
  };
}
