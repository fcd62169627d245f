import { readSoFar } from '@purser/rules/purpose/language/text';
import type { Read } from '@purser/rules/values/slices';

/**
 * Work that was done, and its price: what it costs of the event loop in milliseconds, as counted work times a constant that
 * was measured once. No clock is read, so loading, garbage collection and a busy machine are nobody's debt.
 */
export interface Priced<T> {
  result: T;
  price: number;
}

/** The price of what nothing tells in advance. */
export const TURN = 0.5;
/** A message to `/mcp` besides the routes that it calls, which is mostly the protocol's library. */
export const MESSAGE = 0.7;

const ASSESSMENT = 0.04;
const WORD = 1e-3;
const CHARACTER = 0.05e-3;

/** Assesses. The price is that of the words that were looked up and the characters that were read. */
export function assessed<T>(assess: () => T): Priced<T> {
  const { words, characters } = readSoFar();
  const result = assess();
  const now = readSoFar();
  const price = ASSESSMENT + (now.words - words) * WORD + (now.characters - characters) * CHARACTER;
  return { result, price };
}

/**
 * The price of an answer: 0.4 to 1 ms, and 15 ns of the service for each byte that is read, written as JSON and sent, and 4 of
 * PostgreSQL.
 */
export const ofAnswer = (bytes: number): number => 1 + bytes * 20e-6;

/** The price of an answer that is bytes already. */
export const ofBytes = (bytes: number): number => 0.4 + bytes * 1e-6;

/** The price of a body besides its assessment: parsed, hashed, written as a document and sent to the database. */
export const ofBody = (bytes: number): number => bytes * 50e-6;

/** The price of what background work has read in the database, and done with it here. */
export const ofRead = ({ rows, bytes }: Read): number => rows * 0.05 + bytes * 4e-6;
