import type { CreateAllowance } from '@purser/contract/allowances/fields';
import {
  MAX_ALLOWANCE_DAYS,
  MAX_ALLOWANCE_DEPTH,
  MAX_ALLOWANCE_LABELS,
} from '@purser/contract/values/allowances';
import { type Allowance, type AllowanceTerms, endsMs, termsOf } from '@purser/rules/counters/allowances';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Agent } from '@purser/rules/domain/agents';
import type { Refusal } from '../../lane/command.ts';

const DAY_MS = 86_400_000;

/** The ingredients of a new allowance; `parent` is the one that it is a part of. */
export interface Made {
  body: CreateAllowance;
  agent: Pick<Agent, 'agent_id'> | null;
  budget: SharedBudget | null;
  parent: Allowance | null;
  now_ms: number;
}

/** The fields of a new allowance that follow from its body and its parent. */
export type Bounds = Pick<
  Allowance,
  | 'agent_id'
  | 'budget_id'
  | 'parent_id'
  | 'currency'
  | 'amount_minor'
  | 'period'
  | 'time_zone'
  | 'per_spend_limit_minor'
  | 'max_count'
  | 'expires_at'
  | 'terms'
  | 'automatic'
  | 'name'
>;

type Field = keyof CreateAllowance | `labels.${string}`;
type Rule = (made: Made) => [Field, string] | null;

const isOfSomething: Rule = ({ body: { agent, budget, parent } }) =>
  agent === undefined && budget === undefined && parent === undefined
    ? ['agent', 'or one of budget and parent is required']
    : null;

const agentOfParent: Rule = ({ body, parent }) =>
  body.agent !== undefined && parent !== null && parent.agent_id !== null
    ? ['agent', 'must be omitted, because the parent has one']
    : null;

const currencyGiven: Rule = ({ body: { currency }, parent, budget }) => {
  if (parent !== null && currency !== undefined) return ['currency', "must be omitted: it is the parent's"];
  if (parent === null && currency === undefined) return ['currency', 'is required'];
  const own = parent?.currency ?? currency;
  if (budget === null || budget.currency === own) return null;
  return ['currency', `is ${own}, but the budget is in ${budget.currency}`];
};

const deepEnough: Rule = ({ parent }) =>
  parent !== null && parent.path.length >= MAX_ALLOWANCE_DEPTH
    ? ['parent', `has ${MAX_ALLOWANCE_DEPTH - 1} above it already; allowances cannot nest deeper`]
    : null;

const atMostParent: Rule = ({ body, parent }) =>
  parent === null ? null : overParent(parent, { ...body, period: body.period ?? 'TOTAL' });

const expires: Rule = ({ body: { expires_at }, parent, now_ms }) => {
  if (expires_at === undefined) return parent === null ? ['expires_at', 'is required'] : null;
  return expiryProblem(expires_at, parent, now_ms);
};

const labelled: Rule = ({ body, parent }) => {
  const above = parent === null ? {} : termsOf(parent).labels;
  for (const [key, value] of Object.entries(body.labels ?? {})) {
    if (Object.hasOwn(above, key) && above[key] !== value)
      return [`labels.${key}`, 'is another value than that of the parent'];
  }
  return Object.keys({ ...above, ...body.labels }).length > MAX_ALLOWANCE_LABELS
    ? ['labels', `must have at most ${MAX_ALLOWANCE_LABELS} fields, those of the parent included`]
    : null;
};

const keyOfAgent: Rule = ({ body, agent, parent }) =>
  body.key !== undefined && agent === null && parent?.agent_id == null
    ? ['key', 'needs an agent: name one with agent, or make the key with POST /v1/api-keys']
    : null;

const standing: Rule = ({ body }) => {
  if (body.automatic !== true) return null;
  if (body.parent !== undefined || body.budget !== undefined)
    return ['automatic', 'goes with neither parent nor budget'];
  const has_answers = (body.answers ?? []).length > 0;
  const is_bound = body.merchants !== undefined || body.payee_ids !== undefined;
  return body.agent !== undefined && has_answers && is_bound
    ? null
    : ['automatic', 'needs agent, answers, and merchants or payee_ids'];
};

const itemsOfPurpose: Rule = ({ body: { expected_items, purpose } }) =>
  expected_items !== undefined && purpose === undefined ? ['expected_items', 'needs purpose'] : null;

/** Their order is public: the first problem is the answer. */
const RULES: readonly Rule[] = [
  isOfSomething,
  agentOfParent,
  currencyGiven,
  deepEnough,
  atMostParent,
  expires,
  labelled,
  itemsOfPurpose,
  keyOfAgent,
  standing,
];

/** The problem with an amount beside the parent's of the same period; null if there is none. */
export function overParent(
  parent: Pick<Allowance, 'period' | 'amount_minor'>,
  { period, amount_minor }: Pick<Allowance, 'period' | 'amount_minor'>,
): ['amount_minor', string] | null {
  return parent.period === period && amount_minor > parent.amount_minor
    ? ['amount_minor', `is more than the ${parent.amount_minor} of the parent`]
    : null;
}

/** The problem with an expiry, which must lie ahead, not too far, and not after the parent's; null if there is none. */
export function expiryProblem(
  expires_at: string,
  parent: Pick<Allowance, 'expires_at'> | null,
  now_ms: number,
): ['expires_at', string] | null {
  const expires_ms = Date.parse(expires_at);
  if (expires_ms <= now_ms) return ['expires_at', 'must lie in the future'];
  if (expires_ms > now_ms + MAX_ALLOWANCE_DAYS * DAY_MS)
    return ['expires_at', `must be at most ${MAX_ALLOWANCE_DAYS} days ahead`];
  return parent !== null && expires_ms > Date.parse(parent.expires_at)
    ? ['expires_at', `must not be after the parent's, ${parent.expires_at}`]
    : null;
}

/** Why an allowance may not be made like this, `prefix` before the field; null: it may. */
export function whyNotMade(made: Made, prefix: string): Refusal | null {
  for (const rule of RULES) {
    const found = rule(made);
    if (found !== null) return { code: 'invalid_request', message: `${prefix}${found[0]}: ${found[1]}` };
  }
  return null;
}

/** The fields that the body gives, with those that it inherits. The body was found right by `whyNotMade`. */
export function boundsOf({ body, agent, budget, parent }: Made): Bounds {
  const { merchants, payee_ids, action_types, purpose, expected_items, labels, answers = [] } = body;
  const terms: AllowanceTerms = {
    ...(merchants === undefined ? {} : { merchants }),
    ...(payee_ids === undefined ? {} : { payee_ids }),
    ...(action_types === undefined ? {} : { action_types }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(expected_items === undefined ? {} : { expected_items }),
    answers,
    labels: { ...(parent === null ? {} : termsOf(parent).labels), ...labels },
  };
  return {
    agent_id: agent?.agent_id ?? parent?.agent_id ?? null,
    budget_id: budget?.budget_id ?? null,
    parent_id: parent?.allowance_id ?? null,
    currency: (parent?.currency ?? body.currency) as string,
    amount_minor: body.amount_minor,
    period: body.period ?? 'TOTAL',
    time_zone: body.time_zone ?? 'UTC',
    per_spend_limit_minor: body.per_spend_limit_minor ?? null,
    max_count: body.max_count ?? null,
    expires_at: (body.expires_at ?? parent?.expires_at) as string,
    terms: JSON.stringify(terms),
    automatic: body.automatic ?? false,
    name: body.name ?? null,
  };
}

/** True if it may be used now, as far as its own row says. */
export const isOpen = (allowance: Allowance, now_ms: number): boolean =>
  allowance.status === 'OPEN' && endsMs(allowance) > now_ms;
