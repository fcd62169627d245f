import type { Decision, DecisionRequest, ListDecisionsQuery } from './generated.ts';

export type * from './generated.ts';

export type Mode = Decision['mode'];
/** The filters of `decisions.list`. */
export type DecisionListQuery = ListDecisionsQuery;
/** The two parameters of every list. */
export type ListQuery = Pick<ListDecisionsQuery, 'limit' | 'cursor'>;

/** A decision request with the name of the spend: the order, invoice or tool call. One name never pays twice. */
export type SpendRequest = DecisionRequest & { idempotencyKey: string };
