import type { Authority } from '@purser/contract/authority';
import type { Aims } from '@purser/rules/history/proposal-numbers';
import {
  type Draft,
  firstDraft,
  isReached,
  nextRelaxation,
  type ProposedField,
  proposedFields,
  type Relaxation,
  relaxed,
} from '@purser/rules/history/propose';
import {
  LineReplay,
  type LineReplayOptions,
  type LineReplayResult,
  type ReplayedLine,
} from '@purser/rules/history/replay-lines';

/** Lets other replays of the thread have their turn. */
export type NextTurn = () => Promise<void>;

/** Lines that are replayed as one turn: some milliseconds. */
const LINES_AT_ONCE = 200;

/** Replays lines, in turns. The first `prepares` of them are not counted. */
export async function replayDraft(
  lines: readonly ReplayedLine[],
  options: LineReplayOptions,
  nextTurn: NextTurn,
  prepares = 0,
): Promise<LineReplayResult> {
  const replay = new LineReplay(options);
  for (const [i, line] of lines.entries()) {
    if (i % LINES_AT_ONCE === 0) await nextTurn();
    replay.take(line, i >= prepares);
  }
  return replay.result();
}

/** The lines that a proposal is made from. */
export interface ProposalInput {
  /** In the order of their times, other currencies and refunds included. */
  lines: readonly ReplayedLine[];
  /** Those of them that are spends in the currency of `base`. */
  spends: readonly ReplayedLine[];
  /** The authority whose other fields stay. */
  base: Authority;
  /** The authority to compare with; null: there is none. */
  current: Authority | null;
  aims: Aims;
}

type Known = Omit<LineReplayOptions, 'draft'>;

interface Tried {
  draft: Draft;
  replay: LineReplayResult;
  steps: Relaxation[];
}

/** Makes a draft from lines and relaxes it until it keeps what is wanted, or nothing helps. */
async function draftFrom(
  spends: readonly ReplayedLine[],
  { base, aims }: Pick<ProposalInput, 'base' | 'aims'>,
  replayOf: (draft: Authority) => Promise<LineReplayResult>,
): Promise<Tried> {
  if (spends.length === 0) {
    const draft = { authority: base, values: [] };
    return { draft, replay: await replayOf(base), steps: [] };
  }
  let draft = firstDraft(spends, base, aims);
  let replay = await replayOf(draft.authority);
  const steps: Relaxation[] = [];
  while (!isReached(replay, aims)) {
    const step = nextRelaxation(draft, replay);
    if (step === null) break;
    steps.push(step);
    draft = relaxed(draft, step);
    replay = await replayOf(draft.authority);
  }
  return { draft, replay, steps };
}

/** An authority made from lines, with its reasons, and what it would have done. */
export interface Proposed {
  authority: Authority;
  fields: ProposedField[];
  replay: { saved: false } & LineReplayResult;
  check: { lines: number; allow_share: number };
  reached: boolean;
  relaxed: Relaxation[];
}

/** Makes a proposal from lines. `check` is that of one from the first four fifths of the spends, tried on the last fifth. */
export async function propose(input: ProposalInput, known: Known, nextTurn: NextTurn): Promise<Proposed> {
  const { lines, spends, aims, current } = input;
  const tried = await draftFrom(spends, input, (draft) => replayDraft(lines, { ...known, draft }, nextTurn));
  const earlier = spends.slice(0, Math.floor((spends.length * 4) / 5));
  let check = { lines: 0, allow_share: 1 };
  if (earlier.length > 0) {
    const trained = await draftFrom(earlier, input, (draft) =>
      replayDraft(earlier, { ...known, draft }, nextTurn),
    );
    const options = { ...known, draft: trained.draft.authority };
    const { evaluated, allow_share } = await replayDraft(spends, options, nextTurn, earlier.length);
    check = { lines: evaluated, allow_share };
  }
  return {
    authority: tried.draft.authority,
    fields: proposedFields(tried.draft, current),
    replay: { saved: false, ...tried.replay },
    check,
    reached: spends.length > 0 && isReached(tried.replay, aims),
    relaxed: tried.steps,
  };
}
