import type { Logger } from 'pino';

/** The process ends after this time even if the drain is not finished. */
const DRAIN_MS = 9_000;

/**
 * Calls `stop` once, at the first signal that asks the process to end (under npm, Ctrl-C arrives twice) or the first
 * uncaught failure. After such a failure the state of the process is unknown, so it ends with 1 for a new one to take
 * its place, but not before it has answered the requests that it had accepted.
 */
export function onEnd(log: Logger, onFailedStop: (error: unknown) => never, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = (exit_code: number) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(exit_code), DRAIN_MS).unref();
    stop().then(() => process.exit(exit_code), onFailedStop);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => begin(0));
  for (const unhandled of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(unhandled, (error: unknown) => {
      log.fatal({ err: error, unhandled }, 'an uncaught failure: draining');
      begin(1);
    });
  }
}
