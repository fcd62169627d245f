import type { LedgerVerification } from '@purser/sdk';

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
