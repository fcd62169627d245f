import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from './bench.ts';
import { shownNumber } from './render.ts';
import type { GroupResult } from './result.ts';
import { medianOf } from './statistics.ts';
import { makeWorkspaces } from './workspaces.ts';

const CHANNELS = 5;
const CLIENTS = 64;
const MIN_ROUNDS = 7;
const GOAL_RATIO = 0.95;

/** A receiver in this process that answers 200 at once. */
async function startReceiver(): Promise<{ url: string; count(): number; close(): Promise<void> }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    request.on('end', () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}/`, count: () => count, close };
}

/**
 * Measures the cost of five channels per decision. One in fifty requests waits for a review. Loads with and without the
 * channels alternate, so that a machine that becomes slower slows both.
 */
export async function measureNotices(bench: Bench): Promise<GroupResult> {
  const { plan } = bench;
  const [workspace] = await makeWorkspaces(bench.purser, { count: 1, agents: 50, mode: 'ENFORCE' });
  if (workspace === undefined) throw new Error('No workspace was made.');
  const { channels } = workspace.purser;
  const receiver = await startReceiver();
  const load = async () => {
    const loaded = await bench.load(CLIENTS, bench.decisionsOf(workspace.targets), {
      warm_up_ms: plan.warm_up_ms,
      measured_ms: plan.seconds * 1000,
    });
    return loaded.per_second;
  };
  try {
    const [without, beside]: [number[], number[]] = [[], []];
    await load();
    for (let round = 0; round < Math.max(MIN_ROUNDS, plan.rounds); round++) {
      without.push(await load());
      const ids: string[] = [];
      for (let i = 0; i < CHANNELS; i++) {
        const made = await channels.create({ name: `Channel ${i}`, type: 'webhook', url: receiver.url });
        ids.push(made.id);
      }
      beside.push(await load());
      for (const id of ids) await channels.delete(id);
    }
    const ratio = medianOf(beside) / medianOf(without);
    const problems = receiver.count() === 0 ? ['No channel received a notice.'] : [];
    return {
      tables: [
        {
          title: `Decisions, ${CLIENTS} clients, 50 agents in ENFORCE, one in fifty waits for a review`,
          columns: ['channels', 'per second, median'],
          rows: [
            ['none', shownNumber(medianOf(without))],
            [String(CHANNELS), shownNumber(medianOf(beside))],
          ],
        },
      ],
      goals: [
        {
          name: `Decisions with ${CHANNELS} channels, compared with none`,
          unit: '',
          is_least: true,
          goal: GOAL_RATIO,
          measured: ratio,
        },
      ],
      notes: [`The channels received ${receiver.count()} notices during the measurement.`],
      problems,
    };
  } finally {
    await receiver.close();
  }
}
