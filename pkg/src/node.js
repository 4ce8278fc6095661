// Node, Deno and Bun: ready on import.

import { readFileSync } from 'node:fs';

import { start } from './ready.js';

export * from './api.js';

start(new WebAssembly.Module(readFileSync(new URL('./bailiwick.wasm', import.meta.url))));

export async function init() {}

export default init;
