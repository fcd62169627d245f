import type { LedgerEvent } from '@purser/sdk';
import { shownSha256 } from './signing/hash.ts';

/**
 * The RFC 8785 form of objects, texts and whole numbers, which is all that a ledger entry contains.
 */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}

function bytesOf(hash: string): Uint8Array {
  const hex = hash.replace(/^sha256:/, '');
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** The text that an entry's hash covers, after the bytes of the previous hash. */
export function sealedText({ seq, id, type, subject, occurred_at, data_hash }: LedgerEvent): string {
  return canonical({ seq, id, type, subject, occurred_at, data_hash });
}

/** Computes the hash of a ledger entry in this browser. */
export async function hashOf(event: LedgerEvent): Promise<string> {
  const prev = bytesOf(event.prev_hash);
  const body = new TextEncoder().encode(sealedText(event));
  const bytes = new Uint8Array(prev.length + body.length);
  bytes.set(prev);
  bytes.set(body, prev.length);
  return shownSha256(bytes);
}

/** True if this browser can compute hashes, which needs HTTPS or localhost. */
export const canHash = (): boolean => globalThis.crypto?.subtle !== undefined;
