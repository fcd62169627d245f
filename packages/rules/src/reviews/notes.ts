import type { Note } from '@purser/contract/reviews/note';
import { recordHash } from '../domain/ledger.ts';

/** The `data_hash` of a note: SHA-256 of its RFC 8785 form. */
export function noteDataHash(note: Note): Buffer {
  return recordHash({ ...note });
}
