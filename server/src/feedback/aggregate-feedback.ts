import {
  addLesson,
  type DecisionLesson,
  emptyFeedback,
  type FeedbackPlace,
  type FeedbackRow,
  isTakenBack,
  NO_LESSON,
  placesOf,
} from '../domain/feedback.ts';
import type { Follower } from '../followers/follow-chains.ts';
import { HISTORY_NAMES } from '../purpose/history.ts';
import type { Client } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { eventsUpTo, loadLessons, makeLessons, placeOfSeq, putLessons } from './lessons.ts';
import { loadFeedback, loadSpokenOf, loadVouched, putFeedback } from './stats-rows.ts';

/** Events looked at in one transaction. */
const MAX_EVENTS = 20_000;
/**
 * Of these, at most so many that say something: for each a decision's document is read, and a page must keep neither the
 * event loop nor a transaction busy for long.
 */
const MAX_SPOKEN = 500;
/** Together, so that a round ends soon enough for a stop, whoever is behind. */
export const MAX_PAGES_A_ROUND = 100;

/** A decision's lesson that takes the place of what it taught before. */
interface Change {
  before: DecisionLesson | undefined;
  now: DecisionLesson;
}

/** What these decisions teach by the events up to `upto`, where it is not what they taught before. */
async function loadChanges(
  client: Client,
  workspace_id: string,
  decision_ids: readonly string[],
  upto: number,
): Promise<Change[]> {
  const place = await placeOfSeq(client, workspace_id, upto);
  const kept = await loadDecisionCores(client, workspace_id, decision_ids);
  const events = await loadDecisionEvents(client, workspace_id, decision_ids);
  const taught = kept.map(({ made }) => ({
    made,
    events: eventsUpTo(events.get(made.decision_id) ?? [], place),
  }));
  const lessons = await makeLessons(client, workspace_id, taught, HISTORY_NAMES);
  const now = new Map(lessons.map((lesson) => [lesson.decision_id, lesson]));
  const known = await loadLessons(client, workspace_id, decision_ids);
  const before = new Map(known.map((lesson) => [lesson.decision_id, lesson]));
  return [
    ...lessons.map((lesson) => ({ before: before.get(lesson.decision_id), now: lesson })),
    // What teaches nothing any more is kept as that.
    ...known
      .filter(({ decision_id }) => !now.has(decision_id))
      .map((lesson) => ({ before: lesson, now: { ...lesson, ...NO_LESSON } })),
  ];
}

const nameOf = ({ agent_id, purpose_hash, kind, name }: FeedbackPlace) =>
  `${agent_id} ${purpose_hash} ${kind} ${name}`;

/** Puts lessons in the place of those before, in the decisions' rows and in the sums. */
async function putChanges(client: Client, workspace_id: string, changes: readonly Change[]): Promise<void> {
  await putLessons(client, [{ workspace_id, rows: changes.map(({ now }) => now) }]);
  const places = new Map(changes.flatMap(({ now }) => placesOf(now).map((place) => [nameOf(place), place])));
  const rows = new Map<string, FeedbackRow>([...places].map(([name, place]) => [name, emptyFeedback(place)]));
  for (const row of await loadFeedback(client, workspace_id, [...places.values()])) {
    rows.set(nameOf(row), row);
  }
  const taken_back = new Map<string, FeedbackPlace>();
  const add = (lesson: DecisionLesson, sign: 1 | -1) => {
    for (const place of placesOf(lesson)) {
      const name = nameOf(place);
      rows.set(name, addLesson(rows.get(name) as FeedbackRow, lesson, sign));
    }
  };
  for (const { before, now } of changes) {
    if (before !== undefined) add(before, -1);
    add(now, 1);
    const [merchant] = placesOf(now);
    if (merchant !== undefined && isTakenBack(before, now)) taken_back.set(nameOf(merchant), merchant);
  }
  const gathered = await loadVouched(client, workspace_id, [...taken_back.values()]);
  for (const [i, name] of [...taken_back.keys()].entries()) {
    rows.set(name, { ...(rows.get(name) as FeedbackRow), ...gathered[i] });
  }
  await putFeedback(client, workspace_id, [...rows.values()]);
}

/** Adds up what events teach of spends, for the assessor's knowledge of the past. */
export const aggregateFeedback: Follower = {
  name: 'learning',
  max_events: MAX_EVENTS,
  async fold(client, workspace_id, range) {
    const { last_seq, decision_ids } = await loadSpokenOf(client, workspace_id, {
      ...range,
      most: MAX_SPOKEN,
    });
    if (decision_ids.length > 0) {
      const changes = await loadChanges(client, workspace_id, decision_ids, last_seq);
      if (changes.length > 0) await putChanges(client, workspace_id, changes);
    }
    return last_seq;
  },
};
