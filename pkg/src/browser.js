// Browsers and bundlers: ready after `await init()`.

import { startFrom } from './ready.js';

export * from './api.js';

export async function init(source) {
  // Spelled like this, bundlers know that the file belongs to the module and where it went.
  await startFrom(source ?? new URL('./bailiwick.wasm', import.meta.url));
}

export default init;
