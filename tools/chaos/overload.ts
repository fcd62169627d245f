import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { requestText } from '../bench/bench.ts';
import { type LoadResult, runLoad } from '../bench/load.ts';
import { makeSpendBody } from '../bench/spend-bodies.ts';
import { percentilesOf } from '../demo/totals.ts';
import { findViolations, invalidChain } from './invariants.ts';
import { shown } from './kills.ts';
import { watchMachine } from './quiet-machine.ts';
import { between } from './random.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage } from './stage.ts';

/** Where the rate is at its best. */
const CLIENTS = 256;
const OVERLOAD = 10;
/**
 * A refusal may take so much of what a decision takes. How much is still served follows from it and from how fast the
 * machine is: the refused come back after a second, whatever it does meanwhile.
 */
const REFUSAL_COST_AT_MOST = 0.5;
const NORMAL_WITHIN_MS = 5_000;
/** Beyond what the cheapest answer takes at the same time: how late the machine and both processes are themselves. */
const REFUSED_WITHIN_MS = 100;
/** Few enough to add nothing to the load. */
const CHEAPEST_PER_SECOND = 20;
const WARM_UP_MS = 500;
/** What was taken on and not done by the service's deadline was not refused. */
const NOT_DONE_IN_TIME = 'did not complete in time';
/** What the refusals' Retry-After asks for. */
const RETRY_AFTER_MS = 1_000;

function loadOn(stage: Stage, context: ScenarioContext) {
  const run_id = randomBytes(6).toString('hex');
  let requests = 0;
  const make = () => {
    const n = requests++;
    const { agent_key } = stage.agents[n % stage.agents.length] as (typeof stage.agents)[number];
    const body = { text: makeSpendBody(n), idempotency_key: `${run_id}-${n}` };
    return requestText('POST', '/v1/decisions', agent_key, body);
  };
  return (clients: number, measured_ms: number, onAllAnswered = () => {}): Promise<LoadResult> =>
    runLoad({
      base_url: stage.base_url,
      clients,
      requests: { good_status: 201, make, isRefusal: (body) => !body.includes(NOT_DONE_IN_TIME) },
      warm_up_ms: WARM_UP_MS,
      onAllAnswered,
      pause_after_refusal_ms: RETRY_AFTER_MS,
      measured_ms,
      signal: context.signal,
    });
}

/** The cheapest answer that the service has, asked for beside a load. */
const askCheapest = (stage: Stage, context: ScenarioContext, measured_ms: number) =>
  runLoad({
    base_url: stage.base_url,
    clients: CHEAPEST_PER_SECOND,
    requests: { good_status: 200, make: () => 'GET /healthz HTTP/1.1\r\nhost: purser\r\n\r\n' },
    warm_up_ms: WARM_UP_MS,
    measured_ms,
    per_second: CHEAPEST_PER_SECOND,
    signal: context.signal,
  });

const perSecond = (result: LoadResult) => (result.measured * 1000) / result.measured_ms;

/**
 * Ten times as many clients as the best rate takes, each with a request under way all the time: the excess is refused
 * at a fraction of what serving costs, and all is as before once they are gone.
 */
export async function overload(context: ScenarioContext): Promise<Finding> {
  const seconds = Math.max(8, Math.round(30 * context.share));
  const stage = await makeStage(context, { LOG_LEVEL: 'warn' });
  try {
    const load = loadOn(stage, context);
    const machine = await watchMachine(context.wait);
    await load(CLIENTS, 2_000);
    const best = await load(CLIENTS, 5_000);
    let asking: Promise<LoadResult> | undefined;
    const over = await load(OVERLOAD * CLIENTS, seconds * 1000, () => {
      asking = askCheapest(stage, context, (seconds - 1) * 1000);
      // Awaited below; where the load itself fails, that is what is told.
      asking.catch(() => {});
    });
    const cheapest = await asking;
    if (cheapest === undefined) throw new Error('The load ended before all its clients were answered.');
    const began_ms = performance.now();
    const after = await load(16, 2_000);
    const normal_ms = performance.now() - began_ms;
    const { is_judged, durations } = await machine();
    const problems: string[] = [];
    const goodput = perSecond(over) / perSecond(best);
    const refused_per_second = (over.refusals_ms.length * 1000) / over.measured_ms;
    const refusal_cost = Math.max(0, perSecond(best) - perSecond(over)) / refused_per_second;
    // With nothing refused there was no overload, and what was lost has another cause.
    if (refused_per_second === 0 || (is_judged && refusal_cost > REFUSAL_COST_AT_MOST)) {
      problems.push(`A refusal took as much as ${refusal_cost.toFixed(2)} decisions.`);
    }
    for (const [what, count] of over.errors) {
      if (!/^(503|429) /.test(what)) problems.push(`${count} requests ended with: ${what}`);
    }
    for (const [what, count] of after.errors) problems.push(`Afterwards ${count} ended with: ${what}`);
    const refusals = percentilesOf(over.refusals_ms);
    const late_ms = percentilesOf(cheapest.latencies_ms).p99;
    if (is_judged && refusals.p99 > REFUSED_WITHIN_MS + late_ms) {
      problems.push(`One in a hundred refusals took ${Math.round(refusals.p99)} ms or longer.`);
    }
    problems.push(...(await invalidChain(stage.client)));
    if (is_judged && normal_ms > 2_500 + NORMAL_WITHIN_MS) problems.push('It was not back to normal.');
    const refused = [...over.errors.values()].reduce((sum, count) => sum + count, 0);
    return {
      figures: {
        durations,
        clients: OVERLOAD * CLIENTS,
        best_per_second: Math.round(perSecond(best)),
        overloaded_per_second: Math.round(perSecond(over)),
        goodput: goodput.toFixed(2),
        refusal_cost: refusal_cost.toFixed(2),
        refused,
        ...shown({ p99_cheapest_ms: late_ms }),
        ...shown({ p50_refused_ms: refusals.p50, p99_refused_ms: refusals.p99 }),
        ...shown({ p99_overloaded_ms: percentilesOf(over.latencies_ms).p99 }),
        ...shown({ p99_afterwards_ms: percentilesOf(after.latencies_ms).p99 }),
      },
      problems,
    };
  } finally {
    await stage.close();
  }
}

/** SIGTERM under load, again and again: what was accepted is answered, and the process ends with 0. */
export async function stopUnderLoad(context: ScenarioContext): Promise<Finding> {
  const { random, share } = context;
  const rounds = Math.max(2, Math.round(10 * share));
  const stage = await makeStage(context);
  try {
    const recorder = stage.makeRecorder(32);
    recorder.start();
    const problems: string[] = [];
    const ended_ms: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      await context.wait(between(random, 300, 1_200));
      const began_ms = performance.now();
      const how = await stage.serving.end();
      ended_ms.push(performance.now() - began_ms);
      if (how !== 'exit code 0') problems.push(`Round ${round} ended with ${how}.`);
      await stage.restart();
      if ((await recorder.nextAcknowledged(10_000)) === null)
        problems.push(`Round ${round}: nothing came back.`);
    }
    await recorder.stop();
    problems.push(...(await findViolations(recorder, stage.client, await stage.database())));
    const log = await readFile(stage.output_file, 'utf8');
    const broke = log.split('\n').filter((line) => line.includes('a database connection broke')).length;
    if (broke > 0) problems.push(`${broke} connections to the database broke while it was ended in order.`);
    const { broken } = recorder.figures();
    if (broken > 0) problems.push(`${broken} requests had no answer: ${recorder.breaks()}.`);
    const slowest = Math.round(Math.max(...ended_ms));
    if (slowest > 10_000) problems.push(`Stopping took ${slowest} ms.`);
    return { figures: { rounds, ...shown(recorder.figures()), slowest_stop_ms: slowest }, problems };
  } finally {
    await stage.close();
  }
}
