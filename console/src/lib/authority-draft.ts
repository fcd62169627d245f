import type { Authority } from '@purser/sdk';
import { exponentOf, fromInput, toInput } from './money.ts';

/** An authority as it stands in the form: texts, amounts in major units, lists with a line for each entry. */
export interface Draft {
  objective: string;
  success_criteria: string;
  constraints: string;
  context: string;
  currency: string;
  per_transaction_limit: string;
  review_threshold: string;
  monthly_budget: string;
  blocked_merchants: string;
  allowed_merchants: string;
  on_purpose_unclear: string;
}

export const EMPTY_DRAFT: Draft = {
  objective: '',
  success_criteria: '',
  constraints: '',
  context: '',
  currency: 'EUR',
  per_transaction_limit: '',
  review_threshold: '',
  monthly_budget: '',
  blocked_merchants: '',
  allowed_merchants: '',
  on_purpose_unclear: 'REVIEW',
};

const lines = (list: readonly string[] | undefined) => (list ?? []).join('\n');
const listOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The form of an authority. */
export function draftOf(authority: Authority): Draft {
  const { purpose, currency } = authority;
  return {
    objective: purpose.objective,
    success_criteria: lines(purpose.success_criteria),
    constraints: lines(purpose.constraints),
    context: purpose.context ?? '',
    currency,
    per_transaction_limit: toInput(authority.per_transaction_limit_minor, currency),
    review_threshold: toInput(authority.review_threshold_minor, currency),
    monthly_budget: toInput(authority.monthly_budget_minor, currency),
    blocked_merchants: lines(authority.blocked_merchants),
    allowed_merchants: lines(authority.allowed_merchants),
    on_purpose_unclear: authority.on_purpose_unclear ?? 'REVIEW',
  };
}

export type Problems = Partial<Record<keyof Draft, string>>;

/**
 * The authority that a form says, or what is wrong with it. What the form has no field for is taken from `base`, so that
 * nothing is lost that this page does not know.
 */
export function authorityOf(
  draft: Draft,
  base: Authority | null,
): { authority: Authority; problems: null } | { authority: null; problems: Problems } {
  const problems: Problems = {};
  const currency = draft.currency.trim().toUpperCase();
  if (draft.objective.trim() === '') problems.objective = 'must say what the agent is there for';
  if (!/^[A-Z]{3}$/.test(currency)) problems.currency = 'must be a currency such as EUR';
  const amountOf = (name: 'per_transaction_limit' | 'review_threshold' | 'monthly_budget') => {
    const read = fromInput(draft[name], currency);
    if ('problem' in read) problems[name] = read.problem;
    return 'problem' in read ? null : read.amount_minor;
  };
  const amounts = {
    per_transaction_limit_minor: amountOf('per_transaction_limit'),
    review_threshold_minor: amountOf('review_threshold'),
    monthly_budget_minor: amountOf('monthly_budget'),
  };
  if (Object.keys(problems).length > 0) return { authority: null, problems };
  const purpose: Record<string, unknown> = { ...base?.purpose };
  put(purpose, 'objective', draft.objective.trim());
  put(purpose, 'success_criteria', listOf(draft.success_criteria));
  put(purpose, 'constraints', listOf(draft.constraints));
  put(purpose, 'context', draft.context.trim());
  const authority: Record<string, unknown> = { ...base, purpose, currency };
  for (const [name, amount_minor] of Object.entries(amounts)) put(authority, name, amount_minor);
  put(authority, 'blocked_merchants', listOf(draft.blocked_merchants));
  put(authority, 'allowed_merchants', listOf(draft.allowed_merchants));
  // Left out it means REVIEW; an authority that never said it keeps its hash.
  if (draft.on_purpose_unclear === 'ALLOW' || base?.on_purpose_unclear !== undefined) {
    authority.on_purpose_unclear = draft.on_purpose_unclear;
  }
  return { authority: authority as unknown as Authority, problems: null };
}

/** Sets what there is. What is empty is left out, but for an empty list that the authority had already. */
function put(of: Record<string, unknown>, name: string, value: unknown): void {
  const had_empty = Array.isArray(of[name]) && (of[name] as unknown[]).length === 0;
  const is_empty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (!is_empty || (had_empty && Array.isArray(value))) of[name] = value;
  else delete of[name];
}

/** The field of the form that a refusal of the API names. */
export const FIELD_OF: Record<string, keyof Draft> = {
  'purpose.objective': 'objective',
  'purpose.success_criteria': 'success_criteria',
  'purpose.constraints': 'constraints',
  'purpose.context': 'context',
  currency: 'currency',
  per_transaction_limit_minor: 'per_transaction_limit',
  review_threshold_minor: 'review_threshold',
  monthly_budget_minor: 'monthly_budget',
  blocked_merchants: 'blocked_merchants',
  allowed_merchants: 'allowed_merchants',
  on_purpose_unclear: 'on_purpose_unclear',
};

/** The field for a name such as `purpose.constraints[2]`. */
export const fieldOf = (name: string | undefined): keyof Draft | undefined =>
  name === undefined ? undefined : FIELD_OF[name.replace(/\[\d+\]$/, '')];

/** What an amount is in minor units, said below its field. */
export function minorHint(text: string, currency: string): string | undefined {
  const read = fromInput(text, currency);
  if ('problem' in read || read.amount_minor === null) return undefined;
  return exponentOf(currency) === 0 ? undefined : `${read.amount_minor} in minor units`;
}
