import type { Logger } from 'pino';

/** Records the results of attempts in batches: those that arrive during one statement are written by the next. */
export interface Results<Result> {
  /** Records a result. `onRecorded` is called once it is in the database. */
  add(result: Result, onRecorded: () => void): void;
  /** Resolves when all results were recorded, or were given up after a failure. */
  finish(): Promise<void>;
}

const MAX_AT_ONCE = 500;
const RETRY_MS = 500;

/** Makes the recorder, which writes with `record`. A result is retried until the database accepts it or the worker stops. */
export function makeResults<Result>(options: {
  record: (results: readonly Result[]) => Promise<unknown>;
  log: Logger;
}): Results<Result> {
  const waiting: { result: Result; onRecorded: () => void }[] = [];
  let under_way: Promise<void> | null = null;
  let finishing = false;
  let hurry = () => {};

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_AT_ONCE);
      try {
        await options.record(batch.map(({ result }) => result));
        waiting.splice(0, batch.length);
        for (const { onRecorded } of batch) onRecorded();
      } catch (error) {
        options.log.warn(
          { err: error, results: waiting.length },
          'results of webhooks could not be recorded',
        );
        // Deliveries without a recorded result are sent again by the next worker.
        if (finishing) break;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, RETRY_MS);
          hurry = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    }
    under_way = null;
  }

  return {
    add(result, onRecorded) {
      waiting.push({ result, onRecorded });
      under_way ??= run();
    },
    async finish() {
      finishing = true;
      hurry();
      await under_way;
    },
  };
}
