import { Type } from 'typebox';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
import {
  Currency,
  Fields,
  Id,
  LimitMinor,
  Line,
  LongText,
  Nullable,
  OneOf,
  PageQuery,
  PayeeId,
  page,
  SortQuery,
  Timestamp,
} from '../schema.ts';
import {
  LISTED_VERDICTS,
  MAX_ENTRIES,
  MAX_EXAMPLES,
  MAX_LOOKED_AT,
  MAX_PAYEES,
  SUGGESTION_DAYS,
  SUGGESTIONS,
} from '../values/merchants.ts';

const MAX_LISTINGS = 200;

export const EntryBody = Fields(
  {
    entry_id: Id('merchant'),
    merchant: Type.String(),
    payee_ids: Type.Array(Type.String(), {
      description: 'The payees that an ALLOWED entry vouches for; empty for any payee.',
    }),
    verdict: OneOf(LISTED_VERDICTS),
    note: Nullable(Type.String()),
    created_at: Timestamp(),
    created_by: Fields({ key_id: Nullable(Type.String()), principal_id: Nullable(Type.String()) }),
  },
  { $id: 'MerchantEntry' },
);

const ListMerchantsBody = Fields(
  {
    entries: Type.Array(
      Fields({
        merchant: Line(
          { max: TEXT_LENGTHS.merchant },
          {
            description: 'A whole name, or a host name (with its subdomains).',
            examples: ['Hetzner Online'],
          },
        ),
        payee_ids: Type.Optional(
          Type.Array(PayeeId(), {
            maxItems: MAX_PAYEES,
            description:
              'With ALLOWED: only these payees vouch for a spend. A BLOCKED merchant is blocked for every payee; the list is then only informative.',
          }),
        ),
        verdict: OneOf(LISTED_VERDICTS, {
          description:
            'ALLOWED is evidence that a spend serves the purpose, matched like `allowed_merchants`; it overrides no limit, block or prohibition. BLOCKED denies the spend, matched like `blocked_merchants`.',
        }),
        note: Type.Optional(
          LongText({ max: TEXT_LENGTHS.description }, { description: 'Why it is listed.' }),
        ),
      }),
      { minItems: 1, maxItems: MAX_LISTINGS },
    ),
  },
  { $id: 'ListMerchantsRequest' },
);

const Judged = (description: string) =>
  Fields(
    {
      ALIGNED: Type.Integer({ minimum: 0 }),
      UNCLEAR: Type.Integer({ minimum: 0 }),
      MISALIGNED: Type.Integer({ minimum: 0 }),
    },
    { description },
  );

const SuggestionBody = Fields(
  {
    merchant: Type.String({ description: 'The name as last given.' }),
    payee_ids: Type.Array(Type.String(), { maxItems: MAX_PAYEES }),
    count: Type.Integer({ minimum: 1, description: 'All decisions at this merchant, whatever the result.' }),
    amounts: Type.Array(
      Fields({ currency: Currency(), amount_minor: LimitMinor({ description: 'As requested.' }) }),
    ),
    first_at: Timestamp(),
    last_at: Timestamp(),
    assessments: Judged('Assessments of these spends.'),
    labels: Judged('Labels given to them.'),
    reviews: Fields({ allowed: Type.Integer({ minimum: 0 }), denied: Type.Integer({ minimum: 0 }) }),
    outcomes: Fields({ executed: Type.Integer({ minimum: 0 }), failed: Type.Integer({ minimum: 0 }) }),
    settled: Type.Integer({ minimum: 0, description: 'Spends in effect that the payment rail settled.' }),
    examples: Type.Array(Type.String(), {
      maxItems: MAX_EXAMPLES,
      description: "Descriptions in the agent's own words, newest first.",
    }),
    suggestion: OneOf(SUGGESTIONS, {
      description:
        "ALLOW: people or the payment rail confirmed it, and nobody objected. BLOCK: people only rejected it. ASK: a person has to decide. The agent's own reports do not count.",
    }),
    why: Type.String({ description: 'One sentence.' }),
  },
  { $id: 'MerchantSuggestion' },
);

const IdParams = Fields({ id: Type.String({ description: "The agent's id or slug." }) });

const EntryParams = Fields({ ...IdParams.properties, entry_id: Type.String() });

const ListQuery = Fields(PageQuery);
const EntriesQuery = Fields({ ...SortQuery(['created_at', 'merchant']), ...PageQuery });

export const routes = {
  suggestMerchants: route({
    method: 'GET',
    path: '/v1/agents/:id/merchants/suggestions',
    operationId: 'suggestMerchants',
    tag: 'Merchants',
    summary: 'Get suggested merchants',
    description: `The merchants in the agent's decisions of the last ${SUGGESTION_DAYS} days (at most the newest ${MAX_LOOKED_AT.toLocaleString('en')}) that are neither named in its authority nor listed, most frequent first, with the verdicts of people and the payment rail on the spends there.`,
    scopes: ['read'],
    params: IdParams,
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of suggestions.',
        schema: page(SuggestionBody, { $id: 'MerchantSuggestionPage' }),
      },
    },
    errors: ['not_found'],
  }),
  listMerchants: route({
    method: 'POST',
    path: '/v1/agents/:id/merchants',
    operationId: 'listMerchants',
    tag: 'Merchants',
    summary: 'List merchants for an agent',
    description: `Adds all entries or none. They apply from the next decision on, on every node, and stay when the authority changes; they are not part of its hash. An entry that contradicts the current authority or another entry is refused and named. Repeating an entry adds nothing and returns the existing one. An agent may have ${MAX_ENTRIES.toLocaleString('en')} entries. The scope \`review\` suffices only if the authority has \`reviewer_may_list\`.`,
    scopes: ['admin', 'review'],
    params: IdParams,
    body: ListMerchantsBody,
    responses: {
      201: {
        description: 'The entries, in the order given.',
        schema: Fields({ data: Type.Array(EntryBody) }, { $id: 'ListedMerchants' }),
      },
    },
    errors: ['not_found', 'merchant_limit'],
  }),
  getListedMerchants: route({
    method: 'GET',
    path: '/v1/agents/:id/merchants',
    operationId: 'getListedMerchants',
    tag: 'Merchants',
    summary: "Get an agent's listed merchants",
    description: 'The entries in force, newest first unless `sort` and `order` say otherwise.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: EntriesQuery,
    responses: {
      200: { description: 'A page of entries.', schema: page(EntryBody, { $id: 'MerchantEntryPage' }) },
    },
    errors: ['not_found'],
  }),
  unlistMerchant: route({
    method: 'DELETE',
    path: '/v1/agents/:id/merchants/:entry_id',
    operationId: 'unlistMerchant',
    tag: 'Merchants',
    summary: 'Unlist a merchant',
    description:
      'The entry no longer applies from the next decision on, on every node. Unlisting it again changes nothing. The scope `review` suffices only if the authority has `reviewer_may_list`.',
    scopes: ['admin', 'review'],
    params: EntryParams,
    responses: { 204: { description: 'The merchant is no longer listed.', schema: null } },
    errors: ['not_found'],
  }),
};
