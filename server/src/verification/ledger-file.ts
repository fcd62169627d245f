import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readPublicKeys, type VerifyingKey } from '../domain/checkpoints.ts';
import { shownHash } from '../domain/ledger.ts';
import { type ExportVerdict, makeExportVerifier } from './ledger-export.ts';

const NEWLINE = 0x0a;
/** Longer than any line that the service writes: what is longer is read as several that mean nothing. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Verifies an export of the history, with no service and no database. `file` is a path, or `-` for standard input.
 * Memory does not grow with it. Throws only when it cannot be read.
 */
export async function verifyLedgerFile(file: string, keys: readonly VerifyingKey[]): Promise<ExportVerdict> {
  const verifier = makeExportVerifier(keys);
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of input) {
    let from = 0;
    for (;;) {
      const at = chunk.indexOf(NEWLINE, from);
      if (at === -1) break;
      verifier.line(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      length = 0;
      from = at + 1;
    }
    rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > MAX_LINE_BYTES) {
      verifier.line(Buffer.concat(rest));
      rest = [];
      length = 0;
    }
  }
  return verifier.end(Buffer.concat(rest));
}

/** Public keys given as themselves or as the file that holds them. Throws TypeError when it is neither. */
export async function findPublicKeys(given: string): Promise<VerifyingKey[]> {
  try {
    return readPublicKeys(given);
  } catch (error) {
    const text = await readFile(given, 'utf8').catch(() => null);
    if (text === null) throw error;
    return readPublicKeys(text);
  }
}

/** The verdict as the command line's JSON. */
export function verdictBody(verdict: ExportVerdict): Record<string, unknown> {
  const { head } = verdict;
  return { ...verdict, head: { seq: head.seq, hash: shownHash(head.hash) } };
}

/** The verdict in plain sentences, the first of which says all. */
export function verdictLines(verdict: ExportVerdict): string[] {
  const { valid, workspace_id, since, events_checked, head, signed_through_seq, signed_at, breaks } = verdict;
  const span = since === 0 ? '' : ` after event ${since}`;
  const lines = [
    valid
      ? `VALID: the history of ${workspace_id} is as it was written, ${events_checked} events${span}.`
      : `INVALID: the history of ${workspace_id ?? 'this file'} is not as it was written.`,
    `Head: event ${head.seq}, ${shownHash(head.hash)}.`,
    signed_through_seq === null
      ? 'Signed: nothing, with this key.'
      : `Signed: up to event ${signed_through_seq}, at ${signed_at}.`,
  ];
  if (valid && signed_through_seq !== null && signed_through_seq < head.seq) {
    lines.push(`Events ${signed_through_seq + 1} to ${head.seq} hang together, but are not signed yet.`);
  }
  return [...lines, ...breaks.map(({ seq, kind, detail }) => `  event ${seq}  ${kind}  ${detail}`)];
}
