import { expect, test } from 'vitest';
import { processCount } from './how-many.ts';

const GB = 1024 ** 3;
const large = {
  cores: 16,
  memory_bytes: 64 * GB,
  max_connections: null,
  connections_of_one: 36,
  at_most: 64,
};

test('auto is bounded by cores, memory and connections, whichever is least, and is at least one', () => {
  expect(processCount(large)).toEqual({ count: 15, because: 'cores' });
  expect(processCount({ ...large, cores: 1 })).toEqual({ count: 1, because: 'cores' });
  expect(processCount({ ...large, cores: 200 })).toEqual({ count: 64, because: 'cores' });
  // A pod without a limit of processors sees all cores of its node.
  expect(processCount({ ...large, memory_bytes: GB })).toEqual({ count: 4, because: 'memory' });
  expect(processCount({ ...large, memory_bytes: GB / 8 })).toEqual({ count: 1, because: 'memory' });
  expect(processCount({ ...large, max_connections: 250 - 44 })).toEqual({ count: 5, because: 'connections' });
  expect(processCount({ ...large, max_connections: 100 - 44 })).toEqual({ count: 1, because: 'connections' });
});
