import type { Logger } from 'pino';
import type { Queryable } from '../storage/database.ts';
import { type AttemptResult, recordAttempts } from './queue-rows.ts';

/** Records the results of attempts, many at once: while one statement is under way the next ones gather. */
export interface Results {
  /** `onRecorded` is called once it is in the database. */
  add(result: AttemptResult, onRecorded: () => void): void;
  /** Resolves when everything was recorded, or, after a failure, when it was given up. */
  finish(): Promise<void>;
}

const MAX_AT_ONCE = 500;
const RETRY_MS = 500;

/** A result that cannot be recorded is tried again until the database takes it, or the worker stops. */
export function makeResults(options: { db: Queryable; log: Logger }): Results {
  const waiting: { result: AttemptResult; onRecorded: () => void }[] = [];
  let under_way: Promise<void> | null = null;
  let finishing = false;
  let hurry = () => {};

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_AT_ONCE);
      try {
        await recordAttempts(
          options.db,
          batch.map(({ result }) => result),
        );
        waiting.splice(0, batch.length);
        for (const { onRecorded } of batch) onRecorded();
      } catch (error) {
        options.log.warn(
          { err: error, results: waiting.length },
          'results of webhooks could not be recorded',
        );
        // What is not recorded is sent again by whoever comes next.
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
