import type { Decision, StageFinding } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import { ANSWERABLE } from '@purser/contract/values/allowances';
import { type Allowance, type LoadedAllowance, termsOf } from '../counters/allowances.ts';
import { useAt } from '../counters/counters.ts';
import { POLICY } from '../sentences/policy.ts';
import { whyNotOpen, whyOutside } from './allowances.ts';
import type { DecideFacts, Found, JudgedBy } from './stage.ts';

const ANSWERABLE_CODES: ReadonlySet<ReasonCode> = new Set(ANSWERABLE);

/** Returns the reasons of a review, each once; null where a reason is among them that cannot be answered ahead, or none is. */
export function answerableReasons(
  findings: readonly Pick<StageFinding, 'outcome' | 'reason_code'>[],
): ReasonCode[] | null {
  if (findings.some(({ outcome }) => outcome === 'DENY')) return null;
  const codes = findings.flatMap(({ outcome, reason_code }) =>
    outcome === 'REVIEW' ? (reason_code ?? []) : [],
  );
  return codes.length > 0 && codes.every((code) => ANSWERABLE_CODES.has(code)) ? [...new Set(codes)] : null;
}

/** The person who stands for an allowance: who granted it, or else who made it. */
function personOf({ decided, created_by_key_id, created_by_principal_id }: Allowance): string {
  const by =
    decided === null
      ? { key_id: created_by_key_id, principal_id: created_by_principal_id }
      : (JSON.parse(decided) as { by: { key_id: string | null; principal_id: string | null } }).by;
  return by.principal_id ?? by.key_id ?? 'the operator';
}

const DAY_LENGTH = 10;
const answeredBy = (allowance: Allowance) =>
  POLICY.answered_ahead(
    allowance.allowance_id,
    personOf(allowance),
    allowance.expires_at.slice(0, DAY_LENGTH),
  );

/** Returns whether a standing approval is in force, for this spend, and has room for the whole amount. */
function hasRoom(
  allowance: LoadedAllowance,
  { request, now_ms }: DecideFacts,
  amount_minor: number,
): boolean {
  if (whyNotOpen(allowance, now_ms) !== null || whyOutside(allowance, request.action) !== null) return false;
  const use = useAt(allowance.slots, now_ms);
  const { amount_minor: most, per_spend_limit_minor: per_spend, max_count } = allowance;
  return (
    use.amount_minor + amount_minor <= most &&
    (per_spend === null || amount_minor <= per_spend) &&
    (max_count === null || use.count < max_count)
  );
}

const reasonIn = ({ found }: JudgedBy): ReasonCode | null =>
  found.outcome === 'REVIEW' ? found.reason_code : null;

/** The finding as it passes because it was answered ahead. */
function passing({ found }: JudgedBy, detail: string): Found {
  const { name, observed, limit } = found;
  return {
    ...(name === undefined ? {} : { name }),
    ...(observed === undefined ? {} : { observed }),
    ...(limit === undefined ? {} : { limit }),
    outcome: 'PASS',
    detail,
  };
}

/** The results of the stages, some of them answered ahead; `standing_approval` where one of the agent's was used. */
export interface AnsweredAhead {
  judged: readonly JudgedBy[];
  standing_approval?: NonNullable<Decision['standing_approval']>;
}

/**
 * Lets pass what the named allowances answer of a review, and the rest if one standing approval answers all of it and has room
 * for the whole amount: the first of those that the agent has, the one that expires first in front. Changes nothing where a
 * stage denies, and where the review policy asks for more than one unsigned approval. Assessments stay.
 */
export function answerAhead(
  facts: DecideFacts,
  judged: readonly JudgedBy[],
  amount_minor: number,
): AnsweredAhead {
  const { allowances = [], answers_ahead, replayed_answers } = facts;
  const is_denied = judged.some(({ found }) => found.outcome === 'DENY');
  if (is_denied || judged.every((each) => reasonIn(each) === null)) return { judged };
  if (replayed_answers !== undefined) return replayed(judged, replayed_answers);
  if (answers_ahead === undefined) return { judged };
  const { mayAnswer, standing } = answers_ahead;
  if (!mayAnswer(amount_minor)) return { judged };
  const by_chain = judged.map((each): JudgedBy => {
    const code = reasonIn(each);
    const by = code === null ? undefined : allowances.find((one) => termsOf(one).answers.includes(code));
    return by === undefined ? each : { ...each, found: passing(each, answeredBy(by)) };
  });
  const rest = [...new Set(by_chain.flatMap((each) => reasonIn(each) ?? []))];
  if (rest.length === 0) return { judged: by_chain };
  const by = standing.find(
    (each) =>
      !allowances.some(({ allowance_id }) => allowance_id === each.allowance_id) &&
      rest.every((code) => termsOf(each).answers.includes(code)) &&
      hasRoom(each, facts, amount_minor),
  );
  if (by === undefined) return { judged: by_chain };
  return {
    judged: by_chain.map((each) =>
      reasonIn(each) === null ? each : { ...each, found: passing(each, answeredBy(by)) },
    ),
    standing_approval: { id: by.allowance_id, answers: rest },
  };
}

/** The name of what a stage judged. */
const placeOf = (stage: string, name: string | undefined) => `${stage} ${name ?? ''}`;

/** Finds again, in a replay, what an earlier answer says was answered ahead. */
function replayed(judged: readonly JudgedBy[], answers: ReadonlyMap<string, string>): AnsweredAhead {
  return {
    judged: judged.map((each) => {
      const code = reasonIn(each);
      const detail = answers.get(placeOf(each.stage, each.found.name));
      const is_answered = code !== null && ANSWERABLE_CODES.has(code) && detail !== undefined;
      return is_answered ? { ...each, found: passing(each, detail) } : each;
    }),
  };
}

/** Returns the sentences of what was answered ahead, by their place in the trace of an answer, for a replay. */
export function answersIn(trace: readonly StageFinding[]): ReadonlyMap<string, string> {
  return new Map(
    trace.flatMap(({ stage, name, outcome, detail }): [string, string][] =>
      outcome === 'PASS' && ANSWERED.test(detail) ? [[placeOf(stage, name), detail]] : [],
    ),
  );
}

const ANSWERED = /^Answered by alw_[0-9A-Z]{26}, /;
