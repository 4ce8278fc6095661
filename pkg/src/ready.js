// When the module is ready, and how it starts afresh.
//
// The rules cannot panic and their recursion is bounded, so a call should always return. Should one end otherwise, at a trap
// or because the caller's stack was nearly used up, then wasm memory is in no known state. The call fails with code
// `internal`, and the next one begins by instantiating the module again from what is compiled already. The rules keep
// nothing between calls, so nobody else notices; only a journal verifier that was at work is lost, and says so.

import load, { __wbg_reset_state as restart, initSync } from './rules.js';
import { BailiwickError } from './boundary.js';

let ready = false;
let broken = false;
let loading;
/** Rises whenever the module breaks. */
export let generation = 0;

/** Makes the module ready from what is there. */
export function start(module) {
  initSync({ module });
  ready = true;
}

/** Makes the module ready from an address, a response, bytes or a compiled module. Done once, however often it is called. */
export async function startFrom(source) {
  if (ready) return;
  loading ??= load({ module_or_path: source });
  try {
    await loading;
    ready = true;
  } catch (cause) {
    loading = undefined;
    throw new BailiwickError('not_loaded', `the wasm module could not be loaded: ${cause?.message ?? cause}`, { cause });
  }
}

/** A function of the module that says so when the module is not ready, and never leaves it broken. */
export function guarded(call) {
  return function (...args) {
    if (!ready) throw new BailiwickError('not_ready', 'the module is not loaded yet, call `await init()` first');
    if (broken) {
      restart();
      broken = false;
    }
    try {
      return call(...args);
    } catch (cause) {
      if (cause instanceof BailiwickError) throw cause;
      broken = true;
      generation += 1;
      throw new BailiwickError('internal', `the call ended in the middle: ${cause?.message ?? cause}`, { cause });
    }
  };
}
