import { AggregatorRegistry } from 'prom-client';
import type { CountedMetrics } from './messages.ts';

/** A process that takes longer to tell what it counts is taken at what it told last. */
const COUNT_TIMEOUT_MS = 1_000;

/** Adds up what the processes of the service count. */
export interface CombinedMetrics {
  /** Asks all processes, and returns the text of `/metrics` of all of them together. */
  text(processes: readonly number[]): Promise<string>;
  /** Takes the answer of a process. */
  counted(of: number, id: number, metrics: CountedMetrics): void;
  /** Notes that a process has ended. What it had counted stays in the sums, so that no counter falls. */
  ended(of: number): Promise<void>;
}

/** Makes it. `ask` sends a process the question with that id; `own` is what the primary itself counts. */
export function makeCombinedMetrics(
  ask: (of: number, id: number) => void,
  own: () => Promise<CountedMetrics>,
): CombinedMetrics {
  const latest = new Map<number, CountedMetrics>();
  const waiting = new Map<string, () => void>();
  let of_ended: CountedMetrics = [];
  let moved = Promise.resolve();
  let questions = 0;

  const answerOf = (of: number, id: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, COUNT_TIMEOUT_MS);
      waiting.set(`${of} ${id}`, () => {
        clearTimeout(timer);
        resolve();
      });
      ask(of, id);
    }).finally(() => waiting.delete(`${of} ${id}`));

  return {
    async text(processes) {
      questions += 1;
      const id = questions;
      await Promise.all(processes.map((of) => answerOf(of, id)));
      return AggregatorRegistry.aggregate([...latest.values(), of_ended, await own()]).metrics();
    },
    counted(of, id, metrics) {
      latest.set(of, metrics);
      waiting.get(`${of} ${id}`)?.();
    },
    ended(of) {
      for (const [question, resume] of waiting) if (question.startsWith(`${of} `)) resume();
      // One after the other, and each in one step: whoever adds up meanwhile finds it once.
      moved = moved.then(async () => {
        const sums = await AggregatorRegistry.aggregate([of_ended, latest.get(of) ?? []]).getMetricsAsJSON();
        // Gauges tell what is now, and an ended process has nothing any more.
        of_ended = sums.filter(({ type }) => String(type) !== 'gauge');
        latest.delete(of);
      });
      return moved;
    },
  };
}
