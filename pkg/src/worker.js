// Edge workers: they compile wasm beforehand only, so the module comes from the caller.

import { BailiwickError } from './boundary.js';
import { startFrom } from './ready.js';

export * from './api.js';

export async function init(source) {
  if (source === undefined) {
    throw new BailiwickError('not_loaded', 'expected the compiled module: import it from `bailiwick/bailiwick.wasm` and pass it to `init`');
  }
  await startFrom(source);
}

export default init;
