import type { Remedy } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { Stage } from '@purser/contract/stages';
import type { DecisionKind } from '../domain/decisions.ts';
import { decide, judgeStages, type Verdict, verdictOf } from './decide.ts';
import { type DecideFacts, type Found, type JudgedBy, leastAccepted } from './stage.ts';
import { factsAt, factsBesideHold, factsInCurrency, factsUnderAnother, factsWithAmount } from './what-if.ts';

const NO_REMEDIES: readonly Remedy[] = [];

const RANK: Record<DecisionKind, number> = { ALLOW: 0, REVIEW: 1, DENY: 2 };

/** Moments that are looked at for one at which a spend passes. Each is the end of what the one before was refused for. */
const MAX_MOMENTS = 16;

/** Stages that depend only on the merchant. */
const STAGES_OF_MERCHANT: ReadonlySet<Stage> = new Set<Stage>([
  'merchant',
  'merchant_allowlist',
  'duplicate',
  'new_merchant',
]);
/** Another merchant is no way out of a payee that is not this merchant's. */
const REASONS_OF_MERCHANT: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'MERCHANT_BLOCKED',
  'MERCHANT_NOT_ALLOWED',
  'NEW_MERCHANT',
]);

/**
 * Remedies for a verdict; none for ALLOW. Each was tried: `then` is the result of `decide` with this one change, and
 * is milder than the verdict. Purpose is taken as it was judged, and merchants as they were found but for another
 * one, which is taken as allowed and known.
 */
export function remediesOf(
  facts: DecideFacts,
  verdict: Verdict,
  review_expires_at: string | null,
): readonly Remedy[] {
  if (verdict.decision === 'ALLOW') return NO_REMEDIES;
  const { judged } = judgeStages(facts);
  if (verdict.decision === 'REVIEW') {
    const clears = codesOf(judged, 'REVIEW');
    const wait: Remedy = { type: 'WAIT_FOR_REVIEW', expires_at: review_expires_at, clears, then: 'ALLOW' };
    return [wait, ...laterThanHours(facts, verdict, judged)];
  }
  const found = [
    ...smallerAmount(facts, verdict, judged),
    ...laterMoment(facts, verdict, judged),
    ...otherCurrency(facts, verdict),
    ...otherMerchant(facts, verdict),
    ...otherAllowance(facts, verdict, judged),
  ];
  if (found.length > 0) return found;
  // Where nothing was judged, nothing is known of what an operator would make of it.
  const is_unjudged = facts.authority === null;
  const then = is_unjudged || codesOf(judged, 'REVIEW').length > 0 ? 'REVIEW' : 'ALLOW';
  return [{ type: 'ASK_OPERATOR', clears: codesOf(judged, 'DENY'), then }];
}

/**
 * Until when a spend is denied in any case, if nothing but time changes: infinity where time does not help, null where it
 * is not denied. Milliseconds since 1970 UTC.
 */
export function deniedUntilMs(facts: DecideFacts): number | null {
  return endsMs(facts, judgeStages(facts).judged, 'DENY');
}

const codesOf = (judged: readonly JudgedBy[], outcome: Found['outcome']): ReasonCode[] => [
  ...new Set(
    judged.flatMap(({ found }) =>
      found.outcome === outcome && 'reason_code' in found ? found.reason_code : [],
    ),
  ),
];

/** The reasons cleared and the new decision of a changed spend; null if it is no milder than the verdict. */
function milder(verdict: Verdict, after: Verdict): Pick<Remedy, 'clears' | 'then'> | null {
  if (RANK[after.decision] >= RANK[verdict.decision]) return null;
  const clears = verdict.reason_codes.filter((code) => !after.reason_codes.includes(code));
  return { clears, then: after.decision };
}

/**
 * The amount that a denied spend may have room for, before it is known what would become of it in that amount; null where there
 * is none. A spend that was asked for before is not to be asked for again in another amount, so none is sought there.
 */
export function smallerAmountOf(facts: DecideFacts, verdict: Verdict): number | null {
  if (verdict.decision !== 'DENY') return null;
  return roomIn(facts, verdict, judgeStages(facts).judged);
}

function roomIn({ request }: DecideFacts, verdict: Verdict, judged: readonly JudgedBy[]): number | null {
  if (verdict.reason_codes.includes('DUPLICATE_SPEND')) return null;
  const rooms = judged.flatMap(({ found }) =>
    found.outcome === 'DENY' && found.room_minor !== undefined ? found.room_minor : [],
  );
  const max_amount_minor = Math.min(...rooms);
  return rooms.length === 0 || max_amount_minor < (request.min_amount_minor ?? 1) ? null : max_amount_minor;
}

function smallerAmount(facts: DecideFacts, verdict: Verdict, judged: readonly JudgedBy[]): Remedy[] {
  const max_amount_minor = roomIn(facts, verdict, judged);
  const smaller = max_amount_minor === null ? null : factsWithAmount(facts, max_amount_minor);
  if (max_amount_minor === null || smaller === null) return [];
  const change = milder(verdict, decide(smaller));
  return change === null ? [] : [{ type: 'REDUCE_AMOUNT', max_amount_minor, ...change }];
}

/**
 * The moment up to which something that was found keeps a spend at `decision` or above. Infinity where that is not for
 * time to change; null where nothing does.
 */
function endsMs(
  { request }: DecideFacts,
  judged: readonly JudgedBy[],
  decision: 'DENY' | 'REVIEW',
): number | null {
  const least = leastAccepted(request);
  const is_capped_away = judged.some(
    ({ stage, found }) => stage === 'min_amount' && found.outcome === 'DENY',
  );
  const ends = judged.flatMap(({ stage, found }) => {
    // What was capped under the least amount ends with what capped it.
    const counts =
      found.outcome === 'LIMIT'
        ? is_capped_away && found.capped_minor < least
        : found.outcome === 'DENY'
          ? stage !== 'min_amount'
          : found.outcome === 'REVIEW' && decision === 'REVIEW';
    return counts && 'reason_code' in found ? (found.ends_ms ?? Number.POSITIVE_INFINITY) : [];
  });
  return ends.length === 0 ? null : Math.max(...ends);
}

/**
 * The first moment at which the spend is decided more mildly. Something is found at every moment up to the last end of
 * what is found now, so nothing before that needs to be looked at.
 */
function laterMoment(facts: DecideFacts, verdict: Verdict, judged: readonly JudgedBy[]): Remedy[] {
  const decision = verdict.decision === 'DENY' ? 'DENY' : 'REVIEW';
  let now = facts;
  let found = judged;
  for (let moment = 0; moment < MAX_MOMENTS; moment++) {
    const at_ms = endsMs(now, found, decision);
    if (at_ms === null || at_ms === Number.POSITIVE_INFINITY || at_ms <= now.now_ms) return [];
    now = factsAt(facts, at_ms);
    const stages = judgeStages(now);
    found = stages.judged;
    const change = milder(verdict, verdictOf(now, stages));
    // A moment that clears nothing is no reason to wait for it.
    if (change !== null && change.clears.length > 0)
      return [{ type: 'RETRY_AT', at: new Date(at_ms).toISOString(), ...change }];
  }
  return [];
}

/**
 * A spend that a person has to look at for the hour alone may be asked for again later. Where it counts in more than the
 * month, it would find itself there, so nothing is promised.
 */
function laterThanHours(facts: DecideFacts, verdict: Verdict, judged: readonly JudgedBy[]): Remedy[] {
  const counts = judged.some(({ stage }) =>
    ['duplicate', 'velocity', 'shared_budget', 'allowance'].includes(stage),
  );
  const only_hours = codesOf(judged, 'REVIEW').every((code) => code === 'OUTSIDE_ACTIVE_HOURS');
  if (counts || !only_hours) return [];
  return laterMoment(factsBesideHold(facts, verdict.held_amount_minor), verdict, judged);
}

function otherCurrency(facts: DecideFacts, verdict: Verdict): Remedy[] {
  const { authority, request } = facts;
  if (authority === null || authority.currency === request.action.currency) return [];
  const { currency } = authority;
  const change = milder(verdict, decide(factsInCurrency(facts, currency)));
  return change === null ? [] : [{ type: 'USE_CURRENCY', currency, ...change }];
}

function otherMerchant(facts: DecideFacts, verdict: Verdict): Remedy[] {
  if (!verdict.reason_codes.some((code) => REASONS_OF_MERCHANT.has(code))) return [];
  const change = milder(verdict, verdictOf(facts, judgeStages(facts, STAGES_OF_MERCHANT)));
  return change === null ? [] : [{ type: 'CHOOSE_OTHER_MERCHANT', ...change }];
}

/** An allowance for the whole amount; none where no allowance is in the way. */
function otherAllowance(facts: DecideFacts, verdict: Verdict, judged: readonly JudgedBy[]): Remedy[] {
  const is_in_the_way = judged.some(
    ({ stage, found }) => stage === 'allowance' && (found.outcome === 'DENY' || found.outcome === 'LIMIT'),
  );
  if (!is_in_the_way) return [];
  const change = milder(verdict, decide(factsUnderAnother(facts)));
  const { amount_minor } = facts.request.action;
  return change === null ? [] : [{ type: 'REQUEST_ALLOWANCE', amount_minor, ...change }];
}
