import type { Logger } from 'pino';

/** Something that is done again and again at its own pace. */
export interface Loop {
  /** Waits for the round under way; no other begins. */
  stop(): Promise<void>;
}

/** Runs `round` every `pause_ms`, one at a time. A round that fails is logged, and the next one comes as usual. */
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
