import { Agent, request } from 'undici';
import { percentilesOf } from '../demo/totals.ts';
import { type Finding, makeStage, type ScenarioContext, type Stage } from './stage.ts';

const FLOOD_CLIENTS = 32;
const LIMIT = 30;
const SAMPLES = 1_000;
const SLOWER_AT_MOST = 2;
/** Below this a ratio of two times says more about the machine than about the service. */
const NOISE_MS = 25;

async function timeGoodKey(stage: Stage, count: number): Promise<number[]> {
  const dispatcher = new Agent({ connections: 1 });
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const began_ms = performance.now();
    const { statusCode, body } = await request(`${stage.base_url}/v1/workspace`, {
      dispatcher,
      headers: { 'x-api-key': stage.admin_key },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`the good key was answered ${statusCode}`);
    times.push(performance.now() - began_ms);
  }
  await dispatcher.close();
  return times;
}

/**
 * Unknown keys from one address that claims to be many: throttled as the one client it is, while a good key from
 * the same address goes on.
 */
export async function unknownKeys(context: ScenarioContext): Promise<Finding> {
  const { share, random } = context;
  const requests = Math.max(1_000, Math.round(10_000 * share));
  const stage = await makeStage(context, {
    LOG_LEVEL: 'warn',
    UNKNOWN_KEY_LIMIT_PER_MINUTE: String(LIMIT),
  });
  try {
    const alone = percentilesOf(await timeGoodKey(stage, SAMPLES));
    const dispatcher = new Agent({ connections: FLOOD_CLIENTS });
    const statuses = new Map<number, number>();
    let sent = 0;
    const flood = async () => {
      while (sent < requests) {
        sent += 1;
        const address = Array.from({ length: 4 }, () => Math.floor(random() * 256)).join('.');
        const { statusCode, body } = await request(`${stage.base_url}/v1/workspace`, {
          dispatcher,
          headers: { 'x-api-key': `sk_unknown_${sent}`, 'x-forwarded-for': address },
        });
        await body.dump();
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      }
    };
    const began_ms = performance.now();
    const flooding = Promise.all(Array.from({ length: FLOOD_CLIENTS }, flood));
    const beside = percentilesOf(await timeGoodKey(stage, SAMPLES));
    await flooding;
    await dispatcher.close();
    const problems: string[] = [];
    const let_through = statuses.get(401) ?? 0;
    // A flood that takes longer meets the next minute's window.
    const windows = Math.ceil((performance.now() - began_ms) / 60_000) + 1;
    if (let_through > LIMIT * windows) {
      problems.push(`${let_through} unknown keys were looked at; ${LIMIT} a minute are allowed.`);
    }
    for (const [status, count] of statuses) {
      if (status !== 401 && status !== 429) problems.push(`${count} requests were answered ${status}.`);
    }
    const slower = beside.p99 / alone.p99;
    if (slower > SLOWER_AT_MOST && beside.p99 > NOISE_MS) {
      problems.push(`A good key's p99 was ${beside.p99.toFixed(1)} ms instead of ${alone.p99.toFixed(1)}.`);
    }
    return {
      figures: {
        requests,
        looked_at: let_through,
        p99_alone_ms: alone.p99.toFixed(1),
        p99_beside_ms: beside.p99.toFixed(1),
      },
      problems,
    };
  } finally {
    await stage.close();
  }
}
