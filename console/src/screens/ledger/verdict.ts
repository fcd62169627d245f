import { APIError, type LedgerVerification, TimeoutError } from '@purser/sdk';

const BREAKS: Record<string, string> = {
  ENTRY_ALTERED: 'the entry itself was altered.',
  LINK_BROKEN: 'it does not follow from the entry before it.',
  GAP: 'an entry is missing here.',
  TRUNCATED: 'the end of the history was cut off.',
  ROW_MISMATCH: 'the stored row is not what the entry sealed.',
};

/** A kind of break, said plainly. */
export const breakWords = (kind: string): string => BREAKS[kind] ?? kind;

const counted = (n: number, one: string, many: string) =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

/** The result of a verification in plain sentences. The word “valid” stands only where it is. */
export function verdictOf(found: LedgerVerification): { title: string; says: string } {
  if (!found.valid) {
    const first = found.breaks[0];
    const at = found.first_break_seq ?? first?.seq ?? found.head.seq;
    const others = found.breaks.length - 1;
    return {
      title: `The history breaks at entry ${at}.`,
      says: [
        first === undefined ? '' : `At entry ${first.seq}, ${breakWords(first.kind)}`,
        others > 0 ? `${counted(others, 'further break was', 'further breaks were')} found.` : '',
        'Somebody changed the database past the service, or it was damaged: keep it as it is and look at a backup.',
      ]
        .filter((each) => each !== '')
        .join(' '),
    };
  }
  const entries = counted(found.events_checked, 'entry was', 'entries were');
  const checkpoints =
    found.checkpoint === null
      ? 'No checkpoint is kept yet, so a cut-off end would not show.'
      : `The chain agrees with ${counted(found.checkpoint.checked, 'signed checkpoint', 'signed checkpoints')}.`;
  return {
    title: 'The history is valid.',
    says: `${entries} made again from the stored rows, and every hash is what it was. ${checkpoints}`,
  };
}

/**
 * Why a verification came to no result, in plain sentences; null for what is no matter of the verification, such as a
 * connection that broke. None of it speaks for the history or against it.
 */
export function unfinishedOf(error: unknown): { title: string; says: string } | null {
  if (error instanceof TimeoutError) {
    return {
      title: 'The verification took too long.',
      says: 'This page no longer waits for it. That says nothing about the history. Verify a part of it, only after an entry, or verify an export with “purser ledger verify-file”, which takes as long as it takes.',
    };
  }
  if (error instanceof APIError && error.status === 503) {
    return {
      title: 'The history was not verified.',
      says: 'The service has too much to do for it just now. That says nothing about the history: try again in a minute.',
    };
  }
  return null;
}
