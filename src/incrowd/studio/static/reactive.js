/**
 * A small reactive store: a signal holds a value, an effect runs again when a signal that it read has changed.
 * Effects run together, once, after the code that changed something is through.
 */

/** @typedef {{run: () => void, sources: Set<Set<Effect>>, stopped: boolean}} Effect */

let running = /** @type {Effect | null} */ (null);
const waiting = /** @type {Set<Effect>} */ (new Set());

/**
 * `get` reads it and has a running effect told of changes, `peek` only reads it.
 * @template T
 * @typedef {{get: () => T, peek: () => T, set: (value: T) => void, update: (change: (value: T) => T) => void}} Signal
 */

/**
 * Make a signal.
 * @template T
 * @param {T} value
 * @returns {Signal<T>}
 */
export function signal(value) {
  const readers = /** @type {Set<Effect>} */ (new Set());
  const own = {
    get() {
      if (running) {
        readers.add(running);
        running.sources.add(readers);
      }
      return value;
    },
    peek: () => value,
    set(/** @type {T} */ next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const reader of readers) wake(reader);
    },
    update: (/** @type {(value: T) => T} */ change) => own.set(change(value)),
  };
  return own;
}

/** @param {Effect} one */
function wake(one) {
  if (waiting.size === 0) queueMicrotask(flush);
  waiting.add(one);
}

function flush() {
  const now = [...waiting];
  waiting.clear();
  for (const one of now) if (!one.stopped) one.run();
}

/** Run a function now, and again when what it read has changed, until it is stopped. @param {() => void} work */
export function effect(work) {
  /** @type {Effect} */
  const own = {
    sources: new Set(),
    stopped: false,
    run() {
      forget();
      const outer = running;
      running = own;
      try {
        work();
      } finally {
        running = outer;
      }
    },
  };
  const forget = () => {
    for (const readers of own.sources) readers.delete(own);
    own.sources.clear();
  };
  own.run();
  return {
    again: () => wake(own),
    stop() {
      own.stopped = true;
      waiting.delete(own);
      forget();
    },
  };
}
