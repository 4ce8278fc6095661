// Journals as they arrive: chunk by chunk, in memory that does not grow with them.

import { BailiwickError } from './boundary.js';
import { generation, guarded } from './ready.js';
import { Verifier } from './rules.js';

const make = guarded((options) => new Verifier(options));
const push = guarded((verifier, bytes) => verifier.push(bytes));
const finish = guarded((verifier) => verifier.finish());
const entries = guarded((verifier) => verifier.entries);
const bytes = guarded((verifier) => verifier.bytes);
const encoder = new TextEncoder();

export class JournalVerifier {
  #verifier;
  #generation;
  /** The first half of a character that a chunk of text ended in. */
  #half = '';

  constructor(options) {
    this.#verifier = make(options);
    this.#generation = generation;
  }

  push(chunk) {
    push(this.#alive(), this.#bytesOf(chunk));
    return this;
  }

  finish() {
    const verifier = this.#alive();
    if (this.#half !== '') throw new BailiwickError('unpaired_surrogate', 'the text ends within a character');
    return finish(verifier);
  }

  get entries() {
    return entries(this.#alive());
  }

  get bytes() {
    return bytes(this.#alive());
  }

  #alive() {
    if (this.#generation !== generation) {
      throw new BailiwickError('internal', 'this verifier was lost when the module started afresh, begin again');
    }
    return this.#verifier;
  }

  #bytesOf(chunk) {
    if (typeof chunk === 'string') return this.#encoded(this.#half + chunk);
    if (this.#half !== '') throw new BailiwickError('unpaired_surrogate', 'the text ends within a character');
    if (chunk instanceof Uint8Array) return chunk;
    if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
    throw new BailiwickError('invalid_argument', '`chunk` is not of its form, expected bytes or text', { path: '/chunk' });
  }

  #encoded(text) {
    const last = text.charCodeAt(text.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : '';
    const whole = this.#half === '' ? text : text.slice(0, -1);
    if (/\p{Surrogate}/u.test(whole)) {
      throw new BailiwickError('unpaired_surrogate', 'a chunk of text with an unpaired surrogate, expected characters');
    }
    return encoder.encode(whole);
  }
}

export async function verifyJournal(journal, options) {
  const { onProgress, ...rest } = options ?? {};
  const verifier = new JournalVerifier(rest);
  for await (const chunk of chunksOf(journal)) {
    verifier.push(chunk);
    onProgress?.({ entries: verifier.entries, bytes: verifier.bytes });
  }
  return verifier.finish();
}

function chunksOf(journal) {
  if (typeof journal === 'string' || journal instanceof ArrayBuffer || ArrayBuffer.isView(journal)) return [journal];
  if (typeof journal?.stream === 'function') return chunksOf(journal.stream());
  if (typeof journal?.[Symbol.asyncIterator] === 'function' || typeof journal?.[Symbol.iterator] === 'function') return journal;
  if (typeof journal?.getReader === 'function') return read(journal.getReader());
  throw new BailiwickError('invalid_argument', '`journal` is not of its form, expected text, bytes, a stream or chunks', {
    path: '/journal',
  });
}

// Not every browser iterates over a ReadableStream.
async function* read(reader) {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
