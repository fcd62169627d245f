import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import {
  type DecisionLesson,
  isNoLesson,
  lessonOf,
  purposeHash,
  type SpendNames,
} from '@purser/rules/domain/feedback';
import { loadDecisionsOfRecords } from '../reports/fact-rows.ts';
import { loadAuthorityVersions, parseAuthority } from '../storage/authorities.ts';
import type { Queryable } from '../storage/database.ts';
import { makeInsert } from '../storage/rows.ts';

/** The events of a decision up to a place in the ledger. */
export function eventsUpTo(events: readonly PlacedEvent[], place: string): PlacedEvent[] {
  return events.filter((event) => event.place <= place);
}

/** The place of event `seq` in the ledger, as in `PlacedEvent`; `''` where there is no such event. */
export async function placeOfSeq(db: Queryable, workspace_id: string, seq: number): Promise<string> {
  const result = await db.query<{ id: string }>({
    name: 'place_of_seq',
    text: 'select id from ledger_events where workspace_id = $1 and seq = $2',
    values: [workspace_id, seq],
  });
  return result.rows[0]?.id.slice(4) ?? '';
}

/** Events by which people speak of a decision. */
const BY_PEOPLE: ReadonlySet<string> = new Set(['decision.review.recorded', 'decision.label.recorded']);

/**
 * The lessons of these decisions by these events. A decision whose lesson is empty, or that was made without an authority,
 * is left out. Aggregation and verification share this rule.
 */
export async function makeLessons(
  db: Queryable,
  workspace_id: string,
  taught: readonly { decision: DecisionCore; events: readonly PlacedEvent[] }[],
  names: SpendNames,
): Promise<DecisionLesson[]> {
  const found = taught.flatMap(({ decision, events }) => {
    const lesson = lessonOf(
      decision,
      events.map(({ event }) => event),
    );
    const is_spoken_of = events.some(({ event }) => BY_PEOPLE.has(event.type));
    return isNoLesson(lesson) ? [] : [{ decision, lesson, is_spoken_of }];
  });
  if (found.length === 0) return [];
  const hashes = new Map<string, string>();
  for (const agent_id of new Set(found.map(({ decision }) => decision.agent.id))) {
    const wanted = new Set(
      found.flatMap(({ decision }) =>
        decision.agent.id === agent_id ? (decision.authority_version ?? []) : [],
      ),
    );
    for (const row of await loadAuthorityVersions(db, workspace_id, agent_id, [...wanted])) {
      hashes.set(`${agent_id} ${row.version}`, purposeHash(parseAuthority(row).purpose));
    }
  }
  return found.flatMap(({ decision, lesson, is_spoken_of }) => {
    const { decision_id, agent, action, authority_version } = decision;
    const purpose_hash = hashes.get(`${agent.id} ${authority_version}`);
    if (purpose_hash === undefined) return [];
    return {
      decision_id,
      agent_id: agent.id,
      purpose_hash,
      merchant: names.merchant(action.merchant),
      payee_id: action.payee_id ?? null,
      words: is_spoken_of ? names.words(action.description ?? '') : [],
      currency: action.currency,
      ...lesson,
    };
  });
}

/** The stored lessons of these decisions. */
export async function loadLessons(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<DecisionLesson[]> {
  const result = await db.query<DecisionLesson & { workspace_id: string }>({
    name: 'load_lessons',
    text: `select decision_id, agent_id, purpose_hash, merchant, payee_id, words, currency, allowed, denied, aligned,
        misaligned, paid, vouched_minor
      from decision_lessons where workspace_id = $1 and decision_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return result.rows;
}

/** Writes lessons, new or changed. */
export const putLessons = makeInsert<DecisionLesson>(
  'decision_lessons',
  {
    decision_id: 'text',
    agent_id: 'text',
    purpose_hash: 'text',
    merchant: 'text',
    payee_id: 'text',
    words: 'words',
    currency: 'text',
    allowed: 'boolean',
    denied: 'boolean',
    aligned: 'boolean',
    misaligned: 'boolean',
    paid: 'boolean',
    vouched_minor: 'bigint',
  },
  {
    conflict: ['decision_id'],
    update: ['words', 'allowed', 'denied', 'aligned', 'misaligned', 'paid', 'vouched_minor'],
  },
);

/** The decisions of events that the follower skipped. */
export async function loadDecisionsOfSkipped(db: Queryable, workspace_id: string): Promise<Set<string>> {
  const result = await db.query<{ subject_id: string }>({
    name: 'load_subjects_of_skipped',
    text: `select e.subject_id from skipped_events s
      join ledger_events e on e.workspace_id = s.workspace_id and e.seq = s.seq
      where s.workspace_id = $1 and s.follower = 'learning'`,
    values: [workspace_id],
  });
  return new Set(
    await loadDecisionsOfRecords(
      db,
      workspace_id,
      result.rows.map((row) => row.subject_id),
    ),
  );
}
