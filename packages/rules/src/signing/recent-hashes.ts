const KEPT_MS = 10 * 60_000;
const MAX_UNUSED = 1_024;

/**
 * The hashes of the last ten minutes of a chain, and of the event before them: twice the age that a statement may have
 * when it is used. Memory follows the events of that time, not the length of the chain.
 */
export class RecentHashes {
  #events: { seq: number; hash: Buffer; time_ms: number }[] = [];
  #first = 0;

  /** Adds the next event of the chain. */
  add(seq: number, hash: Buffer, time_ms: number): void {
    this.#events.push({ seq, hash, time_ms });
    for (;;) {
      const second = this.#events[this.#first + 1];
      if (second === undefined || !(second.time_ms < time_ms - KEPT_MS)) break;
      this.#first += 1;
    }
    if (this.#first < MAX_UNUSED) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }

  /** The `seq` of the first event that is kept; 0: none is. */
  get first_seq(): number {
    return this.#events[this.#first]?.seq ?? 0;
  }

  /** Returns the hash of a recent event. */
  get(seq: number): Buffer | undefined {
    let [low, high] = [this.#first, this.#events.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const event = this.#events[middle];
      if (event === undefined) return undefined;
      if (event.seq === seq) return event.hash;
      if (event.seq < seq) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}
