/** How much the server takes on, and how long it waits for clients. Tests lay smaller values over these. */
export interface Limits {
  /** Connections at a time; of one client address at most 80 % of them. */
  max_connections: number;
  /** Requests of one connection that may wait behind the one that is being answered. */
  max_pipelined: number;
  /** Headers of one request. */
  max_headers: number;
  /** Requests at a time whose body is still coming in. */
  max_bodies: number;
  /** Writes at a time, from the moment their body is there until they are answered. */
  max_writes: number;
  /** Answers at a time of which nobody knows the length beforehand; of one workspace at most a quarter. */
  max_streams: number;
  /** Bytes of all answers that their clients have not taken yet. */
  max_unsent_bytes: number;
  /** A client that takes nothing of its answer for so long is cut off. */
  stall_ms: number;
  /** One that has not taken all of its answer after so long is cut off, however steadily it reads. */
  max_delivery_ms: number;
}

export const LIMITS: Limits = {
  max_connections: 10_000,
  max_pipelined: 16,
  max_headers: 200,
  max_bodies: 1_000,
  // Enough for full batches while others commit; what comes beyond would only wait longer.
  max_writes: 1_000,
  max_streams: 16,
  max_unsent_bytes: 256 * 1024 * 1024,
  stall_ms: 30_000,
  max_delivery_ms: 600_000,
};
