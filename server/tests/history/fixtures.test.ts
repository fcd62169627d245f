import { readFileSync } from 'node:fs';
import { describe, expect, vi } from 'vitest';
import { serviceTest } from '../support/service-test.ts';
import { makeSender } from './sender.ts';

/** The fixtures follow the types that vendors publish; one of their days is not over yet at this time. */
const { test, s, get } = serviceTest({ stopped_at_ms: Date.UTC(2026, 10, 23, 12) });
const { importFile, linesOf } = makeSender(s);

const FIXTURES = new URL('./fixtures/', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: expectations of every shape.
const EXPECTED = JSON.parse(readFileSync(new URL('expected.json', FIXTURES), 'utf8')) as Record<string, any>;

describe('each fixture', () => {
  for (const name of Object.keys(EXPECTED)) {
    test(`${name} is taken to the cent`, async () => {
      const { source, content_type, mapping = null, lines } = EXPECTED[name];
      const body = readFileSync(new URL(name, FIXTURES));
      const done = await importFile({ source, content_type, mapping, body });
      expect(done).toMatchObject({ status: 'DONE', failure: null, bytes_read: body.length });
      const { read, taken, present, skipped, bad } = done.lines;
      expect(read).toBe(taken + present + skipped + bad);
      expect(done.skipped.map(({ reason }: { reason: string }) => reason).sort()).toEqual(
        [...EXPECTED[name].skipped].sort(),
      );
      const found = await linesOf(done.id);
      expect(found).toHaveLength(lines.length);
      for (const [i, line] of found.entries()) expect(line).toMatchObject(lines[i]);
      // A line is compared with the decisions behind its import, perhaps between the list and the line alone.
      await vi.waitFor(
        async () => {
          for (const line of await linesOf(done.id))
            expect(await get(`/v1/lines/${line.line_id}`)).toEqual(line);
        },
        { timeout: 20_000 },
      );
    });
  }
  test('the ledger stays valid', async () => {
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });
});
