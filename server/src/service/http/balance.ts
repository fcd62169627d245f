/** A process keeps this many connections beyond its part. With few connections, passing one on is not worth its cost. */
const SLACK = 2;
const TOLERANCE = 1.25;
/** A process that has been over its part for this long asks clients to close, ms: while many connect, the mean still rises. */
const SHED_AFTER_MS = 1_000;
/** A process tells how many connections it has at most this often, ms. */
const TELL_EVERY_MS = 20;

/** A connection as Node's processes pass it to each other. */
export interface ConnectionHandle {
  close(): void;
}

/** The connections of this process beside those of the others on the same port. */
export interface Balance {
  /**
   * True if a new connection is this process's to keep; otherwise it is to be passed on, before anything is read from
   * it.
   */
  keeps(): boolean;
  passOn(handle: ConnectionHandle): void;
  /** True if the answer about to be sent should ask its client to close the connection. */
  sheds(): boolean;
  /** Notes how many connections are open now. */
  opened(count: number): void;
  /** Sets what takes the connections that others pass on to this process. */
  onTake(take: (handle: ConnectionHandle) => void): void;
  /** Keeps everything from now on, because the process stops. */
  stop(): void;
}

/** The primary's message. */
export interface Balanced {
  /** The mean number of connections of a process. Until it is known, every connection is kept. */
  setMean(mean: number): void;
  take(handle: ConnectionHandle): void;
}

/**
 * Makes it: a process keeps what it accepts up to a quarter, and 2, over the mean. Where it has more, as after the end of
 * another process, its next answers ask their clients to close, until it is at the mean. `tell` is called after the number
 * of open connections has changed.
 */
export function makeBalance(options: {
  tell: (open: number) => void;
  passOn: (handle: ConnectionHandle) => void;
}): Balance & Balanced {
  let open = 0;
  let mean: number | null = null;
  let to_shed = 0;
  let is_stopping = false;
  let telling: NodeJS.Timeout | undefined;
  let shedding: NodeJS.Timeout | undefined;
  let take = (handle: ConnectionHandle) => handle.close();
  const limit = () => (mean === null ? Number.POSITIVE_INFINITY : mean * TOLERANCE + SLACK);

  /** Sets each second how many answers ask for a close, until this process has no more connections than the mean. */
  function shed(): void {
    to_shed = Math.max(0, Math.floor(open - (mean ?? open)));
    shedding = to_shed > 0 ? setTimeout(shed, SHED_AFTER_MS).unref() : undefined;
  }
  /** While many connect, a process may be over the mean for a moment. */
  function beginShedding(): void {
    shedding = undefined;
    if (open > limit()) shed();
  }

  return {
    keeps: () => open < limit(),
    passOn: options.passOn,
    sheds() {
      if (to_shed <= 0) return false;
      to_shed -= 1;
      return true;
    },
    opened(count) {
      open = count;
      if (telling !== undefined) return;
      telling = setTimeout(() => {
        telling = undefined;
        options.tell(open);
      }, TELL_EVERY_MS).unref();
    },
    onTake(taker) {
      take = taker;
    },
    stop() {
      is_stopping = true;
      mean = null;
      to_shed = 0;
    },
    setMean(of_all) {
      if (is_stopping) return;
      mean = of_all;
      if (open > limit() && shedding === undefined)
        shedding = setTimeout(beginShedding, SHED_AFTER_MS).unref();
      if (open <= of_all) to_shed = 0;
    },
    take: (handle) => take(handle),
  };
}
