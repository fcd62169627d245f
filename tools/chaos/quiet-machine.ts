import { cpus } from 'node:os';

const SAMPLE_MS = 1_000;
/** The part of all processor time that other programs may use. Above it, durations measure them, not the service. */
const QUIET_BELOW = 0.25;

const times = () => {
  const all = cpus().map((cpu) => cpu.times);
  const idle = all.reduce((sum, each) => sum + each.idle, 0);
  return { idle, total: all.reduce((sum, each) => sum + Object.values(each).reduce((a, b) => a + b, 0), 0) };
};

/** Returns true if nobody else uses the machine: looks for a second, in which the service has nothing to do. */
async function isQuiet(wait: (time_ms: number) => Promise<unknown>): Promise<boolean> {
  const before = times();
  await wait(SAMPLE_MS);
  const after = times();
  return 1 - (after.idle - before.idle) / Math.max(1, after.total - before.total) < QUIET_BELOW;
}

/**
 * Says when durations are judged: where the machine is quiet both before and after what is measured. Call it before, and
 * what it returns afterwards, each time while the service has nothing to do. Counts and answers are judged always.
 */
export async function watchMachine(wait: (time_ms: number) => Promise<unknown>) {
  const before = await isQuiet(wait);
  return async (): Promise<{ is_judged: boolean; durations: string }> => {
    const is_judged = before && (await isQuiet(wait));
    return { is_judged, durations: is_judged ? 'judged' : 'not judged, the machine is busy' };
  };
}
