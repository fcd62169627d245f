import type { Bench } from '../bench.ts';
import { shownNumber } from '../render.ts';
import type { GroupResult } from '../result.ts';
import { BENCH_AUTHORITY } from '../spend-bodies.ts';
import { medianOf, ratiosOf } from '../statistics.ts';
import { makeWorkspaces } from '../workspaces.ts';

const SIZES = [100, 10_000] as const;
const TIMES = 41;
const CLIENTS = 32;
const GOAL_RATIO = 3;
/** Views of the inbox that the console opens. */
const VIEWS = ['limit=50', 'limit=50&sort=newest', 'limit=50&sort=amount&currency=EUR'] as const;

/** Measures the inbox with few and with many pending reviews, in turns; the goal is about the median ratio of neighbours. */
export async function measureInbox(bench: Bench): Promise<GroupResult> {
  const authorityOf = () => ({ ...BENCH_AUTHORITY, review_threshold_minor: 1, monthly_budget_minor: 1e12 });
  const workspaces = await makeWorkspaces(bench.purser, {
    count: SIZES.length,
    agents: 20,
    mode: 'ENFORCE',
    authorityOf,
  });
  const sizes = bench.plan.kind === 'quick' ? [100, 1_000] : SIZES;
  for (const [i, size] of sizes.entries()) {
    const { targets = [] } = workspaces[i] ?? {};
    await bench.load(CLIENTS, bench.decisionsOf(targets), {
      warm_up_ms: 0,
      measured_ms: 600_000,
      max_requests: size,
    });
  }
  const problems: string[] = [];
  const rows: string[][] = [];
  let worst = 0;
  for (const view of VIEWS) {
    const took: number[][] = sizes.map(() => []);
    for (let time = 0; time < TIMES; time += 1) {
      for (const [i, { client }] of workspaces.entries()) {
        const { status, body, took_ms } = await client.send('GET', `/v1/inbox?${view}`);
        if (status !== 200) throw new Error(`GET /v1/inbox?${view} was answered ${status}`);
        const { total } = body as { total: number };
        if (total !== sizes[i]) problems.push(`The inbox of ${sizes[i]} has ${total} reviews.`);
        took[i]?.push(took_ms);
      }
    }
    const [few = 0, many = 0] = took.map(medianOf);
    const ratio = medianOf(ratiosOf(took[1] ?? [], took[0] ?? []));
    worst = Math.max(worst, ratio);
    rows.push([view, shownNumber(few), shownNumber(many), shownNumber(ratio)]);
  }
  return {
    tables: [
      {
        title: 'GET /v1/inbox, ms in the middle',
        columns: ['view', ...sizes.map((size) => `${size.toLocaleString('en')} pending`), 'times'],
        rows,
      },
    ],
    goals: [
      {
        name: `The inbox of ${sizes[1]?.toLocaleString('en')}, compared with ${sizes[0]}`,
        unit: '',
        is_least: false,
        goal: GOAL_RATIO,
        measured: worst,
      },
    ],
    notes: [],
    problems: [...new Set(problems)],
  };
}
