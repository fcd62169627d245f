/** One process grows to some 200 MB, and the primary needs some 40. */
const MEMORY_OF_ONE = 256 * 1024 * 1024;

/** How many processes serve with `SERVE_PROCESSES=auto`, and the bound that decided it. */
export interface ProcessCount {
  count: number;
  because: 'cores' | 'memory' | 'connections';
}

/**
 * As many as there are cores, less one for PostgreSQL, if the memory and the database's connections are enough for them; at
 * least one. `max_connections`: what the database allows besides those reserved for others; null: it is started to suit.
 */
export function processCount(given: {
  cores: number;
  memory_bytes: number;
  max_connections: number | null;
  connections_of_one: number;
  at_most: number;
}): ProcessCount {
  const bounds: ProcessCount[] = [
    { because: 'cores', count: Math.min(given.at_most, given.cores - 1) },
    { because: 'memory', count: Math.floor(given.memory_bytes / MEMORY_OF_ONE) },
  ];
  if (given.max_connections !== null) {
    const count = Math.floor(given.max_connections / given.connections_of_one);
    bounds.push({ because: 'connections', count });
  }
  const least = bounds.reduce((a, b) => (b.count < a.count ? b : a));
  return { ...least, count: Math.max(1, least.count) };
}
