import type { ConnectionHandle } from '../http/balance.ts';
import type { FromPrimary } from './messages.ts';

/** A process that serves, as the primary sends it messages. */
export interface RoutedTo {
  send(message: FromPrimary, handle?: ConnectionHandle): void;
}

/** The router sends the mean number of connections to the processes at most this often, ms. */
const TELL_EVERY_MS = 50;
/** A process that has not answered an offer for this long is passed over, ms: it is stopped, or far too busy. */
const ANSWER_WITHIN_MS = 500;

interface Known {
  process: RoutedTo;
  open: number;
  /** How many connections are on their way to it. */
  coming: number;
  /** True if it left an offer unanswered and has said nothing since. */
  is_silent: boolean;
}

interface Connection {
  handle: ConnectionHandle;
  offered: Set<number>;
  /** The latest process that it was offered to, or the one that it was sent to. */
  to: number;
  is_sent: boolean;
  /** Runs while the latest offer may still be answered in time. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Spreads connections over processes: each tells how many it has and passes on those that it accepted beyond its part, which
 * go to the process with the fewest. A connection is offered before it is sent, and one that a process does not answer for
 * within 500 ms is offered to the next as well: the first to answer gets it. So no stopped process holds it, and no two read
 * from it. The primary keeps each connection open until it was taken, so that none is lost with a process.
 */
export class Router {
  readonly #processes = new Map<number, Known>();
  readonly #under_way = new Map<number, Connection>();
  #connections = 0;
  #telling: NodeJS.Timeout | undefined;

  /** Adds a process that listens. */
  add(id: number, process: RoutedTo): void {
    this.#processes.set(id, { process, open: 0, coming: 0, is_silent: false });
    // Those that none of the others has answered for.
    for (const [number, connection] of this.#under_way)
      if (!connection.is_sent && connection.timer === undefined) this.#offer(number, connection);
    this.#tellMean();
  }

  /** Removes one that has ended. A connection on its way to it goes to another one. */
  remove(id: number): void {
    this.#processes.delete(id);
    for (const [number, connection] of this.#under_way) {
      if (connection.to !== id) continue;
      clearTimeout(connection.timer);
      this.#under_way.delete(number);
      this.route(connection.handle);
    }
    if (this.#processes.size > 0) this.#tellMean();
  }

  /** Takes what a process says about how many connections it has. */
  counted(id: number, open: number): void {
    const known = this.#heard(id);
    if (known === undefined || known.open === open) return;
    known.open = open;
    this.#tellMean();
  }

  route(handle: ConnectionHandle): void {
    if (this.#processes.size === 0) {
      handle.close();
      return;
    }
    this.#connections += 1;
    const connection: Connection = {
      handle,
      offered: new Set(),
      to: 0,
      is_sent: false,
      timer: undefined,
    };
    this.#under_way.set(this.#connections, connection);
    this.#offer(this.#connections, connection);
  }

  /** Notes that a process answers an offer, and sends it the connection if no other one was first. */
  ready(id: number, number: number): void {
    const known = this.#heard(id);
    const connection = this.#under_way.get(number);
    if (known === undefined || connection === undefined || connection.is_sent) return;
    clearTimeout(connection.timer);
    connection.is_sent = true;
    this.#move(connection, id);
    known.process.send({ purser: 'take', connection: number }, connection.handle);
  }

  /** Notes that a process has taken what it was sent. */
  taken(id: number, number: number): void {
    const connection = this.#under_way.get(number);
    if (connection === undefined || connection.to !== id || !connection.is_sent) return;
    this.#under_way.delete(number);
    const known = this.#processes.get(id);
    if (known !== undefined) {
      known.coming -= 1;
      known.open += 1;
    }
    connection.handle.close();
  }

  /** A silent process is left out: the others would send away for it what it cannot take. */
  #tellMean(): void {
    if (this.#telling !== undefined) return;
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      const heard = [...this.#processes.values()].filter(({ is_silent }) => !is_silent);
      const mean = heard.reduce((sum, { open, coming }) => sum + open + coming, 0) / heard.length;
      for (const { process } of heard) process.send({ purser: 'mean', mean });
    }, TELL_EVERY_MS).unref();
  }

  /** Offers it to the process with the fewest of those that it was not offered to yet, the silent ones last. */
  #offer(id: number, connection: Connection): void {
    const [next] = [...this.#processes]
      .filter(([process_id]) => !connection.offered.has(process_id))
      .sort(
        ([, a], [, b]) => Number(a.is_silent) - Number(b.is_silent) || a.open + a.coming - b.open - b.coming,
      );
    // All were asked: the first one that answers gets it.
    if (next === undefined) return;
    const [to, known] = next;
    this.#move(connection, to);
    connection.offered.add(to);
    connection.timer = setTimeout(() => {
      connection.timer = undefined;
      known.is_silent = true;
      this.#tellMean();
      this.#offer(id, connection);
    }, ANSWER_WITHIN_MS).unref();
    known.process.send({ purser: 'offer', connection: id });
    this.#tellMean();
  }

  #move(connection: Connection, to: number): void {
    const before = this.#processes.get(connection.to);
    if (before !== undefined) before.coming -= 1;
    const after = this.#processes.get(to);
    if (after !== undefined) after.coming += 1;
    connection.to = to;
  }

  /** Notes that a process is there, and returns it. */
  #heard(id: number): Known | undefined {
    const known = this.#processes.get(id);
    if (known?.is_silent === true) {
      known.is_silent = false;
      this.#tellMean();
    }
    return known;
  }
}
