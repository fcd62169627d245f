import { foldText } from '@purser/rules/values/folded-text';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { followNext } from '../../src/engine/followers/follow-chains.ts';
import { getWatermark } from '../../src/engine/followers/follower-rows.ts';
import { findTexts, searching, type TextPage } from '../../src/engine/search/find-texts.ts';
import { indexTexts } from '../../src/engine/search/index-texts.ts';
import { putSearchTexts } from '../../src/engine/search/search-rows.ts';
import { inTransaction } from '../../src/engine/storage/transactions.ts';
import type { Core } from '../../src/service/installation/runtime.ts';
import { setUp } from '../support/browser.ts';
import { makeKey, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

// biome-ignore lint/suspicious/noExplicitAny: hits as the API answers them.
type Shown = any;

const { test, s, get, post, ask, walk, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
let core: Core;
let reader: string;
test.beforeAll(async () => {
  core = makeTestCore(s.database.connection);
  reader = await keyWith('read');
  await makeAgent({ review_threshold_minor: 1_000 }, { slug: 'bot', mode: 'ENFORCE' });
});
test.afterAll(() => core.close());

/** Makes everything so far findable. */
async function indexed(workspace_id = s.workspace_id): Promise<void> {
  const { rows } = await s.sql('select seq from ledger_heads where workspace_id = $1', [workspace_id]);
  while ((await getWatermark(core.db, 'search', workspace_id)) < Number(rows[0].seq))
    await followNext(core.followers_db, indexTexts, workspace_id, { onSkip: () => expect.fail('skipped') });
}
const found = async (q: string, key = s.admin_key): Promise<Shown[]> => {
  await indexed();
  return walk(`/v1/search?q=${encodeURIComponent(q)}`, { key });
};
const idsOf = async (q: string, key?: string) => (await found(q, key)).map(({ id }) => id);
const decisionsOf = async (q: string, key?: string) =>
  (await found(q, key)).filter(({ kind }) => kind === 'decision').map(({ id }) => id);

describe('a decision is found by', () => {
  test('merchant, description, task, payee and amount, in any case and without accents', async () => {
    const { decision_id } = await ask('bot', 44_608, {
      action: { merchant: 'Café Zürich GmbH', description: 'Zwei Bücher, OPS-859', payee_id: 'sepa:DE77' },
      task: 'Ausstattung für das Büro',
    });
    for (const q of ['cafe zu', 'CAFÉ', 'ops-859', 'Bucher, OPS', 'fur das buro', 'sepa:de77', '446.08'])
      expect([q, await decisionsOf(q)]).toEqual([q, [decision_id]]);
    expect((await found('cafe zu')).at(-1)).toMatchObject({
      kind: 'decision',
      title: 'Café Zürich GmbH',
      subtitle: 'EUR 446.08, bot, REVIEW',
    });
  });

  test('the comments of reviews and labels, notes and references, and says where', async () => {
    const reviewer = (await makeKey(s, { scopes: ['review', 'read', 'consume'], principal_id: 'user:ada' }))
      .key;
    const { decision_id } = await ask('bot', 5_000, { action: { merchant: 'Plain' } });
    const at = `/v1/decisions/${decision_id}`;
    await post(`${at}/notes`, { text: 'Quixotic remark' }, reviewer);
    await post(`${at}/reviews`, { action: 'ALLOW', reason_code: 'OK', comment: 'Zephyr agreed' }, reviewer);
    await post(`${at}/labels`, { label: 'PURPOSE_ALIGNED', comment: 'Yonder label' }, reviewer);
    const type = 'SPEND_EXECUTED';
    await post(`${at}/outcomes`, { type, amount_minor: 5_000, external_reference: 'INV/7713' }, reviewer);
    for (const [q, where] of [
      ['quixotic', 'in a note'],
      ['zephyr', 'in a review'],
      ['yonder', 'in a label'],
      ['inv/77', 'in an outcome'],
    ] as const) {
      const [hit, ...others] = await found(q, reader);
      expect([q, hit?.id, hit?.subtitle, others]).toEqual([
        q,
        decision_id,
        `EUR 50.00, bot, REVIEW, ${where}`,
        [],
      ]);
    }
  });

  test('the beginning of its id or of its capability’s, and by a record’s id', async () => {
    const { decision_id } = await ask('bot', 5_100);
    const reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bo' })).key;
    const review = { action: 'DENY', reason_code: 'NO' };
    const { review_id } = await post(`/v1/decisions/${decision_id}/reviews`, review, reviewer);
    for (const q of [decision_id, decision_id.slice(0, -2), decision_id.replace('dec', 'cap'), review_id])
      expect([q, await idsOf(q)]).toEqual([q, [decision_id]]);
  });
});

describe('what is found', () => {
  test('has agents, budgets, merchants, keys and people before decisions', async () => {
    await makeAgent({}, { slug: 'orchid-bot' });
    await post('/v1/budgets', { slug: 'orchid', currency: 'EUR', period: 'MONTH', limit_minor: 1_000 });
    await post('/v1/api-keys', { name: 'Orchid key', scopes: ['read'] });
    const browser = await setUp(s);
    await browser.call('PATCH', '/v1/me', { body: { name: 'Örchid Ösen' } });
    const decision = await ask('bot', 100, { action: { merchant: 'ORCHID Ltd' } });
    const older = await ask('bot', 100, { action: { merchant: 'Shop', description: 'orchids' } });
    const hits = await found('orchid');
    expect(hits.map(({ kind, title }) => `${kind} ${title}`)).toEqual([
      'agent orchid-bot',
      'budget orchid',
      'merchant ORCHID Ltd',
      'key Orchid key',
      'person Örchid Ösen',
      'decision Shop',
      'decision ORCHID Ltd',
    ]);
    expect(hits.slice(-2).map(({ id }) => id)).toEqual([older.decision_id, decision.decision_id]);
    expect(hits[2].id).toBe('ORCHID Ltd');
    const whole = await get('/v1/search?q=orchid&limit=200');
    expect(whole).toEqual({ data: hits, next_cursor: null });
    // Keys and people only for administrators.
    const kinds = (await found('orchid', reader)).map(({ kind }) => kind);
    expect(kinds).toEqual(['agent', 'budget', 'merchant', 'decision', 'decision']);
  });

  test('by an agent’s key is its own agent’s decisions, without notes', async () => {
    await makeAgent({}, { slug: 'other' });
    const own = await ask('bot', 100, { action: { merchant: 'Heliotrope' } });
    await ask('other', 100, { action: { merchant: 'Heliotrope' } });
    const key = (await makeKey(s, { agent_id: 'bot' })).key;
    await post(`/v1/decisions/${own.decision_id}/notes`, { text: 'Whispered' });
    expect(await idsOf('heliotrope', key)).toEqual([own.decision_id]);
    expect(await idsOf('whispered', key)).toEqual([]);
    expect(await idsOf('whispered')).toEqual([own.decision_id]);
    const others = await ask('other', 100);
    expect(await idsOf(others.decision_id, key)).toEqual([]);
  });

  test('never comes from another workspace, and no cursor leads there', async () => {
    const theirs = await s.addWorkspace({ plan: 'team' });
    await ask('bot', 100, { action: { merchant: 'Saxifrage' } });
    await ask('bot', 100, { action: { merchant: 'Saxifrage' } });
    await indexed();
    const { next_cursor } = await get('/v1/search?q=saxifrage&limit=1');
    expect(next_cursor).not.toBeNull();
    for (const path of ['/v1/search?q=saxifrage', `/v1/search?q=${s.workspace_id}`, '/v1/search?q=bot'])
      expect((await get(path, theirs.admin_key)).data).toEqual([]);
    const stolen = `/v1/search?q=saxifrage&limit=1&cursor=${next_cursor}`;
    expect((await s.call('GET', stolen, { key: theirs.admin_key })).status).toBe(400);
  });

  test('contains the text itself: wildcards and quotes are letters', async () => {
    const odd = await ask('bot', 100, { action: { merchant: `100%_\\ 'quoted" {a,b}` } });
    await ask('bot', 100, { action: { merchant: '100xyz quoted' } });
    for (const q of ['100%', '%_', '_\\', `'quoted"`, '{a,b}', '0%_\\ '])
      expect([q, await decisionsOf(q)]).toEqual([q, [odd.decision_id]]);
    expect(await found('%%')).toEqual([]);
    expect(await found('\u0301\u0302')).toEqual([]);
  });

  test.each(['a', '', 'x'.repeat(201)])('needs 2 to 200 characters: %j', async (q) => {
    const reply = await s.call('GET', `/v1/search?q=${q}`);
    expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining('q')]);
  });

  test('is found by the service itself after a while', async () => {
    const { decision_id } = await ask('bot', 100, { action: { merchant: 'Periwinkle' } });
    await expect
      .poll(async () => (await get('/v1/search?q=periwinkle')).data.map(({ id }: Shown) => id), {
        timeout: 30_000,
      })
      .toEqual(['Periwinkle', decision_id]);
  });
});

test('pages of any length together are what contains the text, newest first', async () => {
  const { workspace_id } = await s.addWorkspace({ plan: 'team' });
  const part = fc.constantFrom('a', 'b', 'abc', ' ', 'É', '%', 'cab');
  const words = fc.array(part, { minLength: 1, maxLength: 8 }).map((each) => each.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(words, { maxLength: 60 }),
      fc.array(fc.tuple(words, fc.nat(60)), { maxLength: 60 }),
      words,
      fc.integer({ min: 1, max: 7 }),
      fc.record({
        newest: fc.integer({ min: 1, max: 9 }),
        most: fc.integer({ min: 10, max: 30 }),
        groups: fc.integer({ min: 1, max: 3 }),
      }),
      fc.integer({ min: 1, max: 40 }),
      async (requests, records, q, limit, bounds, per_page) => {
        const of = (n: number) => `dec_${10 + n}`;
        const rows = [
          ...requests.map((text, i) => ({
            decision_id: of(i),
            record_id: of(i),
            agent_id: null,
            kind: 'request' as const,
            parts: [text],
          })),
          ...records.map(([text, n], i) => ({
            decision_id: of(n),
            record_id: `rev_${10 + i}`,
            agent_id: 'agt_1',
            kind: 'review' as const,
            parts: [text],
          })),
        ];
        for (const table of ['search_texts', 'search_groups'])
          await s.sql(`delete from ${table} where workspace_id = $1`, [workspace_id]);
        await inTransaction(core.db, { reading: false }, async (client) => {
          for (let from = 0; from < rows.length; from += per_page)
            await putSearchTexts(client, workspace_id, rows.slice(from, from + per_page));
        });
        const text = foldText(q);
        const hits = rows.filter(({ parts }) => foldText(parts[0] as string).includes(text));
        const pages: string[] = [];
        for (let after: string | null = null; ; ) {
          const page: TextPage = await searching(core.db, (client) =>
            findTexts(client, { workspace_id, text, agent_id: null }, { after, limit, bounds }),
          );
          expect(page.found.length).toBeLessThanOrEqual(limit);
          pages.push(...page.found.map(({ decision_id }) => decision_id));
          if (page.next === null) break;
          after = page.next;
        }
        expect(pages).toEqual([...new Set(hits.map(({ decision_id }) => decision_id))].sort().reverse());
      },
    ),
    { numRuns: Number(process.env.FIND_RUNS) * 4 },
  );
});
