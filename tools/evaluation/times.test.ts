import { AuthorityBody, compileSchema, DecisionRequest } from '@purser/server/tools';
import { describe, expect, it } from 'vitest';
import { readSpends } from '../demo/spends-file.ts';
import {
  COSTLY_PURPOSES,
  COSTLY_TEXTS,
  costlyAuthority,
  costlyRequest,
  renderTimes,
  shownReading,
} from './times.ts';

const checkRequest = compileSchema(DecisionRequest, 'body');
const checkAuthority = compileSchema(AuthorityBody, 'body');

describe('what is timed', () => {
  it.each(Object.entries(COSTLY_TEXTS))('%s: a request that the service takes, of nearly 64 KiB', (_, at) => {
    const request = costlyRequest(at, 7);
    expect(() => checkRequest(structuredClone(request))).not.toThrow();
    const bytes = Buffer.byteLength(JSON.stringify(request));
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(65_536);
  });

  it.each(Object.entries(COSTLY_PURPOSES))('%s: an authority, and a reading of at most 200 kB', (_, at) => {
    const authority = costlyAuthority(at, 7);
    expect(() => checkAuthority(structuredClone(authority))).not.toThrow();
    expect(Buffer.byteLength(JSON.stringify(shownReading(authority)))).toBeLessThanOrEqual(200_000);
  });
});

it('tells three times', async () => {
  const cases = await readSpends(new URL('./cases/desks-tuned-on.jsonl', import.meta.url).pathname);
  expect(renderTimes(cases, 2)).toMatch(/µs at the median.*\n.*64 KiB .* ms .*\n.*reading .* ms .* bytes\n$/);
});
