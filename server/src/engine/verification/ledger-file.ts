import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readPublicKeys, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { shownHash } from '@purser/rules/domain/ledger';
import type { ApprovalsVerdict } from '@purser/rules/signing/history';
import { type ExportVerdict, makeExportVerifier } from './ledger-export.ts';

const NEWLINE = 0x0a;
/** Longer than any line that the service writes. A longer line is split, and its pieces are reported as damaged. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Verifies an export of the history without service or database. `file` is a path, or `-` for standard input. Memory
 * does not grow with its length. Throws only if the file cannot be read.
 */
export async function verifyLedgerFile(
  file: string,
  keys: readonly VerifyingKey[],
  signer_roots: readonly string[] | null = null,
): Promise<ExportVerdict> {
  const verifier = makeExportVerifier(keys, signer_roots);
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

/** Reads public keys from the argument itself or from the file that it names. Throws TypeError if it is neither. */
export async function findPublicKeys(given: string): Promise<VerifyingKey[]> {
  try {
    return readPublicKeys(given);
  } catch (error) {
    const text = await readFile(given, 'utf8').catch(() => null);
    if (text === null) throw error;
    return readPublicKeys(text);
  }
}

/** Returns the verdict as the JSON of the command line. */
export function verdictBody(verdict: ExportVerdict): Record<string, unknown> {
  const { head } = verdict;
  return { ...verdict, head: { seq: head.seq, hash: shownHash(head.hash) } };
}

/** Returns what is known of signed approvals as sentences; none where the history has neither approvals nor signing keys. */
export function approvalLines({ approvals, signer_roots, roots_pinned }: ApprovalsVerdict): string[] {
  const { signed, verified } = approvals;
  if (signed === 0 && signer_roots.length === 0) return [];
  const whose = roots_pinned ? 'under a root that you named' : 'under the roots of this history itself';
  return [
    `Approvals: ${signed} signed, ${verified} verified ${whose}.`,
    ...signer_roots.map(({ fingerprint, principal_id, from_seq, until_seq, pinned }) => {
      const end = until_seq === null ? 'on' : `to ${until_seq}`;
      const trust = pinned ? 'pinned' : 'not pinned';
      return `Signer root: ${fingerprint} of ${principal_id}, from event ${from_seq} ${end}, ${trust}.`;
    }),
  ];
}

/** Returns the verdict as sentences; the first one has the result. */
export function verdictLines(verdict: ExportVerdict): string[] {
  const {
    valid,
    workspace_id,
    since,
    events_checked,
    withheld,
    head,
    signed_through_seq,
    signed_at,
    breaks,
  } = verdict;
  const span = since === 0 ? '' : ` after event ${since}`;
  const lines = [
    valid
      ? `VALID: the history of ${workspace_id} is unaltered, ${events_checked} events${span}.`
      : `INVALID: the history of ${workspace_id ?? 'this file'} was altered.`,
    `Head: event ${head.seq}, ${shownHash(head.hash)}.`,
    signed_through_seq === null
      ? 'Signed: nothing, with this key.'
      : `Signed: up to event ${signed_through_seq}, at ${signed_at}.`,
  ];
  if (withheld > 0) {
    lines.push(`Withheld: ${withheld} audit records, for which the file has only hashes.`);
  }
  if (valid && signed_through_seq !== null && signed_through_seq < head.seq) {
    lines.push(`Events ${signed_through_seq + 1} to ${head.seq} are consistent, but not signed yet.`);
  }
  return [
    ...lines,
    ...approvalLines(verdict),
    ...breaks.map(({ seq, kind, detail }) => `  event ${seq}  ${kind}  ${detail}`),
  ];
}
