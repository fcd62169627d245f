import { Type } from 'typebox';
import { DecisionFilterFields, ListQuery } from '../decision-filters.ts';
import { DecisionBody } from '../decisions.ts';
import { CSV_TYPE, route } from '../route.ts';
import { Fields, OneOf, page, QueryInteger } from '../schema.ts';
import { MAX_LOOKED_AT } from '../values/decisions.ts';

export const EXPORT_TYPES = { csv: CSV_TYPE, jsonl: 'application/x-ndjson' } as const;

const ExportQuery = Fields({
  format: OneOf(['csv', 'jsonl'], {
    description: '`csv`: the columns of a table. `jsonl`: whole decisions.',
  }),
  ...DecisionFilterFields,
});

export const COLUMNS = [
  'decision_id',
  'created_at',
  'agent',
  'merchant',
  'requested_amount_minor',
  'authorized_amount_minor',
  'currency',
  'mode',
  'decision',
  'effective_decision',
  'reason_code',
  'review_state',
  'outcome_state',
] as const;

const IdParams = Fields({ id: Type.String() });

const MAX_WAIT_SECONDS = 25;

/** The query of `GET /v1/decisions/:id`. */
const DecisionQuery = Fields({
  wait_seconds: Type.Optional(
    QueryInteger(
      { min: 1, max: MAX_WAIT_SECONDS },
      { description: 'Wait up to this long for a change of its review or outcome before responding.' },
    ),
  ),
});

export const routes = {
  getDecision: route({
    method: 'GET',
    path: '/v1/decisions/:id',
    operationId: 'getDecision',
    tag: 'Decisions',
    summary: 'Get one decision',
    description:
      "In its current state: `effective_decision`, `review_state`, `reservation` (with the month's live counters) and `outcome_state` reflect everything that has happened since.",
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: DecisionQuery,
    responses: { 200: { description: 'The decision.', schema: DecisionBody } },
    errors: ['not_found'],
  }),
  listDecisions: route({
    method: 'GET',
    path: '/v1/decisions',
    operationId: 'listDecisions',
    tag: 'Decisions',
    summary: 'List decisions',
    description: `Newest first unless \`order\` says otherwise. Filters combine with AND; several values of one filter combine with OR. A page ends at \`limit\`, at about 1 MB, or after ${MAX_LOOKED_AT} examined decisions, whichever comes first. It may hold fewer than \`limit\`, or none, without being the last; only a null \`next_cursor\` marks the last page.`,
    scopes: ['read'],
    agentKey: 'own',
    query: ListQuery,
    responses: {
      200: { description: 'A page of decisions.', schema: page(DecisionBody, { $id: 'DecisionPage' }) },
    },
    errors: [],
  }),
  exportDecisions: route({
    method: 'GET',
    path: '/v1/decisions/export',
    operationId: 'exportDecisions',
    tag: 'Decisions',
    summary: 'Export decisions',
    description: `All decisions that match the list's filters, in its order, as a file: \`format=csv\` has the columns ${COLUMNS.map((column) => `\`${column}\``).join(', ')}; \`format=jsonl\` has whole decisions, one per line. In CSV, a cell that a spreadsheet could read as a formula begins with \`'\`. The export excludes decisions made after it began. If the connection breaks, the file is incomplete: it is complete only if the HTTP response ended properly.`,
    scopes: ['read'],
    agentKey: 'own',
    query: ExportQuery,
    responses: {
      200: {
        description: 'The decisions.',
        schema: Type.String(),
        content_type: 'text/csv',
        or_as: [EXPORT_TYPES.jsonl],
        headers: { 'content-disposition': 'A name for the file.' },
      },
    },
    errors: [],
  }),
};
