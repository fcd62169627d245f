import type { Logger } from 'pino';

/** A periodic task. */
export interface Loop {
  /** Starts no further round and resolves when the round under way has ended. */
  stop(): Promise<void>;
}

/** Runs `round` again and again, with a pause of `pause_ms` before each. A round that fails is logged. */
export function startLoop(options: {
  name: string;
  pause_ms: number;
  log: Logger;
  round: () => Promise<void>;
}): Loop {
  let stopped = false;
  let under_way: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      under_way = options
        .round()
        .catch((error: unknown) =>
          options.log.warn({ err: error, loop: options.name }, 'a round of a worker failed'),
        )
        .then(next);
    }, options.pause_ms);
  };
  next();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await under_way;
    },
  };
}
