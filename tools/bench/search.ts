import { SUPERUSER, withClient } from '@purser/embedded-postgres';
import { gramsOf, MAX_GROUP } from '@purser/server/tools';
import type pg from 'pg';
import { percentilesOf } from '../demo/totals.ts';
import type { Bench } from './bench.ts';
import { TIME_FUNCTION } from './history.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { makeWorkspaces } from './workspaces.ts';

const TEXTS = { quick: 5_000, default: 100_000, long: 1_000_000 };
const AT_ONCE = 50_000;
const TIMES = 11;
const GOAL_MS = 300;
const MERCHANTS = 5_000;
const ITEMS = ['rack servers', 'licences', 'office chairs', 'train tickets', 'model credits', 'translations'];
const PROJECTS = 200;
const DIGITS = 7;

/**
 * A text is a merchant, a description and a reference of its own: "shop 17 ltd", "order rack servers for project 42", "ref 0000123". These
 * are its parts with the characters on either side of each seam, so that their trigrams together are those of the text.
 */
const merchantPart = (n: number) => `shop ${n} ltd\norder `;
const itemPart = (n: number) =>
  `r ${ITEMS[n % ITEMS.length]} for project ${Math.floor(n / ITEMS.length)}\nref `;

/** Writes the parts of all texts with their trigrams into tables for this connection. */
async function prepareParts(client: pg.Client, workspace_id: string): Promise<void> {
  const put = async (table: string, parts: readonly string[]) => {
    await client.query(`create temp table ${table} (n integer primary key, part text, grams integer[])`);
    await client.query(
      `insert into ${table} select n::int - 1, part, grams::integer[]
        from unnest($1::text[], $2::text[]) with ordinality as p(part, grams, n)`,
      [parts, parts.map((part) => `{${gramsOf(workspace_id, part).join(',')}}`)],
    );
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  await put('merchant_parts', numbers(MERCHANTS).map(merchantPart));
  await put('item_parts', numbers(ITEMS.length * PROJECTS).map(itemPart));
  await put(
    'ref_parts',
    ['f ', ' '].flatMap((before, seam) =>
      numbers(10 ** (seam + 1)).map((n) => before + String(n).padStart(seam + 1, '0')),
    ),
  );
  const trigrams = numbers(1_000).map((n) => gramsOf(workspace_id, String(n).padStart(3, '0'))[0]);
  await client.query('create temp table digit_grams (grams integer[])');
  await client.query('insert into digit_grams values ($1)', [trigrams]);
}

/** Fills a workspace with `count` decisions of 30 days and their texts, for searching only: nothing of them is in the chain. */
async function fillTexts(
  client: pg.Client,
  { id: workspace_id, agent_ids }: { id: string; agent_ids: readonly string[] },
  { count, signal }: { count: number; signal: AbortSignal },
): Promise<void> {
  await client.query('set synchronous_commit = off');
  await client.query("set maintenance_work_mem = '512MB'");
  await client.query(TIME_FUNCTION);
  await prepareParts(client, workspace_id);
  const { rows } = await client.query<{ indexdef: string }>(
    "select indexdef from pg_indexes where indexname = 'search_groups_by_grams'",
  );
  // An index is built many times faster at once than row by row.
  await client.query('drop index search_groups_by_grams');
  const digits = Array.from(
    { length: DIGITS - 2 },
    (_, i) => `d.grams[(i / ${10 ** (DIGITS - 3 - i)}) % 1000 + 1]`,
  );
  for (let from = 0; from < count && !signal.aborted; from += AT_ONCE) {
    const upto = Math.min(count, from + AT_ONCE);
    await client.query('begin');
    await client.query(
      `create temp table chunk on commit drop as
      select 'dec_' || pg_temp.ulid_time(ms) || upper(lpad(to_hex(i), 16, '0')) as decision_id, to_timestamp(ms / 1000.0) as at,
        m.part || substr(t.part, 3) || lpad(i::text, ${DIGITS}, '0') as folded, split_part(m.part, E'\\n', 1) as merchant,
        m.grams || t.grams || r1.grams || r2.grams || array[${digits.join(', ')}] as grams
      from (select i, (extract(epoch from now()) * 1000 - 2592000000 + i * (2592000000.0 / ${count}))::bigint as ms
        from generate_series(${from}, ${upto - 1}) i) as g
      cross join digit_grams d
      join merchant_parts m on m.n = floor(power((i::bigint * 7919 % 10007) / 10007.0, 3) * ${MERCHANTS})::int
      join item_parts t on t.n = i % ${ITEMS.length * PROJECTS}
      join ref_parts r1 on r1.part = 'f ' || left(lpad(i::text, ${DIGITS}, '0'), 1)
      join ref_parts r2 on r2.part = ' ' || left(lpad(i::text, ${DIGITS}, '0'), 2)`,
    );
    await client.query(
      `insert into decisions select $1, decision_id, $2, decision_id, 'ALLOW', 'SHADOW', '{}', merchant, 5440, 'EUR', at, '{}'
      from chunk`,
      [workspace_id, agent_ids[0]],
    );
    await client.query(
      `insert into search_texts select $1, decision_id, decision_id, $2, 'request', folded from chunk`,
      [workspace_id, agent_ids[0]],
    );
    await client.query(
      `with placed as (
        select decision_id, folded, grams, (row_number() over (order by decision_id) - 1) / ${MAX_GROUP} as n from chunk)
      insert into search_groups select $1, t.record_id, t.decision_ids, t.kinds, t.folded, g.grams
        from (select n, min(decision_id collate "C") as record_id, array_agg(decision_id) as decision_ids,
            array_agg('request'::text) as kinds, array_agg(folded) as folded from placed group by n) as t
        join (select n, array_agg(distinct gram) as grams from placed cross join lateral unnest(grams) as gram group by n) as g
          on g.n = t.n`,
      [workspace_id],
    );
    await client.query('commit');
  }
  await client.query(rows[0]?.indexdef ?? '');
  await client.query('vacuum analyze search_texts, search_groups');
  await client.query('analyze decisions');
}

/** Measures searches among many texts: rare, common and absent ones. */
export async function measureSearch(bench: Bench): Promise<GroupResult> {
  const { plan, purser, server, signal, say } = bench;
  const count = TEXTS[plan.kind];
  const [workspace] = await makeWorkspaces(purser, { count: 1, agents: 1 });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const began_ms = performance.now();
  const bytes = await withClient({ ...server, user: SUPERUSER.user }, async (client) => {
    await fillTexts(client, workspace, { count, signal });
    const { rows } = await client.query<{ bytes: string }>(
      "select pg_total_relation_size('search_texts') + pg_total_relation_size('search_groups') as bytes",
    );
    return Number(rows[0]?.bytes);
  });
  const fill_s = (performance.now() - began_ms) / 1000;
  const queries: readonly (readonly [what: string, q: string, is_found: boolean])[] = [
    ['one text alone', `ref ${String(Math.floor(count / 2)).padStart(DIGITS, '0')}`, true],
    [`one text in ${ITEMS.length * PROJECTS}`, 'translations for project 42', true],
    ['the name of the commonest merchant', 'shop 0 ltd', true],
    ['the name of a rare merchant', 'shop 4321 ltd', true],
    ['a word of every text', 'order', true],
    ['two characters of every text', 'rd', true],
    ['words that no text has', 'zebra crossing', false],
  ];
  const problems: string[] = [];
  const points = [];
  for (const [what, q, is_found] of queries) {
    const took: number[] = [];
    for (let n = 0; n < TIMES && !signal.aborted; n += 1) {
      const { status, body, took_ms } = await workspace.client.send(
        'GET',
        `/v1/search?q=${encodeURIComponent(q)}&limit=20`,
      );
      if (status !== 200) throw new Error(`GET /v1/search was answered ${status}`);
      const found = (body as { data: unknown[] }).data.length;
      if (n === 0 && found > 0 !== is_found) problems.push(`“${q}” found ${found} of ${count} texts.`);
      took.push(took_ms);
    }
    const { p50, max } = percentilesOf(took);
    say(`  ${what}: p50 ${p50.toFixed(1)} ms, max ${max.toFixed(1)} ms`);
    points.push({ what, p50, max });
  }
  workspace.client.close();
  return {
    tables: [
      {
        title: `GET /v1/search among ${count.toLocaleString('en')} texts, ${TIMES} times each, one client`,
        columns: ['what is looked for', 'p50 ms', 'max ms'],
        rows: points.map(({ what, p50, max }) => [what, shownNumber(p50), shownNumber(max)]),
      },
    ],
    goals: [
      {
        name: `The slowest search among ${TEXTS.long.toLocaleString('en')} texts, p50`,
        unit: 'ms',
        is_least: false,
        goal: GOAL_MS,
        measured: plan.kind === 'long' ? Math.max(...points.map(({ p50 }) => p50)) : null,
      },
    ],
    notes: [
      `The texts were written by SQL in ${shownNumber(fill_s)} s; they and their indexes take ${shownNumber(bytes / 1e6)} MB.`,
    ],
    problems,
  };
}
