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

/**
 * Spreads connections over processes: each tells how many it has and passes on those that it accepted beyond its part, which
 * go to the process with the fewest. A connection is offered before it is sent, and one that a process does not answer for
 * within 500 ms is offered to the next as well: the first to answer gets it. So no stopped process holds it, and no two read
 * from it.
 */
export interface Router {
  /** Adds a process that listens. */
  add(id: number, process: RoutedTo): void;
  /** Removes one that has ended. A connection on its way to it goes to another one. */
  remove(id: number): void;
  /** Takes what a process says about how many connections it has. */
  counted(id: number, open: number): void;
  route(handle: ConnectionHandle): void;
  /** Notes that a process answers an offer, and sends it the connection if no other one was first. */
  ready(id: number, connection: number): void;
  /** Notes that a process has taken what it was sent. */
  taken(id: number, connection: number): void;
}

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

/** Makes it. The primary keeps each connection open until it was taken, so that none is lost with a process. */
export function makeRouter(): Router {
  const processes = new Map<number, Known>();
  const under_way = new Map<number, Connection>();
  let connections = 0;
  let telling: NodeJS.Timeout | undefined;

  /** A silent process is left out: the others would send away for it what it cannot take. */
  function tellMean(): void {
    if (telling !== undefined) return;
    telling = setTimeout(() => {
      telling = undefined;
      const heard = [...processes.values()].filter(({ is_silent }) => !is_silent);
      const mean = heard.reduce((sum, { open, coming }) => sum + open + coming, 0) / heard.length;
      for (const { process } of heard) process.send({ purser: 'mean', mean });
    }, TELL_EVERY_MS).unref();
  }

  /** Offers it to the process with the fewest of those that it was not offered to yet, the silent ones last. */
  function offer(id: number, connection: Connection): void {
    const [next] = [...processes]
      .filter(([process_id]) => !connection.offered.has(process_id))
      .sort(
        ([, a], [, b]) => Number(a.is_silent) - Number(b.is_silent) || a.open + a.coming - b.open - b.coming,
      );
    // All were asked: the first one that answers gets it.
    if (next === undefined) return;
    const [to, known] = next;
    move(connection, to);
    connection.offered.add(to);
    connection.timer = setTimeout(() => {
      connection.timer = undefined;
      known.is_silent = true;
      tellMean();
      offer(id, connection);
    }, ANSWER_WITHIN_MS).unref();
    known.process.send({ purser: 'offer', connection: id });
    tellMean();
  }

  function move(connection: Connection, to: number): void {
    const before = processes.get(connection.to);
    if (before !== undefined) before.coming -= 1;
    const after = processes.get(to);
    if (after !== undefined) after.coming += 1;
    connection.to = to;
  }

  /** Notes that a process is there, and returns it. */
  function heard(id: number): Known | undefined {
    const known = processes.get(id);
    if (known?.is_silent === true) {
      known.is_silent = false;
      tellMean();
    }
    return known;
  }

  function route(handle: ConnectionHandle): void {
    if (processes.size === 0) {
      handle.close();
      return;
    }
    connections += 1;
    const connection: Connection = {
      handle,
      offered: new Set(),
      to: 0,
      is_sent: false,
      timer: undefined,
    };
    under_way.set(connections, connection);
    offer(connections, connection);
  }

  return {
    add(id, process) {
      processes.set(id, { process, open: 0, coming: 0, is_silent: false });
      // Those that none of the others has answered for.
      for (const [number, connection] of under_way)
        if (!connection.is_sent && connection.timer === undefined) offer(number, connection);
      tellMean();
    },
    remove(id) {
      processes.delete(id);
      for (const [number, connection] of under_way) {
        if (connection.to !== id) continue;
        clearTimeout(connection.timer);
        under_way.delete(number);
        route(connection.handle);
      }
      if (processes.size > 0) tellMean();
    },
    counted(id, open) {
      const known = heard(id);
      if (known === undefined || known.open === open) return;
      known.open = open;
      tellMean();
    },
    route,
    ready(id, number) {
      const known = heard(id);
      const connection = under_way.get(number);
      if (known === undefined || connection === undefined || connection.is_sent) return;
      clearTimeout(connection.timer);
      connection.is_sent = true;
      move(connection, id);
      known.process.send({ purser: 'take', connection: number }, connection.handle);
    },
    taken(id, number) {
      const connection = under_way.get(number);
      if (connection === undefined || connection.to !== id || !connection.is_sent) return;
      under_way.delete(number);
      const known = processes.get(id);
      if (known !== undefined) {
        known.coming -= 1;
        known.open += 1;
      }
      connection.handle.close();
    },
  };
}
