import {
  addLesson,
  type DecisionLesson,
  emptyFeedback,
  type FeedbackPlace,
  type FeedbackRow,
  isWithdrawn,
  NO_LESSON,
  placesOf,
} from '@purser/rules/domain/feedback';
import { HISTORY_NAMES } from '@purser/rules/purpose/history';
import type { Follower } from '../followers/follow-chains.ts';
import type { Client } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { eventsUpTo, loadLessons, makeLessons, placeOfSeq, putLessons } from './lessons.ts';
import { loadDecisionsWithFeedback, loadFeedback, loadUsual, putFeedback } from './stats-rows.ts';

/** Events read in one transaction. */
const MAX_EVENTS = 20_000;
/**
 * Events among them that are feedback. Each reads a decision's document, and a page must not keep the event loop or a
 * transaction busy for long.
 */
const MAX_FEEDBACK_EVENTS = 500;
/** Pages of all workspaces, so that a round ends soon enough for a stop. */
export const MAX_PAGES_PER_ROUND = 100;

/** A decision's lesson, and the one that it replaces. */
interface Change {
  before: DecisionLesson | undefined;
  now: DecisionLesson;
}

/** The lessons of these decisions by their events up to `upto`, with the stored ones that they replace. */
async function loadChanges(
  client: Client,
  workspace_id: string,
  decision_ids: readonly string[],
  upto: number,
): Promise<Change[]> {
  const place = await placeOfSeq(client, workspace_id, upto);
  const records = await loadDecisionCores(client, workspace_id, decision_ids);
  const events = await loadDecisionEvents(client, workspace_id, decision_ids);
  const taught = records.map(({ decision }) => ({
    decision,
    events: eventsUpTo(events.get(decision.decision_id) ?? [], place),
  }));
  const lessons = await makeLessons(client, workspace_id, taught, HISTORY_NAMES);
  const now = new Map(lessons.map((lesson) => [lesson.decision_id, lesson]));
  const known = await loadLessons(client, workspace_id, decision_ids);
  const before = new Map(known.map((lesson) => [lesson.decision_id, lesson]));
  return [
    ...lessons.map((lesson) => ({ before: before.get(lesson.decision_id), now: lesson })),
    // A lesson that has become empty is stored as an empty one.
    ...known
      .filter(({ decision_id }) => !now.has(decision_id))
      .map((lesson) => ({ before: lesson, now: { ...lesson, ...NO_LESSON } })),
  ];
}

const keyOf = ({ agent_id, purpose_hash, merchant, payee_id, word }: FeedbackPlace) =>
  `${agent_id} ${purpose_hash} ${payee_id} ${word} ${merchant}`;

/** Replaces lessons, both in the rows of the decisions and in the sums. */
async function putChanges(client: Client, workspace_id: string, changes: readonly Change[]): Promise<void> {
  await putLessons(client, [{ workspace_id, rows: changes.map(({ now }) => now) }]);
  const places = new Map(changes.flatMap(({ now }) => placesOf(now).map((place) => [keyOf(place), place])));
  const rows = new Map<string, FeedbackRow>([...places].map(([key, place]) => [key, emptyFeedback(place)]));
  for (const row of await loadFeedback(client, workspace_id, [...places.values()])) {
    rows.set(keyOf(row), row);
  }
  const taken_back = new Map<string, FeedbackPlace>();
  const add = (lesson: DecisionLesson, sign: 1 | -1) => {
    for (const key of placesOf(lesson).map(keyOf)) {
      rows.set(key, addLesson(rows.get(key) as FeedbackRow, lesson, sign));
    }
  };
  for (const { before, now } of changes) {
    if (before !== undefined) add(before, -1);
    add(now, 1);
    const [all] = placesOf(now);
    if (all !== undefined && isWithdrawn(before, now)) taken_back.set(keyOf(all), all);
  }
  const usual = await loadUsual(client, workspace_id, [...taken_back.values()]);
  for (const [i, key] of [...taken_back.keys()].entries()) {
    rows.set(key, { ...(rows.get(key) as FeedbackRow), usual_minor: usual[i] ?? {} });
  }
  await putFeedback(client, workspace_id, [...rows.values()]);
}

/** Aggregates the feedback on spends, from which the assessor knows an agent's past. */
export const aggregateFeedback: Follower = {
  name: 'learning',
  max_events: MAX_EVENTS,
  async fold(client, workspace_id, range) {
    const { last_seq, decision_ids } = await loadDecisionsWithFeedback(client, workspace_id, {
      ...range,
      max_feedback: MAX_FEEDBACK_EVENTS,
    });
    if (decision_ids.length > 0) {
      const changes = await loadChanges(client, workspace_id, decision_ids, last_seq);
      if (changes.length > 0) await putChanges(client, workspace_id, changes);
    }
    return last_seq;
  },
};
