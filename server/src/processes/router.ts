import type { ConnectionHandle } from '../http/balance.ts';
import type { FromPrimary } from './messages.ts';

/** A process that serves, as the primary sends it messages. */
export interface RoutedTo {
  send(message: FromPrimary, handle?: ConnectionHandle): void;
}

/** The processes are told of their connections' mean at most this often, ms. */
const TELL_EVERY_MS = 50;

/**
 * Spreads connections over processes: each tells how many it has and passes on those that it accepted beyond its part, which
 * go to the process with the fewest.
 */
export interface Router {
  /** Adds a process that listens. */
  add(id: number, process: RoutedTo): void;
  /** Removes one that has ended. What was on its way to it goes to another one. */
  remove(id: number): void;
  /** Takes what a process says about how many connections it has. */
  counted(id: number, open: number): void;
  route(handle: ConnectionHandle): void;
  /** Notes that a process has taken what it was sent. */
  taken(id: number, connection: number): void;
}

/** Makes it. The primary keeps each connection open until it was taken, so that none is lost with a process. */
export function makeRouter(): Router {
  const processes = new Map<
    number,
    { process: RoutedTo; open: number; under_way: Map<number, ConnectionHandle> }
  >();
  let connections = 0;
  let telling: NodeJS.Timeout | undefined;

  function tellMean(): void {
    if (telling !== undefined) return;
    telling = setTimeout(() => {
      telling = undefined;
      let sum = 0;
      for (const { open, under_way } of processes.values()) sum += open + under_way.size;
      const mean = sum / processes.size;
      for (const { process } of processes.values()) process.send({ purser: 'mean', mean });
    }, TELL_EVERY_MS).unref();
  }

  function route(handle: ConnectionHandle): void {
    const [fewest] = [...processes.values()].sort(
      (a, b) => a.open + a.under_way.size - b.open - b.under_way.size,
    );
    if (fewest === undefined) {
      handle.close();
      return;
    }
    connections += 1;
    fewest.under_way.set(connections, handle);
    fewest.process.send({ purser: 'take', connection: connections }, handle);
    tellMean();
  }

  return {
    add(id, process) {
      processes.set(id, { process, open: 0, under_way: new Map() });
      tellMean();
    },
    remove(id) {
      const ended = processes.get(id);
      processes.delete(id);
      for (const handle of ended?.under_way.values() ?? []) route(handle);
      if (processes.size > 0) tellMean();
    },
    counted(id, open) {
      const known = processes.get(id);
      if (known === undefined || known.open === open) return;
      known.open = open;
      tellMean();
    },
    route,
    taken(id, connection) {
      const known = processes.get(id);
      const handle = known?.under_way.get(connection);
      if (known === undefined || handle === undefined) return;
      known.under_way.delete(connection);
      known.open += 1;
      handle.close();
    },
  };
}
