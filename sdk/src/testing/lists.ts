import type { Decision, DecisionListQuery } from '../types.ts';
import { Refused } from './refused.ts';

type Filter = Exclude<keyof DecisionListQuery, 'order' | 'limit' | 'cursor'>;
type Holds = (decision: Decision, value: string) => boolean;

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** One of several values, separated by commas. */
const among =
  (of: (decision: Decision) => unknown): Holds =>
  (decision, value) =>
    value.split(',').some((each) => [of(decision)].flat().includes(each));
const toldBy =
  (of: (decision: Decision) => boolean): Holds =>
  (decision, value) =>
    of(decision) === (value === 'true');

/** The match of each filter. A value that the service would refuse matches nothing. */
const FILTERS: Record<Filter, Holds> = {
  agent: ({ agent }, value) => value === agent.slug || value === agent.id,
  decision: among(({ decision }) => decision),
  effective_decision: among(({ effective_decision }) => effective_decision),
  mode: among(({ mode }) => mode),
  reason: among(({ reason_codes }) => reason_codes),
  review_state: among(({ review_state }) => review_state),
  outcome_state: among(({ outcome_state }) => outcome_state),
  label: among(({ label }) => label?.label),
  allowance: ({ allowance }, value) => allowance?.id === value,
  currency: among(({ currency }) => currency),
  merchant: ({ action }, value) => action.merchant === value,
  q: ({ action }, value) => action.merchant.toLowerCase().includes(value.toLowerCase()),
  question_id: ({ purpose }, value) =>
    (purpose.questions ?? []).some(({ question_id, answered }) => question_id === value && answered === null),
  min_amount: ({ requested_amount_minor }, value) => requested_amount_minor >= Number(value),
  max_amount: ({ requested_amount_minor }, value) => requested_amount_minor <= Number(value),
  reviewed: toldBy(({ review_state }) => review_state === 'ALLOWED' || review_state === 'DENIED'),
  reviewed_by: ({ review }, value) => review?.principal_id === value,
  labeled: toldBy(({ label }) => label !== null),
  from: ({ created_at }, value) => Date.parse(created_at) >= Date.parse(value),
  to: ({ created_at }, value) =>
    Date.parse(created_at) < Date.parse(value) + (value.length === 10 ? DAY_MS : 0),
};

/** A page of the decisions, which are given oldest first. Refuses a filter that there is not, and a limit out of bounds. */
export function listDecisions(decisions: Decision[], query: URLSearchParams) {
  const { order = 'desc', limit = DEFAULT_LIMIT, cursor, ...filters } = Object.fromEntries(query);
  if (!(Number(limit) >= 1 && Number(limit) <= MAX_LIMIT)) {
    throw new Refused('invalid_request', `limit: must be an integer from 1 to ${MAX_LIMIT}`);
  }
  let found = decisions;
  for (const [name, value] of Object.entries(filters)) {
    if (!Object.hasOwn(FILTERS, name)) {
      throw new Refused('invalid_request', `${name}: is not a parameter of this request`);
    }
    found = found.filter((decision) => FILTERS[name as Filter](decision, value));
  }
  if (order === 'desc') found = found.toReversed();
  if (order === 'expires') {
    const pending = found.filter(({ review_state }) => review_state === 'PENDING');
    // In SHADOW no review runs out.
    found = ['ENFORCE', 'SHADOW'].flatMap((mode) => pending.filter((decision) => decision.mode === mode));
  }
  const begin = found.findIndex(({ decision_id }) => decision_id === cursor) + 1;
  const data = found.slice(begin, begin + Number(limit));
  const is_last = begin + data.length >= found.length;
  return { data, next_cursor: is_last ? null : (data.at(-1)?.decision_id ?? null) };
}
