import { Type } from 'typebox';
import { DecisionFilterFields, ListQuery } from '../decision-filters.ts';
import { DecisionBody } from '../decisions.ts';
import { CSV_TYPE, route } from '../route.ts';
import { Fields, Formed, OneOf, page, WaitSeconds } from '../schema.ts';
import { MAX_LOOKED_AT } from '../values/decisions.ts';

export const EXPORT_TYPES = { csv: CSV_TYPE, jsonl: 'application/x-ndjson' } as const;

/** Whom a table is for. */
export const AUDIENCES = ['machines', 'people'] as const;

const MAX_CONTEXT_COLUMNS = 20;
const CONTEXT_NAME = '[^,\\p{Cc}]{1,64}';

const ExportQuery = Fields({
  format: OneOf(['csv', 'jsonl'], {
    description: '`csv`: the columns of a table. `jsonl`: whole decisions.',
  }),
  audience: Type.Optional(
    OneOf(AUDIENCES, {
      description:
        'Only for `csv`. `people`: amounts in major units, with the words of the request, the review and the outcome. The default is `machines`.',
    }),
  ),
  context: Type.Optional(
    Formed(
      `^${CONTEXT_NAME}(,${CONTEXT_NAME}){0,${MAX_CONTEXT_COLUMNS - 1}}$`,
      `must be 1 to ${MAX_CONTEXT_COLUMNS} names of at most 64 characters, separated by commas`,
      {
        description:
          "Only with `audience=people`: fields of the requests' `context`, each as a column `context.NAME`. `order.id` names a field of an inner object.",
        examples: ['cost_center,order'],
      },
    ),
  ),
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

/** The columns for people, before those of the context. */
export const PEOPLE_COLUMNS = [
  'date',
  'agent',
  'merchant',
  'description',
  'task',
  'requested_amount',
  'authorized_amount',
  'currency',
  'mode',
  'decision',
  'effective_decision',
  'reason',
  'explanation',
  'review_state',
  'reviewer',
  'review_reason',
  'comment',
  'label',
  'outcome',
  'paid_amount',
  'refunded_amount',
  'reference',
  'decision_id',
] as const;

const IdParams = Fields({ id: Type.String() });

const inWords = (columns: readonly string[]) => columns.map((column) => `\`${column}\``).join(', ');

/** The query of `GET /v1/decisions/:id`. */
const DecisionQuery = Fields({
  wait_seconds: Type.Optional(
    WaitSeconds('Wait up to this long for a change of its review or outcome before responding.'),
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
    description: `All decisions that match the list's filters, in its order, as a file: \`format=csv\` has the columns ${inWords(COLUMNS)}; with \`audience=people\`, ${inWords(PEOPLE_COLUMNS)}, and one for each name in \`context\`; \`format=jsonl\` has whole decisions, one per line. Amounts for people are in major units (\`54.40\`). In CSV, a cell that a spreadsheet could read as a formula begins with \`'\`. The export excludes decisions made after it began. If the connection breaks, the file is incomplete: it is complete only if the HTTP response ended properly.`,
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
