import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { exportLedger } from '../../src/engine/verification/export-ledger.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { AUTHORITY, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(5);

/** A page ends with the item that brings it to a megabyte, and an item is 200 KB at the most. */
const PAGE_AT_MOST = 1_250_000;

const { test, s: service, ask, makeAgent } = serviceTest({ plan: 'enterprise' });
let core: Core;
/** Oldest first. */
const made: string[] = [];

const muchText = (length: number) => ({
  task: 'x'.repeat(Math.min(4_000, length)),
  trace: Array.from({ length: 25 }, () => ({ step: 'y'.repeat(Math.max(1, Math.min(1_900, length))) })),
  context: { note: 'z'.repeat(Math.min(8_000, length)) },
});

const decide = async (agent: string, extra: Record<string, unknown> = {}): Promise<string> =>
  (await ask(agent, 100, extra)).decision_id;

test.beforeAll(async () => {
  core = makeTestCore(service.database.connection, service.checkpoint_dir);
  await makeAgent({}, { slug: 'writer' });
  for (let i = 0; i < 90; i++) {
    made.push(await decide('writer', i % 3 === 0 ? muchText(i % 2 === 0 ? 4_000 : 1_200) : {}));
  }
});
test.afterAll(() => core.close());

/** Every item of a list, and the longest of its pages in bytes. */
async function walk(path: string, between: () => Promise<unknown> = async () => {}) {
  const items: { decision_id?: string; id?: string }[] = [];
  let longest = 0;
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await service.call('GET', `${path}${from}`);
    expect(page.status, page.text).toBe(200);
    expect(page.body.data.length).toBeGreaterThan(0);
    items.push(...page.body.data);
    longest = Math.max(longest, page.text.length);
    pages += 1;
    cursor = page.body.next_cursor;
    await between();
  }
  return { items, longest, pages };
}

describe('a page of decisions', () => {
  test('a page of decisions ends at the limit or at about a megabyte, and all pages give each decision once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('asc', 'desc'),
        async (limit, order) => {
          const { items, longest } = await walk(`/v1/decisions?limit=${limit}&order=${order}&to=2100-01-01`);
          const ids = items.map((item) => item.decision_id);
          expect(ids).toEqual(order === 'asc' ? made : [...made].reverse());
          expect(longest).toBeLessThan(PAGE_AT_MOST);
        },
      ),
      {
        numRuns: 8,
        examples: [
          [200, 'desc'],
          [1, 'asc'],
        ],
      },
    );
  });

  test('paging through decisions is not shifted by new decisions', async () => {
    const known = [...made];
    const { items, pages } = await walk('/v1/decisions?limit=200', async () => {
      made.push(await decide('writer', muchText(4_000)));
    });
    expect(pages).toBeGreaterThan(1);
    expect(items.map((item) => item.decision_id)).toEqual(known.reverse());
  });

  test('a page of decisions with short texts is as long as the limit', async () => {
    const page = await service.call('GET', '/v1/decisions?limit=20&max_amount=100&q=hetzner');
    expect(page.body.data).toHaveLength(20);
  });
});

test('a page of the audit list ends at about a megabyte too', async () => {
  const constraints = Array.from({ length: 30 }, (_, i) => `${i} ${'c'.repeat(1_900)}`);
  for (let version = 0; version < 20; version++) {
    const body = {
      ...AUTHORITY,
      purpose: { ...AUTHORITY.purpose, constraints },
      per_transaction_limit_minor: version,
    };
    await service.call('POST', '/v1/agents/writer/authority', { body });
  }
  const { items, longest, pages } = await walk('/v1/audit?limit=200');
  const { rows } = await service.sql('select audit_id from audit_records order by seq desc');
  expect(items.map((item) => item.id)).toEqual(rows.map((row) => row.audit_id));
  expect(pages).toBeGreaterThan(2);
  expect(longest).toBeLessThan(PAGE_AT_MOST);
});

test('no chunk of an export is much longer than a megabyte, and all events are in it', async () => {
  const { checkpoint_dir } = service;
  const options = { since: 0, keys: core.secrets.verifyingKeys, checkpoint_dir, is_withheld: false };
  let text = '';
  for await (const chunk of exportLedger(core.ledger_db, service.workspace_id, options)) {
    expect(chunk.length).toBeLessThan(PAGE_AT_MOST);
    text += chunk;
  }
  const seqs = text.split('\n').flatMap((line) => {
    const { kind, event } = line === '' ? {} : JSON.parse(line);
    return kind === 'event' ? [event.seq] : [];
  });
  const { rows } = await service.sql('select max(seq)::int as head from ledger_events');
  expect(seqs).toEqual(Array.from({ length: rows[0].head }, (_, i) => i + 1));
});

test('an export whose reader takes its time holds no connection', async () => {
  const { checkpoint_dir } = service;
  const options = { since: 0, keys: core.secrets.verifyingKeys, checkpoint_dir, is_withheld: false };
  const readers = Array.from({ length: 20 }, () =>
    exportLedger(core.ledger_db, service.workspace_id, options),
  );
  for (const reader of readers) {
    await reader.next();
    await reader.next();
  }
  const { ledger_db } = core;
  // What is read ahead comes to its end by itself.
  await until(() => ledger_db.totalCount === ledger_db.idleCount);
  await Promise.all(readers.map((reader) => reader.return()));
});

test('a simulation replays every decision once, however few of them are read together', async () => {
  const { body } = await service.call('POST', '/v1/agents/writer/authority/simulate?limit=2000', {
    body: AUTHORITY,
  });
  expect(made.length).toBeGreaterThan(90);
  expect(body.evaluated).toBe(made.length);
});
