// What only JavaScript can do where values cross into wasm: read its own objects, and make its own errors.

/** Why a call has no answer. `code` is stable; what a check finds is never an error. */
export class BailiwickError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{path?: string, offset?: number, line?: number, column?: number, cause?: unknown}} [place]
   */
  constructor(code, message, place = {}) {
    super(message, 'cause' in place ? { cause: place.cause } : undefined);
    this.code = code;
    for (const member of ['path', 'offset', 'line', 'column']) {
      if (place[member] !== undefined) this[member] = place[member];
    }
  }
}
Object.defineProperty(BailiwickError.prototype, 'name', { value: 'BailiwickError', configurable: true, writable: true });

// The two builds have a class each. An error of one is an error of the other.
const brand = Symbol.for('bailiwick.error');
Object.defineProperty(BailiwickError.prototype, brand, { value: true });
Object.defineProperty(BailiwickError, Symbol.hasInstance, { value: (value) => value?.[brand] === true });

/** An error from our side. */
export function makeError(code, message, place) {
  return new BailiwickError(code, message, place);
}

/** A value from our JSON text. */
export function readText(text) {
  return JSON.parse(text);
}

/** A name that is passed as a string. */
export function plainText(value, name) {
  if (typeof value !== 'string') {
    throw new BailiwickError('invalid_argument', `\`${name}\` is ${described(value)}, expected a string`, { path: `/${name}` });
  }
  if (!isWellFormed(value)) throw unpaired(`/${name}`);
  return value;
}

/**
 * The JSON text of a value: the value itself if it is a string, which is taken for JSON text; otherwise as
 * `JSON.stringify` writes it, except that nothing is lost on the way. What has no JSON form is an error that says
 * where it is, and a bigint is written in full.
 */
export function writeValue(value, mostBytes, mostDepth) {
  if (typeof value !== 'string') return new Writer(mostBytes, mostDepth).write(value);
  // A text of n UTF-16 code units has at least n bytes.
  if (value.length > mostBytes) throw tooLong(value.length, mostBytes);
  if (!isWellFormed(value)) throw unpaired(undefined);
  return value;
}

class Writer {
  /** Names and indices on the way to the value that is being written. */
  #path = [];
  /** The objects and arrays on that way. */
  #above = [];
  #length = 0;
  #mostBytes;
  #mostDepth;

  constructor(mostBytes, mostDepth) {
    this.#mostBytes = mostBytes;
    this.#mostDepth = mostDepth;
  }

  write(value) {
    const text = this.#value('', value);
    if (text === undefined) throw this.#unsupported(value);
    return text;
  }

  /** `undefined` for an absent value. */
  #value(name, given) {
    const value = this.#plain(name, given);
    switch (typeof value) {
      case 'string':
        if (!isWellFormed(value)) throw unpaired(this.#place());
        return this.#counted(JSON.stringify(value));
      case 'number':
        if (!Number.isFinite(value)) throw this.#unsupported(value);
        return this.#counted(String(value));
      case 'bigint':
        // Beyond 128 bits the reader would round it.
        if (BigInt.asIntN(128, value) !== value) throw this.#fails('number_out_of_range', 'a bigint beyond 128 bits, expected a smaller one');
        return this.#counted(String(value));
      case 'boolean':
        return this.#counted(value ? 'true' : 'false');
      case 'undefined':
        return undefined;
      case 'object':
        return value === null ? this.#counted('null') : this.#compound(value);
      default:
        throw this.#unsupported(value);
    }
  }

  /** What stands for a value: what its `toJSON` gives, and what is in a boxed primitive. */
  #plain(name, given) {
    if (given === null || typeof given !== 'object') return given;
    return this.#guarded(() => {
      const value = typeof given.toJSON === 'function' ? given.toJSON(name) : given;
      const boxed = value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt;
      return boxed ? value.valueOf() : value;
    });
  }

  #compound(value) {
    if (this.#above.includes(value)) throw this.#fails('cyclic_value', 'it contains itself, expected a value that ends');
    if (this.#above.length >= this.#mostDepth) {
      throw this.#fails('too_deep', `nested too deeply, at most ${this.#mostDepth} levels are accepted`);
    }
    const isArray = this.#guarded(() => Array.isArray(value));
    if (!isArray && hasHiddenContent(value)) throw this.#unsupported(value);
    this.#above.push(value);
    const text = isArray ? this.#array(value) : this.#object(value);
    this.#above.pop();
    return text;
  }

  #array(items) {
    const texts = [];
    const length = this.#guarded(() => items.length);
    for (let index = 0; index < length; index++) {
      this.#path.push(index);
      const text = this.#value(String(index), this.#guarded(() => items[index]));
      if (text === undefined) throw this.#unsupported(undefined);
      texts.push(text);
      this.#path.pop();
    }
    this.#length += length + 1;
    return `[${texts.join(',')}]`;
  }

  #object(object) {
    const texts = [];
    for (const name of this.#guarded(() => Object.keys(object))) {
      this.#path.push(name);
      const text = this.#value(name, this.#guarded(() => object[name]));
      if (text !== undefined) {
        if (!isWellFormed(name)) throw unpaired(this.#place());
        const member = `${JSON.stringify(name)}:`;
        this.#length += member.length + 1;
        texts.push(member + text);
      }
      this.#path.pop();
    }
    this.#length += 1;
    return `{${texts.join(',')}}`;
  }

  #counted(text) {
    this.#length += text.length;
    if (this.#length > this.#mostBytes) throw tooLong(this.#length, this.#mostBytes);
    return text;
  }

  /** Runs the caller's code: getters, proxies, `toJSON`. */
  #guarded(run) {
    try {
      return run();
    } catch (cause) {
      const error = this.#fails('unreadable_value', 'reading it threw an error, expected a value that can be read');
      throw Object.assign(error, { cause });
    }
  }

  #unsupported(value) {
    return this.#fails('unsupported_value', `${described(value)} has no JSON form`);
  }

  #fails(code, message) {
    const path = this.#place();
    return new BailiwickError(code, `${path}: ${message}`, { path });
  }

  #place() {
    const steps = this.#path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`);
    return steps.length === 0 ? '/' : shortened(steps.join(''));
  }
}

/** Objects whose content `JSON.stringify` would silently leave out. */
function hasHiddenContent(value) {
  const hidden = [Map, Set, WeakMap, WeakSet, Promise, RegExp, ArrayBuffer];
  return ArrayBuffer.isView(value) || hidden.some((kind) => value instanceof kind);
}

function described(value) {
  if (typeof value === 'number' || value === undefined || value === null) return `\`${value}\``;
  if (typeof value !== 'object') return `a ${typeof value}`;
  return Array.isArray(value) ? 'an array' : 'an object of this kind';
}

function shortened(text) {
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

function isWellFormed(text) {
  return typeof text.isWellFormed === 'function' ? text.isWellFormed() : !/\p{Surrogate}/u.test(text);
}

function unpaired(path) {
  const place = path === undefined ? '' : `${path}: `;
  return new BailiwickError('unpaired_surrogate', `${place}a string with an unpaired surrogate, expected characters`, { path });
}

function tooLong(length, limit) {
  return new BailiwickError('too_long', `the text has at least \`${length}\` bytes, at most ${limit} are accepted`);
}
