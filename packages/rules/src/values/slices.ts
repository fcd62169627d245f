import { setImmediate } from 'node:timers/promises';

/** Lets other work come in between two slices: by default with a turn of the event loop. */
export type Pause = () => unknown;

/** Counted work of the database: rows that were read, and the bytes of the long texts in them. */
export interface Read {
  rows: number;
  bytes: number;
}

/** The length of all these texts. */
export const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);

/** How background work comes in between requests. */
export interface BackgroundTurns {
  pause: Pause;
  /** Does a piece of work that is mostly the database's when its turn comes; `readBy` says what it has read. */
  aside: <T>(work: () => Promise<T>, readBy: (result: T) => Read) => Promise<T>;
}

/** The turns of a process that does nothing else. */
export const ALONE: BackgroundTurns = { pause: () => {}, aside: (work) => work() };

/** So many characters are read or written at a time, which takes some 0.3 ms. */
const SLICE_LENGTH = 65_536;

/**
 * `items.map(work)` with turns of the event loop for other work in between. `sizeOf`: how many characters a piece of work has
 * read or written.
 */
export async function mapInSlices<T, R>(
  items: readonly T[],
  work: (item: T) => R,
  sizeOf: (item: T, result: R) => number,
  pause: Pause = setImmediate,
): Promise<R[]> {
  const results: R[] = [];
  let size = 0;
  for (const item of items) {
    if (size >= SLICE_LENGTH) {
      await pause();
      size = 0;
    }
    const result = work(item);
    results.push(result);
    size += sizeOf(item, result);
  }
  return results;
}

/** The lines of `items`, written as `mapInSlices` does it. */
export const linesInSlices = <T>(
  items: readonly T[],
  lineOf: (item: T) => string,
  pause?: Pause,
): Promise<string[]> => mapInSlices(items, lineOf, (_, line) => line.length, pause);

/** The JSON of an object in pieces: each element of a list that is one of its values is a piece of its own. */
function* jsonPieces(body: object): Generator<string, void, void> {
  let before = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (!Array.isArray(value)) {
      yield JSON.stringify(value);
      continue;
    }
    yield '[';
    for (let i = 0; i < value.length; i++) {
      yield `${i === 0 ? '' : ','}${JSON.stringify(value[i]) ?? 'null'}`;
    }
    yield ']';
  }
  yield before === '{' ? '{}' : '}';
}

/**
 * Joins pieces of a text. A long one is made in slices, with turns of the event loop for other work in between, and comes as the
 * slices' bytes in UTF-8, so that it is never one long text and nothing is copied twice.
 */
export async function inSlices(pieces: Iterable<string>): Promise<string | Buffer[]> {
  const slices: Buffer[] = [];
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < SLICE_LENGTH) continue;
    slices.push(Buffer.from(text));
    text = '';
    await setImmediate();
  }
  return slices.length === 0 ? text : [...slices, Buffer.from(text)];
}

/** `JSON.stringify` of an object of plain values, as `inSlices` gives it. */
export const jsonInSlices = (body: object): Promise<string | Buffer[]> => inSlices(jsonPieces(body));
