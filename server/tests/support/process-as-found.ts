import { afterAll, beforeAll, expect } from 'vitest';

/**
 * Test files run one after the other in one process, so each has to leave the process as it found it. This says which
 * file did not, before another one fails for it.
 */
const EVENTS = ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM'];
const shared = () => ({
  env: { ...process.env },
  dir: process.cwd(),
  user: process.geteuid?.(),
  fetch: globalThis.fetch,
  listeners: EVENTS.map((event) => [event, process.listenerCount(event)]),
});

let found: ReturnType<typeof shared>;
beforeAll(() => {
  found = shared();
});
afterAll(() => {
  expect(shared()).toEqual(found);
});
