import { setTimeout as pause } from 'node:timers/promises';
import { SUPERUSER, withClient } from '@purser/embedded-postgres';
import type pg from 'pg';
import { describeError, type JsonClient } from '../demo/json-client.ts';
import type { PurserProcess } from '../demo/purser-process.ts';
import { type Percentiles, percentilesOf } from '../demo/totals.ts';
import type { Bench } from './bench.ts';
import { fillHistory } from './history.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { BENCH_AUTHORITY, makeSpendBody } from './spend-bodies.ts';
import { type BenchWorkspace, makeWorkspaces } from './workspaces.ts';

/** Decisions that are asked for, and then copied. */
const TEMPLATES = 200;
const DAYS = 30;
const TIMES = 5;
const PAGE = 100;
const SIMULATED = 2_000;
const POLL_MS = 50;
const AGENTS = ['reader-1', 'reader-2', 'reader-3', 'reader-4'];

/** How long it takes to read a long history over HTTP. */
interface Reading {
  decisions: number;
  days: number;
  fill_s: number;
  events: number;
  /** From the moment on at which the worker could see the events, its pauses included. */
  added_up_per_second: number;
  points: { name: string; took_ms: Percentiles }[];
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

async function get200(client: JsonClient, method: string, path: string, body?: unknown) {
  const answer = await client.send(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path} was answered ${describeError(answer)}`);
  return { body: answer.body as Record<string, unknown>, took_ms: answer.took_ms };
}

/** Makes a workspace with decisions of every kind, from which the history is copied. */
async function makeTemplates(purser: PurserProcess): Promise<BenchWorkspace> {
  const [workspace] = await makeWorkspaces(purser, { count: 1, agents: 0 });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const { client } = workspace;
  for (const slug of AGENTS) await client.send('POST', '/v1/agents', { slug, authority: BENCH_AUTHORITY });
  for (let n = 0; n < TEMPLATES; n += 1) {
    const body = { ...JSON.parse(makeSpendBody(n)), agent: AGENTS[n % AGENTS.length] };
    // One in ten asks for too much, one in ten for something else.
    if (n % 10 === 3) body.action.amount_minor = 900_000;
    if (n % 10 === 7) body.action.description = 'A birthday cake with candles';
    const made = await client.send('POST', '/v1/decisions', body, { 'idempotency-key': `template-${n}` });
    if (made.status !== 201) throw new Error(`POST /v1/decisions was answered ${describeError(made)}`);
  }
  return workspace;
}

/** Resolves once the report has added up all events of a workspace. */
async function untilAddedUp(sql: pg.Client, workspace_id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await sql.query<{ behind: string }>(
      `select h.seq - coalesce((select seq from report_watermarks where workspace_id = $1), 0) as behind
      from ledger_heads h where h.workspace_id = $1`,
      [workspace_id],
    );
    if (rows[0]?.behind === '0') return;
    await pause(POLL_MS);
  }
}

/** The readings of the history. Each resolves with the time of its request. */
function readingsOf(client: JsonClient, decisions: number): [name: string, once: () => Promise<number>][] {
  const get = async (path: string) => (await get200(client, 'GET', path)).took_ms;
  const month = `/v1/reports/shadow?from=${dayBefore(DAYS)}&to=${dayBefore(0)}`;
  const page = async (number: number) => {
    let cursor = '';
    let took_ms = 0;
    for (let n = 0; n < number; n += 1) {
      const found = await get200(client, 'GET', `/v1/decisions?limit=${PAGE}${cursor}`);
      took_ms = found.took_ms;
      cursor = `&cursor=${encodeURIComponent(String(found.body.next_cursor))}`;
    }
    return took_ms;
  };
  const simulate = async (draft: unknown) => {
    const path = `/v1/agents/${AGENTS[0]}/authority/simulate?limit=${SIMULATED}`;
    return (await get200(client, 'POST', path, draft)).took_ms;
  };
  const most = Math.min(SIMULATED, Math.floor(decisions / AGENTS.length));
  const cut = `/v1/reports/shadow?from=${dayBefore(DAYS - 1)}T12:00:00Z&to=${dayBefore(1)}T12:00:00Z`;
  const other_purpose = { ...BENCH_AUTHORITY.purpose, context: 'Frame series M1 to M4.' };
  return [
    ['report of the month', () => get(month)],
    ['report of the month, one agent', () => get(`${month}&agent=${AGENTS[0]}`)],
    ['report cut at noon at both ends', () => get(cut)],
    [`page 1 of the decisions, ${PAGE} a page`, () => page(1)],
    [`page 100 of the decisions, ${PAGE} a page`, () => page(Math.min(100, Math.ceil(decisions / PAGE)))],
    [
      `simulation of ${most} decisions, same purpose`,
      () => simulate({ ...BENCH_AUTHORITY, monthly_budget_minor: 1_000_000 }),
    ],
    [
      `simulation of ${most} decisions, purpose judged again`,
      () => simulate({ ...BENCH_AUTHORITY, purpose: other_purpose }),
    ],
  ];
}

/** Fills a workspace of its own with `decisions` decisions of a month and measures what is read of it. */
async function measureReading({ purser, server, signal, say }: Bench, decisions: number): Promise<Reading> {
  const { id, client } = await makeTemplates(purser);
  return withClient({ ...server, user: SUPERUSER.user }, async (sql) => {
    await untilAddedUp(sql, id, signal);
    const fill_began_ms = performance.now();
    const filled = await fillHistory(sql, id, { count: decisions, days: DAYS, signal });
    const began_ms = performance.now();
    await untilAddedUp(sql, id, signal);
    const added_up_per_second = (filled.events * 1000) / (performance.now() - began_ms);
    const points: Reading['points'] = [];
    for (const [name, once] of readingsOf(client, decisions)) {
      const took: number[] = [];
      for (let n = 0; n < TIMES && !signal.aborted; n += 1) took.push(await once());
      const took_ms = percentilesOf(took);
      points.push({ name, took_ms });
      say(`  ${name}: p50 ${took_ms.p50.toFixed(1)} ms, max ${took_ms.max.toFixed(1)} ms`);
    }
    client.close();
    const fill_s = (began_ms - fill_began_ms) / 1000;
    return { decisions, days: DAYS, fill_s, events: filled.events, added_up_per_second, points };
  });
}

const GOALS = { report_ms: 1_000, simulation_ms: 150 };
const DECISIONS = { quick: 5_000, default: 100_000, long: 1_000_000 };

/** Reading a long history: report, pages and simulation. */
export async function measureLongHistory(bench: Bench): Promise<GroupResult> {
  const { plan } = bench;
  const reading = await measureReading(bench, DECISIONS[plan.kind]);
  const p50Of = (name: string) =>
    reading.points.find((point) => point.name.startsWith(name))?.took_ms.p50 ?? null;
  return {
    tables: [
      {
        title: `${reading.decisions} decisions of ${reading.days} days in one workspace, ${TIMES} times each, one client`,
        columns: ['what', 'p50 ms', 'max ms'],
        rows: reading.points.map(({ name, took_ms }) => [
          name,
          shownNumber(took_ms.p50),
          shownNumber(took_ms.max),
        ]),
      },
    ],
    goals: [
      {
        name: `Report of a month of ${DECISIONS.long} decisions, p50`,
        unit: 'ms',
        is_least: false,
        goal: GOALS.report_ms,
        measured: plan.kind === 'long' ? p50Of('report of the month') : null,
      },
      {
        name: `Simulation of ${SIMULATED} decisions, same purpose, p50`,
        unit: 'ms',
        is_least: false,
        goal: GOALS.simulation_ms,
        measured: plan.kind === 'quick' ? null : p50Of('simulation of'),
      },
    ],
    notes: [
      `The history was written by SQL in ${shownNumber(reading.fill_s)} s; adding it up for the report went at ${shownNumber(reading.added_up_per_second)} events/s, the worker's pauses included.`,
    ],
    problems: [],
  };
}
