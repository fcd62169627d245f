import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import { type DecisionLesson, isNoLesson, type SpendNames } from '@purser/rules/domain/feedback';
import {
  eventsUpTo,
  loadDecisionsOfSkipped,
  loadLessons,
  makeLessons,
  placeOfSeq,
} from '../feedback/lessons.ts';
import { findWrongFeedback } from '../feedback/stats-rows.ts';
import { getWatermark } from '../followers/follower-rows.ts';
import type { Queryable } from '../storage/database.ts';
import type { Findings } from './findings.ts';

const MAX_WRONG = 100;

/** The progress of the follower that learns from a workspace, in the snapshot of the verification. */
export interface LearningProgress {
  seq: number;
  /** See `PlacedEvent`. */
  place: string;
  /** Decisions with skipped events; their lessons may be those after any of their events. */
  incomplete: ReadonlySet<string>;
  names: SpendNames;
}

/** Loads the progress of the follower that learns from a workspace. */
export async function loadLearningProgress(
  db: Queryable,
  workspace_id: string,
  names: SpendNames,
): Promise<LearningProgress> {
  const seq = await getWatermark(db, 'learning', workspace_id);
  return {
    seq,
    place: await placeOfSeq(db, workspace_id, seq),
    incomplete: await loadDecisionsOfSkipped(db, workspace_id),
    names,
  };
}

/** Compares a stored lesson with the one computed anew. A decision without a lesson need not have a row. */
function isSameLesson(stored: DecisionLesson | undefined, expected: DecisionLesson | undefined): boolean {
  if (expected === undefined) return stored === undefined || isNoLesson(stored);
  if (stored === undefined) return false;
  return (Object.keys(expected) as (keyof DecisionLesson)[]).every((name) =>
    name === 'words' ? String(stored.words) === String(expected.words) : stored[name] === expected[name],
  );
}

/**
 * Computes the lessons of decisions anew, from their records up to the watermark, and reports stored lessons that differ.
 * `events` are all events of a decision, in ledger order. Returns the number of stored lessons of these decisions.
 */
export async function checkLessons(
  db: Queryable,
  workspace_id: string,
  decisions: readonly { seq: number; decision: DecisionCore; events: readonly PlacedEvent[] }[],
  learnt: LearningProgress,
  findings: Findings,
): Promise<number> {
  const with_records = decisions.filter(({ events }) => events.length > 0);
  if (with_records.length === 0) return 0;
  const ids = with_records.map(({ decision }) => decision.decision_id);
  const stored = new Map((await loadLessons(db, workspace_id, ids)).map((row) => [row.decision_id, row]));
  const differs = (seq: number, id: string) =>
    findings.addDerived({
      seq,
      kind: 'ROW_MISMATCH',
      detail: `The feedback of decision ${id} differs from its records.`,
    });
  const lessonsAfter = async (
    taught: readonly { decision: DecisionCore; events: readonly PlacedEvent[] }[],
  ) =>
    new Map((await makeLessons(db, workspace_id, taught, learnt.names)).map((row) => [row.decision_id, row]));
  const now = with_records.map(({ decision, events }) => ({
    decision,
    events: eventsUpTo(events, learnt.place),
  }));
  let expected: Map<string, DecisionLesson>;
  try {
    expected = await lessonsAfter(now);
  } catch {
    // An unreadable record or authority has a finding of its own; the lessons that follow from it are unknown.
    for (const { seq, decision } of with_records)
      if (stored.has(decision.decision_id)) differs(seq, decision.decision_id);
    return stored.size;
  }
  for (const { seq, decision, events } of with_records) {
    const { decision_id } = decision;
    const row = stored.get(decision_id);
    let is_right = isSameLesson(row, expected.get(decision_id));
    if (!is_right && learnt.incomplete.has(decision_id)) {
      for (let upto = 0; upto <= events.length && !is_right; upto++) {
        const earlier = await lessonsAfter([{ decision, events: events.slice(0, upto) }]);
        is_right = isSameLesson(row, earlier.get(decision_id));
      }
    }
    if (!is_right) differs(seq, decision_id);
  }
  return stored.size;
}

/** Reports feedback rows that are not the sum of the lessons of all decisions; `last_seq` is the last event. */
export async function checkFeedback(
  db: Queryable,
  workspace_id: string,
  learnt: LearningProgress,
  last_seq: number,
  findings: Findings,
): Promise<void> {
  const wrong = (detail: string) => findings.addDerived({ seq: last_seq, kind: 'ROW_MISMATCH', detail });
  if (learnt.seq > last_seq) {
    wrong(`The feedback includes event ${learnt.seq}, but the chain ends at event ${last_seq}.`);
  }
  for (const wrong_row of await findWrongFeedback(db, workspace_id, MAX_WRONG)) {
    const { agent_id, merchant, payee_id, word, lessons } = wrong_row;
    const row = `The row of feedback of ${agent_id} with merchant ${merchant}, payee ${payee_id || 'none'}${word && `, word ${word}`}`;
    if (lessons === 0) findings.addOrphan(`${row} is in no event.`);
    else wrong(`${row} is not the sum of the feedback of its decisions.`);
  }
}
