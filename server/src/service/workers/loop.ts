import type { Logger } from 'pino';

/** A periodic task. */
export interface Loop {
  readonly name: string;
  /** Seconds since the last round that ended without an error, at first since the start. */
  idleSeconds(): number;
  /** Starts no further round and resolves when the round under way has ended. */
  stop(): Promise<void>;
}

/** Runs `round` again and again, with a pause of `pause_ms` before each. A round that fails is logged. */
export function startLoop(options: {
  name: string;
  pause_ms: number;
  log: Logger;
  round: () => Promise<void>;
  /** Milliseconds of a clock that never runs backwards. */
  now_ms: () => number;
}): Loop {
  const { name, now_ms } = options;
  let ended_ms = now_ms();
  let stopped = false;
  let under_way: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      under_way = options
        .round()
        .then(
          () => {
            ended_ms = now_ms();
          },
          (error: unknown) => options.log.warn({ err: error, loop: name }, 'a round of a worker failed'),
        )
        .then(next);
    }, options.pause_ms);
  };
  next();
  return {
    name,
    idleSeconds: () => (now_ms() - ended_ms) / 1000,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await under_way;
    },
  };
}
