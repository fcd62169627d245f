import type { PlacedEvent } from '../domain/decision-history.ts';
import type { DecisionCore } from '../domain/decisions.ts';
import { type DecisionLesson, isNoLesson, type SpendNames } from '../domain/feedback.ts';
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

/** How far a workspace was learnt from, in the verification's snapshot. */
export interface Learnt {
  seq: number;
  /** See `PlacedEvent`. */
  place: string;
  /** Decisions of which events were left out: they may stand as after any of their events. */
  incomplete: ReadonlySet<string>;
  names: SpendNames;
}

/** Reads how far a workspace was learnt from. */
export async function loadLearnt(db: Queryable, workspace_id: string, names: SpendNames): Promise<Learnt> {
  const seq = await getWatermark(db, 'learning', workspace_id);
  return {
    seq,
    place: await placeOfSeq(db, workspace_id, seq),
    incomplete: await loadDecisionsOfSkipped(db, workspace_id),
    names,
  };
}

/** Whether two teach the same; what teaches nothing need not be kept. */
function isSameLesson(kept: DecisionLesson | undefined, made: DecisionLesson | undefined): boolean {
  if (made === undefined) return kept === undefined || isNoLesson(kept);
  if (kept === undefined) return false;
  return (Object.keys(made) as (keyof DecisionLesson)[]).every((name) =>
    name === 'words' ? String(kept.words) === String(made.words) : kept[name] === made[name],
  );
}

/**
 * Makes again what decisions teach, by what had been recorded of them when they were last learnt from, and holds it
 * against what is kept of them. `events` are all of a decision's, in the order of the ledger. Gives how many rows
 * belong to these decisions.
 */
export async function checkLessons(
  db: Queryable,
  workspace_id: string,
  decisions: readonly { seq: number; made: DecisionCore; events: readonly PlacedEvent[] }[],
  learnt: Learnt,
  findings: Findings,
): Promise<number> {
  const told = decisions.filter(({ events }) => events.length > 0);
  if (told.length === 0) return 0;
  const ids = told.map(({ made }) => made.decision_id);
  const kept = new Map((await loadLessons(db, workspace_id, ids)).map((row) => [row.decision_id, row]));
  const differs = (seq: number, id: string) =>
    findings.addDerived({
      seq,
      kind: 'ROW_MISMATCH',
      detail: `What was learnt of decision ${id} is not what its records say.`,
    });
  const lessonsAfter = async (taught: readonly { made: DecisionCore; events: readonly PlacedEvent[] }[]) =>
    new Map((await makeLessons(db, workspace_id, taught, learnt.names)).map((row) => [row.decision_id, row]));
  const now = told.map(({ made, events }) => ({ made, events: eventsUpTo(events, learnt.place) }));
  let made_again: Map<string, DecisionLesson>;
  try {
    made_again = await lessonsAfter(now);
  } catch {
    // A record or an authority that nobody can read has a finding of its own; what follows from it cannot be told.
    for (const { seq, made } of told) if (kept.has(made.decision_id)) differs(seq, made.decision_id);
    return kept.size;
  }
  for (const { seq, made, events } of told) {
    const { decision_id } = made;
    const row = kept.get(decision_id);
    let is_right = isSameLesson(row, made_again.get(decision_id));
    if (!is_right && learnt.incomplete.has(decision_id)) {
      for (let upto = 0; upto <= events.length && !is_right; upto++) {
        const earlier = await lessonsAfter([{ made, events: events.slice(0, upto) }]);
        is_right = isSameLesson(row, earlier.get(decision_id));
      }
    }
    if (!is_right) differs(seq, decision_id);
  }
  return kept.size;
}

/** Holds the sums that the assessor is told of against what all decisions teach. `last_seq`: where the chain ends. */
export async function checkFeedback(
  db: Queryable,
  workspace_id: string,
  learnt: Learnt,
  last_seq: number,
  findings: Findings,
): Promise<void> {
  const wrong = (detail: string) => findings.addDerived({ seq: last_seq, kind: 'ROW_MISMATCH', detail });
  if (learnt.seq > last_seq) {
    wrong(`Event ${learnt.seq} is said to have been learnt from, but the chain ends at event ${last_seq}.`);
  }
  for (const { agent_id, kind, name, lessons } of await findWrongFeedback(db, workspace_id, MAX_WRONG)) {
    const row = `The row of feedback of ${agent_id} with ${kind} ${name}`;
    if (lessons === 0) findings.addOrphan(`${row} is in no event.`);
    else wrong(`${row} is not the sum of what its decisions teach.`);
  }
}
