import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** The metrics of a process. */
export type CountedMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** The facts about a listening service. */
export interface Listening {
  /** `http://127.0.0.1:8080` */
  url: string;
  /** Where people go; while there is nobody, with the code that makes the first administrator. */
  console_url: string;
  /** The URL of `/metrics` if it has an address of its own. */
  metrics_url: string | null;
  /** The key of the first workspace if this start made it. */
  first: { admin_key: string } | undefined;
}

/** Messages of a process to the primary. */
export type ToPrimary =
  /** The first workspace was made. It is told at once, since the start may still fail. */
  | { purser: 'made'; admin_key: string }
  | { purser: 'listening'; listening: Listening }
  /** The start has failed; `message` is for the operator. */
  | { purser: 'failed'; message: string }
  /** Asks for the text of `/metrics` of all processes. */
  | { purser: 'scrape'; id: number }
  /** Answers `count`. */
  | { purser: 'counted'; id: number; metrics: CountedMetrics }
  /** How many connections the process has. */
  | { purser: 'open'; open: number }
  /** Comes with a connection that the process accepted and that another one is to take. */
  | { purser: 'route' }
  /** Answers `offer`: the process is there to take the connection. */
  | { purser: 'ready'; connection: number }
  /** Answers `take`. */
  | { purser: 'taken'; connection: number };

/** Messages of the primary to a process. */
export type FromPrimary =
  | { purser: 'count'; id: number }
  /** Answers `scrape`. */
  | { purser: 'scraped'; id: number; text: string }
  /** How many connections a process has on average. */
  | { purser: 'mean'; mean: number }
  /** Asks whether the process is there to take a connection that another one accepted. */
  | { purser: 'offer'; connection: number }
  /** Comes with that connection. */
  | { purser: 'take'; connection: number };

/** Returns true if a message between processes is one of these. Libraries send others on the same channel. */
export function isOurs<T extends ToPrimary | FromPrimary>(message: unknown): message is T {
  return typeof message === 'object' && message !== null && 'purser' in message;
}
