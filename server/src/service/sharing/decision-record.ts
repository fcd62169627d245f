import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import type { Caller } from '@purser/rules/domain/keys';
import { shownHash } from '@purser/rules/domain/ledger';
import { type Outcome, summarizeOutcomes } from '@purser/rules/domain/outcomes';
import type { ReviewRow } from '@purser/rules/domain/reviews';
import type { DecisionLinkRow } from '@purser/rules/sharing/decision-link';
import type pg from 'pg';
import { getAgent } from '../../engine/storage/agents.ts';
import { loadKeys } from '../../engine/storage/api-keys.ts';
import { getAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import { getDecision } from '../../engine/storage/decisions.ts';
import { listLedgerEvents } from '../../engine/storage/ledger.ts';
import { loadMemberNames } from '../../engine/storage/members.ts';
import { listOutcomesOfDecisions } from '../../engine/storage/outcomes.ts';
import { loadReviewsOfDecisions } from '../../engine/storage/reviews.ts';
import { loadWorkspace, readClock } from '../../engine/storage/workspaces.ts';
import type { DecisionView } from '../decisions/present-decisions.ts';

export interface DecisionRecordOptions {
  db: pg.Pool;
  view: Pick<DecisionView, 'present'>;
}

/** A review with the name of its author. */
export interface NamedReview {
  review: ReviewRow;
  by: string;
}

/** Everything that the page of a decision shows, as it is at one moment. */
export interface PageRecord {
  workspace_name: string;
  /** True in a workspace of sample data. */
  sample: boolean;
  agent_name: string;
  decision: Decision;
  /** The authority that it was made by; null where the agent had none. */
  authority: Authority | null;
  /** Oldest first. */
  reviews: readonly NamedReview[];
  /** Oldest first. */
  outcomes: readonly Outcome[];
  sums: { executed_minor: number; refunded_minor: number };
  /** Its place in the chain; undefined only where the chain was cut. */
  entry: { seq: number; hash: string; prev_hash: string; data_hash: string } | undefined;
  /** When this was read, ISO 8601 UTC. */
  read_at: string;
}

/** Returns the record of a decision; undefined if the workspace has no such decision. */
export async function readDecisionRecord(
  { db, view }: DecisionRecordOptions,
  workspace_id: string,
  decision_id: string,
): Promise<PageRecord | undefined> {
  const found = await getDecision(db, workspace_id, decision_id, null);
  if (found === undefined) return undefined;
  const { agent, authority_version } = found.decision;
  const [[decision], workspace, named_agent, authority, reviews, outcomes, events, now_ms] =
    await Promise.all([
      view.present({ workspace_id }, [found]),
      loadWorkspace(db, workspace_id),
      getAgent(db, workspace_id, agent.id),
      authority_version === null ? undefined : getAuthority(db, workspace_id, agent.id, authority_version),
      loadReviewsOfDecisions(db, workspace_id, [decision_id]),
      listOutcomesOfDecisions(db, workspace_id, [decision_id]),
      listLedgerEvents(
        db,
        workspace_id,
        { type: ['decision.created'], subject: [decision_id] },
        { order: 'asc', past: null, limit: 1 },
      ),
      readClock(db),
    ]);
  const principals = reviews.flatMap(({ principal_id }) => principal_id ?? []);
  const names = await loadMemberNames(db, workspace_id, principals);
  const nameOf = ({ principal_id }: ReviewRow) =>
    principal_id === null ? 'a key without a person' : (names.get(principal_id) ?? principal_id);
  const [event] = events.rows;
  return {
    workspace_name: workspace?.name ?? '',
    sample: workspace?.sample === true,
    agent_name: named_agent?.name ?? agent.slug,
    decision: decision as Decision,
    authority: authority === undefined ? null : parseAuthority(authority),
    reviews: reviews.map((review) => ({ review, by: nameOf(review) })),
    outcomes,
    sums: summarizeOutcomes(outcomes),
    entry: event && {
      seq: event.seq,
      hash: shownHash(event.hash),
      prev_hash: shownHash(event.prev_hash),
      data_hash: shownHash(event.data_hash),
    },
    read_at: new Date(now_ms).toISOString(),
  };
}

/** Returns who shared a link, in words: a member's name, or the name of the key. */
export async function sharerOf(
  db: pg.Pool,
  workspace_id: Caller['workspace_id'],
  { principal_id, key_id, made_by_person }: DecisionLinkRow,
): Promise<string> {
  const person = made_by_person ?? principal_id;
  const names = person === null ? null : await loadMemberNames(db, workspace_id, [person]);
  const name = person === null ? undefined : (names?.get(person) ?? person);
  if (key_id === null) return name ?? 'a member';
  const [key] = await loadKeys(db, [{ workspace_id, key_id }]);
  const of_key = `the API key “${key?.name ?? key_id}”`;
  return name === undefined ? of_key : `${name}, with ${of_key}`;
}
