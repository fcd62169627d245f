import type { Authority } from '@purser/contract/authority';
import type { Assessment, Decision, SpendRequest } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Counters } from '@purser/rules/counters/counters-in-memory';
import { monthlyBudgetId } from '@purser/rules/counters/limit-alerts';
import type { Mode } from '@purser/rules/domain/agents';
import type { DecisionKind } from '@purser/rules/domain/decisions';
import { type Directory, EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import {
  type CountersOf,
  countersOf,
  hasCounters,
  NO_COUNTERS,
  ofDuplicates,
  type SpendCounter,
  withSlots,
} from '@purser/rules/policy/counters';
import { knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { needsKnownMerchant } from '@purser/rules/policy/new-merchant';
import type { DecideFacts } from '@purser/rules/policy/stage';
import { valueIn } from '@purser/rules/values/maps';
import type { StandingApprovals } from '../allowances/allowance-rows.ts';
import type { AssessedQuestions } from '../questions/asked-questions.ts';
import type { AlertingLimit } from '../storage/notices/limit-alerts.ts';
import type { AllowanceChain } from './allowances/chain.ts';

export interface CreateDecisionInput {
  agent_id: string;
  /** True if the API key is bound to that agent; the request then must not name another agent. */
  bound: boolean;
  request: SpendRequest;
  idempotency_key: string;
  /** SHA-256 of the RFC 8785 form of the request body as it was sent. */
  request_hash: Buffer;
  /** Made before the command is submitted, since the lane waits for no assessor; valid only for its authority. */
  assessed: Assessed | null;
  /** The allowance that it is made under, and all above it. */
  chain?: AllowanceChain;
  /** The card authorization that it is made of, where nobody asked. */
  observed?: NonNullable<Decision['observed']>;
  /** The standing approvals of the agent; may be omitted where it never had one. */
  standing?: StandingApprovals;
  /** A smaller amount that may be offered instead, so that what it would repeat is looked for too. */
  also_minor?: number;
}

/** An assessment, with the authority, the listed merchants and the answers that it was made for. */
export interface Assessed extends AssessedQuestions {
  authority_hash: string;
  /** Shared; it must not be changed. */
  authority: Authority;
  directory: Directory;
  assessment: Assessment;
}

/**
 * An authority and its hash, and the versions of the agent's directory of merchants and of the answers to its questions. The
 * authority is shared and must not be changed.
 */
export interface KnownAuthority {
  hash: string;
  authority: Authority;
  directory_version: number;
  answers_version: number;
  allowances_version: number;
}

/** The input to retry a decision with: the authority in force, and `also_minor` where that is lacking. */
export interface StaleDecision extends KnownAuthority {
  also_minor?: number;
}

export interface CreatedDecision {
  replayed: boolean;
  /** The JSON text of the answer without the capability's token; on a replay, the same text as the first time. */
  document: string;
  /** Where the fields that change lie in it (`DecisionText`); null where it is older than their positions. */
  live_at: readonly number[] | null;
  /** The new decision; null on a replay. */
  decided: {
    decision: DecisionKind;
    mode: Mode;
    reason_code: ReasonCode;
    /** Null: it issued none. */
    capability_id: string | null;
    /** The authority it was decided by. */
    authority: KnownAuthority | null;
  } | null;
}

/** The facts of a spend whose agent has no authority: no stage then reads the merchants. */
export const UNASSESSED = { authority: null, assessment: null, directory: EMPTY_DIRECTORY };

type Spend = Pick<CreateDecisionInput, 'agent_id' | 'request' | 'assessed' | 'also_minor' | 'chain'>;

/** Counters of each spend in the lane, which needs them twice. */
const counters_assessed = new WeakMap<Spend, CountersOf<SpendCounter>>();

/** The counters that the spend counts in under the authority that it was assessed for. */
export function countersAssessed(spend: Spend): CountersOf<SpendCounter> {
  const { agent_id, request, assessed } = spend;
  if (assessed === null || !hasCounters(assessed.authority)) return NO_COUNTERS;
  return valueIn(counters_assessed, spend, () => countersOf(assessed.authority, agent_id, request.action));
}

/** Counters of duplicates for the smaller amount; none without one, or if duplicates are not detected. */
export function countersOfSmaller({
  agent_id,
  request,
  assessed,
  also_minor,
}: Spend): CountersOf<SpendCounter> {
  if (assessed === null || also_minor === undefined) return NO_COUNTERS;
  const { authority } = assessed;
  if (authority.duplicate_window_seconds === undefined) return NO_COUNTERS;
  return ofDuplicates(countersOf(authority, agent_id, { ...request.action, amount_minor: also_minor }));
}

/** The limits of the spend that alert: its velocity limits and its month. */
export function alertingLimits(spend: Spend): AlertingLimit[] {
  const { agent_id, assessed } = spend;
  if (assessed?.authority.alert_percents === undefined) return [];
  const counters = [...countersAssessed(spend).values()].filter(({ limit }) => limit !== null);
  return [
    { agent_id, limit_id: monthlyBudgetId(assessed.authority.currency), subject: '' },
    ...counters.map(({ counter_id, subject }) => ({ agent_id, limit_id: counter_id, subject })),
  ];
}

/** Whom the agent would pay, where that authority asks whether it has paid them before. */
export function merchantAsked({ agent_id, request, assessed }: Spend) {
  if (assessed === null || !needsKnownMerchant(assessed.authority)) return undefined;
  return { agent_id, key: knownMerchantKey(request.action) };
}

/** The duplicates of the spend in the smaller amount, by that amount; it must have one. */
export function duplicatesOf(spend: Spend, counters: Counters): NonNullable<DecideFacts['duplicates_of']> {
  const loaded = withSlots(countersOfSmaller(spend), (counter) => counters.slots(counter));
  return new Map([[spend.also_minor as number, loaded]]);
}
