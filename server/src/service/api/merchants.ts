import { route } from '@purser/contract/route';
import { LISTED_VERDICTS, MAX_ENTRIES, type MerchantEntry } from '@purser/rules/merchants/directory';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import Type, { type Static } from 'typebox';
import { type Listing, listMerchants } from '../../engine/commands/merchants/list-merchants.ts';
import { unlistMerchant } from '../../engine/commands/merchants/unlist-merchant.ts';
import {
  gatherMerchants,
  MAX_EXAMPLES,
  MAX_LOOKED_AT,
  MAX_PAYEES,
  makeIsListed,
  type PlacedSuggestion,
  SUGGESTION_DAYS,
  SUGGESTIONS,
} from '../../engine/directory/suggest-merchants.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { loadAuthoritiesOf } from '../../engine/storage/authorities.ts';
import { listMerchantEntries, loadDirectory } from '../../engine/storage/merchant-entries.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Cursors, pageOf } from '../http/cursors.ts';
import { type Call, type Route, serve } from '../http/route.ts';
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
  Timestamp,
} from '../http/schemas.ts';
import { originOf } from '../people/callers.ts';

const MAX_LISTINGS = 200;
/** Gathered merchants that are kept for the pages behind a first one, and how long. Some hundred bytes each. */
const MAX_GATHERED = 20_000;
const GATHERED_TTL_MS = 60_000;

const EntryBody = Fields(
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

function entryBody(entry: MerchantEntry): Static<typeof EntryBody> {
  const { entry_id, merchant, payee_ids, verdict, note, created_at, key_id, principal_id } = entry;
  return {
    entry_id,
    merchant,
    payee_ids: [...payee_ids],
    verdict,
    note,
    created_at,
    created_by: { key_id, principal_id },
  };
}

const routes = {
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
    description: 'The entries in force, newest first.',
    scopes: ['read'],
    agentKey: 'own',
    params: IdParams,
    query: ListQuery,
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

/** The merchants that people list for an agent. */
export function makeMerchantRoutes(options: {
  db: pg.Pool;
  lists_db: pg.Pool;
  lane: Lane;
  cursors: Cursors;
}): Route[] {
  const { db, lists_db, lane, cursors } = options;
  const gathered = new LRUCache<string, PlacedSuggestion[]>({
    maxSize: MAX_GATHERED,
    sizeCalculation: (found) => found.length + 1,
    ttl: GATHERED_TTL_MS,
  });
  const isReviewer = ({ caller }: Pick<Call, 'caller'>) => !caller.scopes.includes('admin');
  return [
    serve(routes.suggestMerchants, { takes_long: true, shares: 'lists' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const agent = await visibleAgent(db, call.caller, call.params.id);
      const { agent_id } = agent;
      const list = ['suggestMerchants', workspace_id, agent_id];
      const after = JSON.parse((cursors.open(list, cursor) as string | null) ?? 'null') as
        | [number, string]
        | null;
      // The pages behind the first one are of what it was cut from, less what was listed since.
      const found =
        (after === null ? undefined : gathered.get(agent_id)) ??
        (await gatherMerchants(lists_db, workspace_id, agent_id, await readClock(db)));
      if (after === null) gathered.set(agent_id, found);
      const isListed = makeIsListed(
        await loadDirectory(db, workspace_id, agent_id),
        (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent_id) ?? null,
      );
      const rest = found.filter(
        ({ count, key, row }) =>
          (after === null || count < after[0] || (count === after[0] && key > after[1])) &&
          !isListed(row.merchant),
      );
      const { rows, next_cursor } = pageOf(rest, limit, ({ count, key }) =>
        cursors.seal(list, JSON.stringify([count, key])),
      );
      return { status: 200, body: { data: rows.map(({ row }) => row), next_cursor } };
    }),
    serve(routes.listMerchants)(async (call) => {
      const listings = call.body.entries.map(
        ({ merchant, payee_ids = [], verdict, note = '' }): Listing => ({
          merchant,
          payee_ids: [...new Set(payee_ids)].sort(),
          verdict,
          note: note === '' ? null : note,
        }),
      );
      const input = { agent: call.params.id, listings, is_reviewer: isReviewer(call) };
      const entries = await lane.submit(call.caller.workspace_id, listMerchants, input, originOf(call));
      return { status: 201, body: { data: entries.map(entryBody) } };
    }),
    serve(routes.getListedMerchants, { shares: 'reads' })(async (call) => {
      const { limit = 50, cursor } = call.query;
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const list = ['getListedMerchants', workspace_id, agent_id];
      const after = cursors.open(list, cursor) as string | null;
      const found = await listMerchantEntries(db, workspace_id, agent_id, { after, limit: limit + 1 });
      const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.entry_id));
      return { status: 200, body: { data: rows.map(entryBody), next_cursor } };
    }),
    serve(routes.unlistMerchant)(async (call) => {
      const { id: agent, entry_id } = call.params;
      const input = { agent, entry_id, is_reviewer: isReviewer(call) };
      await lane.submit(call.caller.workspace_id, unlistMerchant, input, originOf(call));
      return { status: 204 };
    }),
  ];
}
