import { SUPERUSER, withClient } from '@purser/embedded-postgres';
import { putSearchTexts } from '@purser/server/tools';
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

/** Fills a workspace with `count` decisions of 30 days and their texts, for searching only: nothing of them is in the chain. */
async function fillTexts(
  client: pg.Client,
  { id: workspace_id, agent_ids }: { id: string; agent_ids: readonly string[] },
  { count, signal }: { count: number; signal: AbortSignal },
): Promise<void> {
  await client.query('set synchronous_commit = off');
  await client.query(TIME_FUNCTION);
  for (let from = 0; from < count && !signal.aborted; from += AT_ONCE) {
    const upto = Math.min(count, from + AT_ONCE);
    const { rows } = await client.query<{ decision_id: string; merchant: string; folded: string }>(
      `with made as (
        select 'dec_' || pg_temp.ulid_time(ms) || upper(lpad(to_hex(i), 16, '0')) as decision_id, to_timestamp(ms / 1000.0) as at,
          'shop ' || floor(power((i::bigint * 7919 % 10007) / 10007.0, 3) * ${MERCHANTS}) || ' ltd' as merchant,
          'order ' || ($3::text[])[i % ${ITEMS.length} + 1] || ' for project ' || i / ${ITEMS.length} % ${PROJECTS}
            || E'\nref ' || lpad(i::text, ${DIGITS}, '0') as folded
        from (select i, (extract(epoch from now()) * 1000 - 2592000000 + i * (2592000000.0 / ${count}))::bigint as ms
          from generate_series(${from}, ${upto - 1}) i) as g),
      written as (
        insert into decisions select $1, decision_id, $2, decision_id, 'ALLOW', 'SHADOW', '{}', merchant, 5440, 'EUR', at, '{}' from made)
      select decision_id, merchant, folded from made order by decision_id`,
      [workspace_id, agent_ids[0], ITEMS],
    );
    const texts = rows.map(({ decision_id, merchant, folded }) => ({
      decision_id,
      record_id: decision_id,
      agent_id: null,
      kind: 'request' as const,
      parts: [merchant, ...folded.split('\n')],
    }));
    await putSearchTexts(client, workspace_id, texts);
  }
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
