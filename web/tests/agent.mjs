// An agent: the MCP client that agents bring, over HTTP, with its own key.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/**
 * Connects `name` to the desk. `call(tool, args)` resolves to the tool's value, and fails when the tool refuses. A call that
 * waits for news may be left alone when a check before it fails.
 */
export async function connectAgent(desk, name) {
  const client = new Client({ name: 'bailiwick-browser-tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${desk.key(name)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(desk.url), { requestInit }));
  const ask = async (tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args });
    assert.notEqual(result.isError, true, `${tool}: ${JSON.stringify(result.content)}`);
    return result.structuredContent;
  };
  return {
    call(tool, args) {
      const answer = ask(tool, args);
      answer.catch(() => {});
      return answer;
    },
    close: () => client.close(),
  };
}
