import { Type } from 'typebox';
import { AuthorityBody } from '../../authority.ts';
import { AnomalyBody, FilterBody, LineReplayBody, ProposalBody, ReportFilter } from '../../history/replay.ts';
import { MAX_AMOUNT_MINOR } from '../../limits.ts';
import { PurposeBody } from '../../purpose/fields.ts';
import { route } from '../../route.ts';
import { Fields, Formed, page, QueryInteger, WholeNumber } from '../../schema.ts';

const ReplayBody = Fields(
  { authority: AuthorityBody, filter: Type.Optional(FilterBody) },
  { $id: 'ReplayHistoryRequest' },
);

const ProposeBody = Fields(
  {
    agent: Type.Optional(
      Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
        description: 'Whose policy it is for: purpose and block list stay as they are.',
        examples: ['infra-bot'],
      }),
    ),
    purpose: Type.Optional(PurposeBody),
    filter: Type.Optional(FilterBody),
    keep_share: Type.Optional(
      Type.Number({
        minimum: 0.5,
        maximum: 1,
        default: 0.97,
        description: 'The share of lines to keep allowed.',
      }),
    ),
    reviews_per_week: Type.Optional(WholeNumber({ min: 0, max: 1_000 }, { description: 'By default 2.' })),
  },
  {
    $id: 'ProposeHistoryRequest',
    examples: [{ purpose: { objective: 'Keep the staging servers running.' } }],
  },
);

const AnomalyQuery = Fields({
  import: Type.Optional(Formed('^imp_[A-Za-z0-9]{1,64}$', 'must be an id that begins with "imp_"')),
  ...ReportFilter,
  threshold_minor: Type.Optional(
    QueryInteger(
      { min: 1, max: MAX_AMOUNT_MINOR },
      {
        description:
          'Payments may have been split to stay under it; by default the review threshold of the agent.',
      },
    ),
  ),
});

export const routes = {
  replayHistory: route({
    method: 'POST',
    path: '/v1/history/replay',
    operationId: 'replayHistory',
    tag: 'History',
    summary: 'Replay a draft over lines',
    description:
      'Says what a draft of an authority would have decided about imported lines, in their order, with its own months, limits, duplicates and known merchants. A REVIEW counts as allowed later. Lines with a day and no time skip active hours and windows under a day. Shared budgets and validity are left out. Nothing is saved.',
    scopes: ['read'],
    body: ReplayBody,
    responses: { 200: { description: 'What the draft would have decided.', schema: LineReplayBody } },
    errors: ['not_found'],
  }),
  proposeFromHistory: route({
    method: 'POST',
    path: '/v1/history/proposal',
    operationId: 'proposeFromHistory',
    tag: 'History',
    summary: 'Propose an authority from lines',
    description:
      'Makes an authority from imported lines and explains every value. It needs a purpose: that of the agent, or `purpose`. Where too few lines stay allowed, values are dropped in a fixed order (`relaxed`). Nothing is saved: a person applies it.',
    scopes: ['read'],
    body: ProposeBody,
    responses: { 200: { description: 'The proposal.', schema: ProposalBody } },
    errors: ['not_found'],
  }),
  listAnomalies: route({
    method: 'GET',
    path: '/v1/history/anomalies',
    operationId: 'listAnomalies',
    tag: 'History',
    summary: 'Find lines that stand out',
    description:
      'At most 200 of each kind, newest first: `DUPLICATE` (the same amount again within 72 hours), `SPLIT` (payments within a day that stay under a threshold each, and exceed it together), `PAYEE_CHANGED` (another account than before), `PRICE_JUMP` (a fifth over a steady price), `DORMANT` (a merchant that was not paid for 90 days).',
    scopes: ['read'],
    query: AnomalyQuery,
    responses: { 200: { description: 'The lines.', schema: page(AnomalyBody, { $id: 'AnomalyPage' }) } },
    errors: ['not_found'],
  }),
};
