import { routes, SEARCH_KINDS } from '@purser/contract/routes/search';
import { allowanceOf } from '@purser/rules/domain/keys';
import { foldText } from '@purser/rules/values/folded-text';
import { formatMoney } from '@purser/rules/values/money';
import type pg from 'pg';
import type { Static } from 'typebox';
import { listUses } from '../../engine/allowances/allowance-rows.ts';
import {
  type FoundName,
  findByIds,
  findListedNames,
  findNames,
  loadFoundDecisions,
  type NamedKind,
} from '../../engine/search/find-names.ts';
import { findMerchants, findTexts, searching } from '../../engine/search/find-texts.ts';
import type { SearchKind as TextKind } from '../../engine/search/search-rows.ts';
import type { Client } from '../../engine/storage/database.ts';
import { agentScopeOf } from '../decisions/present-decisions.ts';
import type { Cursors } from '../http/cursors.ts';
import { type Route, serve } from '../http/route.ts';

type Kind = (typeof SEARCH_KINDS)[number];
type Hit = Static<(typeof routes.search.responses)[200]['schema']>['data'][number];

/** A query, and its caller. */
interface Asked {
  workspace_id: string;
  /** Folded. */
  text: string;
  /** The beginning of an id; null where the text is none. */
  id: string | null;
  agent_id: string | null;
  /** The allowance that the caller is bound to; null for every other caller. */
  within: string | null;
}

/** A part of a page. `next`: where the kind continues; null: it has no more. */
interface Part {
  hits: Hit[];
  next: string | null;
}

type Find = (client: Client, asked: Asked, page: { after: string | null; limit: number }) => Promise<Part>;

/** Makes a part of `limit` from one row more, with what follows the last of them. */
function partOf<Row>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
  hitOf: (row: Row) => Hit,
): Part {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    hits: shown.map(hitOf),
    next: rows.length > shown.length && last !== undefined ? placeOf(last) : null,
  };
}

const named =
  (kind: NamedKind): Find =>
  async (client, asked, { after, limit }) => {
    const rows = await findNames(client, kind, asked, { after, limit: limit + 1 });
    const hitOf = (row: FoundName): Hit => ({ kind, ...row });
    return partOf(rows, limit, ({ id }) => id, hitOf);
  };

/** The names of merchants in requests, and of listed ones, as one list. */
const merchants: Find = async (client, asked, { after, limit }) => {
  const page = { after, limit: limit + 1 };
  const requested = await findMerchants(client, asked, page);
  const listed = await findListedNames(client, asked, page);
  const decisions = await loadFoundDecisions(
    client,
    asked.workspace_id,
    requested.map(({ decision_id }) => decision_id),
  );
  const hits = new Map<string, Hit>();
  for (const { merchant, verdict, agent, at } of listed) {
    const subtitle = `${verdict === 'BLOCKED' ? 'Blocked' : 'Allowed'} for ${agent}`;
    hits.set(merchant, { kind: 'merchant', id: merchant, title: merchant, subtitle, at });
  }
  for (const { merchant, decision_id } of requested) {
    const decision = decisions.get(decision_id);
    if (decision === undefined) continue;
    const subtitle = hits.get(merchant)?.subtitle ?? `Last requested by ${decision.agent}`;
    hits.set(merchant, {
      kind: 'merchant',
      id: merchant,
      title: merchant,
      subtitle,
      at: decision.created_at,
    });
  }
  const rows = [...hits.values()].sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
  return partOf(
    rows,
    limit,
    ({ id }) => id,
    (hit) => hit,
  );
};

/** Where the text of a decision was found, if not in its request. */
const FOUND_IN: Record<TextKind, string> = {
  request: '',
  review: ', in a review',
  label: ', in a label',
  note: ', in a note',
  outcome: ', in an outcome',
  consumption: ', in a payment',
};

const decisions: Find = async (client, asked, { after, limit }) => {
  const { workspace_id, id, agent_id, within } = asked;
  const by_id =
    id === null ? [] : await findByIds(client, { workspace_id, id, agent_id }, { after, limit: limit + 1 });
  const { found, next } =
    by_id.length > 0
      ? {
          found: by_id.slice(0, limit).map((decision_id) => ({ decision_id, kind: 'request' as const })),
          next: by_id.length > limit ? (by_id[limit - 1] as string) : null,
        }
      : await findTexts(client, asked, { after, limit });
  const ids = found.map(({ decision_id }) => decision_id);
  const uses = within === null ? [] : await listUses(client, workspace_id, ids);
  const own = new Set(uses.flatMap((each) => (each.allowance_id === within ? each.decision_id : [])));
  const shown = await loadFoundDecisions(
    client,
    workspace_id,
    within === null ? ids : ids.filter((each) => own.has(each)),
  );
  const hits = found.flatMap(({ decision_id, kind }): Hit[] => {
    const decision = shown.get(decision_id);
    if (decision === undefined) return [];
    const { merchant, requested_amount_minor, currency, agent, created_at } = decision;
    const amount = formatMoney(requested_amount_minor, currency);
    const subtitle = `${amount}, ${agent}, ${decision.decision}${FOUND_IN[kind]}`;
    return [{ kind: 'decision', id: decision_id, title: merchant, subtitle, at: created_at }];
  });
  return { hits, next };
};

const FIND: Record<Kind, Find> = {
  agent: named('agent'),
  budget: named('budget'),
  merchant: merchants,
  key: named('key'),
  person: named('person'),
  decision: decisions,
};

/** Only their own decisions for agents, and neither keys nor people for who is no administrator. */
function kindsFor(agent_id: string | null, scopes: readonly string[]): readonly Kind[] {
  if (agent_id !== null) return ['decision'];
  const is_admin = scopes.includes('admin');
  return SEARCH_KINDS.filter((kind) => is_admin || (kind !== 'key' && kind !== 'person'));
}

const ID = /^[a-z]{2,4}_[0-9A-Za-z]{4,}$/;

/** Makes the route that searches everything. `lists_db`: a text may lead to very many rows. */
export function makeSearchRoutes({ lists_db, cursors }: { lists_db: pg.Pool; cursors: Cursors }): Route[] {
  return [
    serve(routes.search, { shares: 'lists' })(async ({ caller, query }) => {
      const { workspace_id, scopes } = caller;
      const { q, limit = 50, cursor } = query;
      const agent_id = agentScopeOf(caller);
      const within = allowanceOf(caller);
      const kinds = kindsFor(agent_id, scopes);
      const list = ['search', workspace_id, agent_id, within, kinds, q];
      const [first, place = ''] = ((cursors.open(list, cursor) as string | null) ?? '').split('\n');
      const asked = { workspace_id, text: foldText(q), id: ID.test(q) ? q : null, agent_id, within };
      // Every text contains the empty one.
      if (asked.text === '') return { status: 200, body: { data: [], next_cursor: null } };
      const data: Hit[] = [];
      let next: string | null = null;
      await searching(lists_db, async (client) => {
        for (const kind of kinds.slice(Math.max(0, kinds.indexOf(first as Kind)))) {
          if (data.length >= limit) {
            next = `${kind}\n`;
            return;
          }
          const after = kind === first && place !== '' ? place : null;
          const part = await FIND[kind](client, asked, { after, limit: limit - data.length });
          data.push(...part.hits);
          if (part.next !== null) {
            next = `${kind}\n${part.next}`;
            return;
          }
        }
      });
      return { status: 200, body: { data, next_cursor: next === null ? null : cursors.seal(list, next) } };
    }),
  ];
}
