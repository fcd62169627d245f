import { APIError, type LedgerVerification, TimeoutError } from '@purser/sdk';

const BREAKS: Record<string, string> = {
  ENTRY_ALTERED: 'the entry itself was altered.',
  LINK_BROKEN: 'it does not match the previous entry.',
  GAP: 'an entry is missing here.',
  TRUNCATED: 'the end of the history was cut off.',
  ROW_MISMATCH: 'the stored row does not match the entry.',
  SIGNATURE_INVALID: 'a signature does not prove what it is kept with.',
  SIGNATURE_MISSING: 'an approval that had to be signed is not signed.',
};

/** A kind of break in words. */
export const breakWords = (kind: string): string => BREAKS[kind] ?? kind;

const counted = (n: number, one: string, many: string) =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

/** The result of a verification. It contains the word “valid” only if the history is. */
export function verdictOf(found: LedgerVerification): { title: string; text: string } {
  if (!found.valid) {
    const first = found.breaks[0];
    const at = found.first_break_seq ?? first?.seq ?? found.head.seq;
    const others = found.breaks.length - 1;
    return {
      title: `The history breaks at entry ${at}.`,
      text: [
        first === undefined ? '' : `At entry ${first.seq}, ${breakWords(first.kind)}`,
        others > 0 ? `${counted(others, 'further break was', 'further breaks were')} found.` : '',
        'The database was changed outside the service, or it is damaged. Keep it as it is and compare it with a backup.',
      ]
        .filter((each) => each !== '')
        .join(' '),
    };
  }
  const entries = counted(found.events_checked, 'entry was', 'entries were');
  const checkpoints =
    found.checkpoint === null
      ? 'There is no checkpoint yet, so a truncation would not be detected.'
      : `The chain matches ${counted(found.checkpoint.checked, 'signed checkpoint', 'signed checkpoints')}.`;
  return {
    title: 'The history is valid.',
    text: `${entries} recomputed from the stored rows, and all hashes match. ${checkpoints}`,
  };
}

/**
 * The reason why a verification has no result. Null for errors unrelated to it, such as a lost connection. The texts say
 * nothing for or against the history.
 */
export function unfinishedOf(error: unknown): { title: string; text: string } | null {
  if (error instanceof TimeoutError) {
    return {
      title: 'The verification took too long.',
      text: 'This page stopped waiting. That says nothing about the history. Verify a part of it, only after an entry, or verify an export with “purser ledger verify-file”, which has no time limit.',
    };
  }
  if (error instanceof APIError && error.status === 503) {
    return {
      title: 'The history was not verified.',
      text: 'The service is too busy right now. That says nothing about the history. Try again in a minute.',
    };
  }
  return null;
}
