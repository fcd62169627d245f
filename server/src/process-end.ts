import type { Logger } from 'pino';

/** How long a drain may take before the process ends all the same. */
const DRAIN_MS = 9_000;

/**
 * Calls `stop` once, on the first of the signals that ask for an end (Ctrl-C under npm arrives twice), or of the
 * failures that nothing has caught. After such a failure nobody knows what is broken, so the process makes room for
 * a new one, but not before it has answered what it had accepted; it then ends with 1.
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
      log.fatal({ err: error, unhandled }, 'a failure that nothing caught: draining');
      begin(1);
    });
  }
}
