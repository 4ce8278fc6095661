// An MCP server for the gateway's tests: it notes each call of `note` in a file, and behaves badly when it is asked to.

import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const tool = (name) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, 'x-of-ours': { kept: true } });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const CALLS = {
  note: ({ text }) => {
    appendFileSync(file, `${JSON.stringify(text)}\n`);
    return {
      content: [{ type: 'text', text: 'noted' }, { type: 'of-the-future', unknown: [1.50, 12345678901234567000] }],
      structuredContent: { id: text?.id ?? 7 },
      unknownMember: { kept: true },
      _meta: { 'awl/cost': { usd: 0.125, tokens: 10 }, other: 1 },
    };
  },
  fail: () => ({ content: [{ type: 'text', text: 'the mailbox is full' }], isError: true }),
  hang: () => undefined,
  die: () => process.exit(7),
  nonsense: () => 'no object',
  slow: ({ text }) => {
    appendFileSync(file, `${JSON.stringify(text)}\n`);
    return undefined;
  },
};

console.log('this greeting is no message');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1' } } });
  } else if (method === 'tools/list') {
    // Two pages.
    const names = Object.keys(CALLS);
    const half = params.cursor ? names.slice(3) : names.slice(0, 3);
    send({ id, result: { tools: half.map(tool), ...(params.cursor ? {} : { nextCursor: 'more' }) } });
  } else if (method === 'tools/call') {
    const result = CALLS[params.name](params.arguments);
    if (result !== undefined) send({ id, result });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: 'unknown' } });
  }
}
