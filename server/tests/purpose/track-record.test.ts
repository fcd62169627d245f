import type { Authority, Purpose } from '@purser/contract/authority';
import { purposeHash } from '@purser/rules/domain/feedback';
import type pg from 'pg';
import { expect } from 'vitest';
import { aggregateFeedback } from '../../src/engine/feedback/aggregate-feedback.ts';
import { loadDecisionsWithFeedback, putFeedback } from '../../src/engine/feedback/stats-rows.ts';
import { followNext } from '../../src/engine/followers/follow-chains.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { paidTo } from '../../src/service/decisions/paid-spends.ts';
import { makeTrackRecords } from '../../src/service/decisions/track-record.ts';
import { makeKey } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, post } = serviceTest();
let pool: pg.Pool;
test.beforeAll(async () => {
  pool = makePool(s.database.connection, { max: 2, plan: 'index_lookup', onBroken: () => {} });
});
test.afterAll(() => pool.end());

const PURPOSE = {
  objective: 'Keep the Hamburg office supplied: paper, pens, toner and cleaning.',
  context: 'Paper comes from Papier Müller.',
};
const decide = (agent: string, merchant: string, extra: Record<string, unknown> = {}) => {
  const action = { type: 'purchase', merchant, amount_minor: 1_000, currency: 'EUR', ...extra };
  return post('/v1/decisions', { agent, action });
};
const label = (decision_id: string, value: string, supersedes?: string) =>
  s.call('POST', `/v1/decisions/${decision_id}/labels`, {
    body: { label: value, ...(supersedes === undefined ? {} : { supersedes }) },
  });
const feedback = async (slug: string, word = '') =>
  (
    await s.sql(
      `select d.* from feedback d join agents a on a.workspace_id = d.workspace_id and a.agent_id = d.agent_id
        where a.slug = $1 and d.word = $2 order by d.merchant, d.payee_id`,
      [slug, word],
    )
  ).rows;
/** Learns from a page of so many events; nothing may be left out. Whether there is more. */
const learnNext = (max_events?: number) =>
  followNext(pool, aggregateFeedback, s.workspace_id, {
    ...(max_events === undefined ? {} : { max_events }),
    onSkip: ({ error }) => {
      throw error;
    },
  });
/** Everything that was said is learnt, by whichever node. */
async function learned(): Promise<void> {
  for (;;) {
    await learnNext();
    const behind = await s.sql(
      `select 1 from ledger_heads h left join feedback_watermarks w on w.workspace_id = h.workspace_id
        where h.seq > coalesce(w.seq, 0) and exists (select 1 from ledger_events e where e.workspace_id = h.workspace_id
          and e.seq > coalesce(w.seq, 0) and e.type like 'decision.%.recorded')`,
    );
    if (behind.rowCount === 0) return;
  }
}
const agent = (slug: string) =>
  post('/v1/agents', { slug, authority: { purpose: PURPOSE, currency: 'EUR' } });

test('labels, reviews and outcomes are added up by merchant and payee, and corrections take the place of what they correct', async () => {
  await agent('adds');
  const first = await decide('adds', 'Papier Müller', { payee_id: 'iban:1', description: 'printer paper' });
  const again = { payee_id: 'iban:1', amount_minor: 3_000, description: 'printer paper' };
  const second = await decide('adds', 'PAPIER MÜLLER', again);
  expect(second.decision).toBe('ALLOW');
  const wrong = (await label(first.decision_id, 'PURPOSE_MISALIGNED')).body;
  await label(second.decision_id, 'PURPOSE_ALIGNED');
  await learned();
  expect(await feedback('adds')).toMatchObject([{ aligned: 1, misaligned: 1, paid: 0 }]);
  await label(first.decision_id, 'PURPOSE_ALIGNED', wrong.label_id);
  const outcome = (key: string, body: object) =>
    s.call('POST', `/v1/decisions/${second.decision_id}/outcomes`, { key, body });
  const executed = { type: 'SPEND_EXECUTED', amount_minor: 2_900 };
  await outcome(s.admin_key, executed);
  await learned();
  expect(await feedback('adds')).toMatchObject([{ aligned: 2, misaligned: 0, paid: 0 }]);
  const { key } = await makeKey(s, { scopes: ['consume'] });
  await outcome(key, { ...executed, source: 'PAYMENT_RAIL' });
  await learned();
  const both = { payee_id: 'iban:1', aligned: 2, misaligned: 0, paid: 1 };
  expect(await feedback('adds')).toMatchObject([
    { ...both, usual_minor: { EUR: { low: 1_000, high: 2_900 } } },
  ]);
  expect(await feedback('adds', 'paper')).toMatchObject([{ ...both, usual_minor: {} }]);
  await outcome(key, { type: 'REFUNDED', source: 'PAYMENT_RAIL' });
  await label(second.decision_id, 'PURPOSE_MISALIGNED');
  await learned();
  expect(await feedback('adds')).toMatchObject([
    { aligned: 1, misaligned: 1, paid: 0, usual_minor: { EUR: { low: 1_000, high: 1_000 } } },
  ]);
  expect((await s.call('GET', '/v1/ledger/verify')).body.breaks).toEqual([]);
});

test('feedback that is taken back as a whole leaves sums of nothing, and the history stays valid', async () => {
  await agent('nothing');
  const spent = { payee_id: 'iban:9', description: 'printer paper' };
  const { decision_id } = await decide('nothing', 'Kiosk Süd', spent);
  const { label_id } = await post(`/v1/decisions/${decision_id}/labels`, { label: 'PURPOSE_MISALIGNED' });
  await learned();
  expect(await feedback('nothing')).toMatchObject([{ misaligned: 1 }]);
  await label(decision_id, 'PURPOSE_UNCLEAR', label_id);
  await learned();
  expect(await feedback('nothing')).toMatchObject([{ aligned: 0, misaligned: 0 }]);
  expect((await s.call('GET', '/v1/ledger/verify')).body.breaks).toEqual([]);
});

test('two nodes that add up at the same time count everything once', async () => {
  await agent('twice');
  for (let i = 0; i < 5; i++) {
    const { decision_id } = await decide('twice', 'Kiosk Nord');
    await label(decision_id, 'PURPOSE_MISALIGNED');
  }
  await Promise.all(Array.from({ length: 8 }, () => learnNext()));
  await learned();
  expect(await feedback('twice')).toMatchObject([{ misaligned: 5 }]);
});

test('a chain on which much was said is followed in parts of a bounded size, and nothing is left out', async () => {
  await agent('parts');
  const head = await pool.query('select seq from ledger_heads where workspace_id = $1', [s.workspace_id]);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { decision_id } = await decide('parts', 'Kiosk Ost');
    ids.push(decision_id);
    await label(decision_id, 'PURPOSE_MISALIGNED');
  }
  const found: string[] = [];
  const sizes: number[] = [];
  const client = await pool.connect();
  for (let after = head.rows[0].seq as number; ; ) {
    const range = { after, upto: after + 1_000, max_feedback: 2 };
    const { last_seq, decision_ids } = await loadDecisionsWithFeedback(client, s.workspace_id, range);
    found.push(...decision_ids);
    sizes.push(decision_ids.length);
    if (last_seq === range.upto) break;
    after = last_seq;
  }
  client.release();
  expect(found).toEqual(ids);
  expect(sizes).toEqual([2, 2, 1]);
  while (await learnNext(2));
  await learned();
  expect(await feedback('parts')).toMatchObject([{ misaligned: 5 }]);
});

test('what people said settles a later spend at the same merchant, within seconds, and not under another purpose', async () => {
  await agent('settles');
  const unclear = await decide('settles', 'Zinnober Kontor', { description: 'engraving of two door signs' });
  expect(unclear.purpose.assessment).toBe('PURPOSE_UNCLEAR');
  await label(unclear.decision_id, 'PURPOSE_ALIGNED');
  await learned();
  // The like of it, for another sum: the same sum again could be the same invoice again.
  const like = { description: 'engraving of two door signs', amount_minor: 1_200 };
  let later = await decide('settles', 'Zinnober Kontor', like);
  // A node reads the past anew once a second.
  while (later.purpose.assessment === 'PURPOSE_UNCLEAR') {
    await new Promise((wait) => setTimeout(wait, 100));
    later = await decide('settles', 'Zinnober Kontor', like);
  }
  expect(later.purpose.assessment).toBe('PURPOSE_ALIGNED');
  expect(later.purpose.evidence).toContainEqual(
    expect.objectContaining({ field: 'history', effect: 'supports' }),
  );
  await s.call('POST', '/v1/agents/settles/authority', {
    body: { purpose: { objective: 'Something else altogether, which is not yet known.' }, currency: 'EUR' },
  });
  expect((await decide('settles', 'Zinnober Kontor', like)).purpose.assessment).not.toBe('PURPOSE_ALIGNED');
});

const authority: Authority = { purpose: PURPOSE, currency: 'EUR' };
/** No event says so, and verification would tell: whoever calls it deletes the sums. */
const say = (agent_id: string, merchants: readonly string[], workspace_id = s.workspace_id) =>
  putFeedback(
    pool as never,
    workspace_id,
    merchants.map((merchant) => ({
      agent_id,
      purpose_hash: purposeHash(PURPOSE),
      merchant,
      payee_id: '',
      word: '',
      allowed: 0,
      denied: 0,
      aligned: 1,
      misaligned: 0,
      paid: 0,
      usual_minor: {},
    })),
  );

test('what a node keeps of the past is bounded over all agents, and what it let go is read again', async () => {
  await say('agt_one', ['a', 'b', 'c']);
  await say('agt_two', ['a', 'b', 'c']);
  const historyOf = makeTrackRecords({ db: pool, now_ms: () => 0, max_rows: 6 });
  const merchants = async (agent_id: string) =>
    [...(await historyOf(s.workspace_id, agent_id, authority)).precedents.by_merchant.keys()].sort().join('');
  expect(await merchants('agt_one')).toBe('abc');
  await say('agt_one', ['d']);
  expect(await merchants('agt_one')).toBe('abc');
  expect(await merchants('agt_two')).toBe('abc');
  await say('agt_two', ['e']);
  expect(await merchants('agt_one')).toBe('abcd');
  expect(await merchants('agt_two')).toBe('abce');
  await s.sql("delete from feedback where agent_id in ('agt_one', 'agt_two')");
});

test('agents that spend in the same moment are read together, each its own past, and one with many sums by itself', async () => {
  const { workspace_id: others } = await s.addWorkspace({ plan: 'team' });
  const many = Array.from({ length: 101 }, (_, i) => `m${i}`);
  const wanted: [string, string, string[]][] = [
    ...Array.from({ length: 20 }, (_, i): [string, string, string[]] => [
      i % 2 === 0 ? s.workspace_id : others,
      `agt_${i}`,
      [`m${i}`],
    ]),
    [s.workspace_id, 'agt_many', many],
    [s.workspace_id, 'agt_unspoken_of', []],
  ];
  for (const [workspace_id, agent_id, merchants] of wanted) await say(agent_id, merchants, workspace_id);
  const sent: unknown[][] = [];
  const counting = {
    query: (config: pg.QueryConfig) => {
      if (config.name === 'list_feedback') sent.push(config.values?.[1]);
      return pool.query(config);
    },
  };
  const historyOf = makeTrackRecords({ db: counting as never, now_ms: () => 0 });
  const pasts = await Promise.all(
    wanted.map(([workspace_id, agent_id]) => historyOf(workspace_id, agent_id, authority)),
  );
  const found = pasts.map(({ precedents }) => [...precedents.by_merchant.keys()].sort());
  expect(found).toEqual(wanted.map(([, , merchants]) => [...merchants].sort()));
  expect(sent.length).toBeLessThanOrEqual(4);
  expect(sent).toContainEqual(['agt_many']);
  await s.sql("delete from feedback where agent_id like 'agt\\__%' and merchant like 'm%'");
});

/** What counts of an agent's past under that purpose, as a node that knows nothing yet reads it. */
async function pastOf(slug: string, purpose: Purpose) {
  await learned();
  const { rows } = await s.sql('select agent_id from agents where slug = $1', [slug]);
  const historyOf = makeTrackRecords({ db: pool, now_ms: () => 0 });
  const { precedents, paid } = await historyOf(s.workspace_id, rows[0].agent_id, {
    purpose,
    currency: 'EUR',
  });
  const said = [...precedents.by_merchant.values()].flat().map((one) => ({
    merchant: one.merchant,
    payee_id: one.payee_id,
    ...one.said_by_people,
    settled: one.settled_by_rail,
    words: Object.fromEntries(one.words),
  }));
  return { said: said.sort((a, b) => (a.merchant < b.merchant ? -1 : 1)), paid };
}

test('what was said survives every edit of the purpose that is not about it, and counts again when that is undone', async () => {
  const purpose = { ...PURPOSE, constraints: ['No gift cards.'], context: 'Also cakes for birthdays.' };
  const set = (next: Purpose) =>
    s.call('POST', '/v1/agents/survives/authority', { body: { purpose: next, currency: 'EUR' } });
  await s.call('POST', '/v1/agents', { body: { slug: 'survives', authority: { purpose, currency: 'EUR' } } });
  const paper = await decide('survives', 'Zinnober Papier', {
    description: 'printer paper',
    payee_id: 'iban:7',
  });
  const toner = await decide('survives', 'Tinte Nord', { description: 'toner cartridges' });
  const cake = await decide('survives', 'Konditorei Süd', { description: 'birthday cakes' });
  for (const { decision_id } of [paper, toner, cake]) await label(decision_id, 'PURPOSE_ALIGNED');
  const merchantsUnder = async (next: Purpose) => {
    await set(next);
    return (await pastOf('survives', next)).said.map(({ merchant }) => merchant);
  };
  const all = ['konditorei sud', 'tinte nord', 'zinnober papier'];
  expect(await merchantsUnder(purpose)).toEqual(all);
  const edits: [Purpose, string[]][] = [
    [
      { ...purpose, constraints: ['No gift cards.', 'No furniture.', 'Deliveries in the morning only.'] },
      all,
    ],
    [{ ...purpose, success_criteria: ['Nobody waits for supplies.'] }, all],
    [
      { ...purpose, constraints: ['No gift cards.', 'Never buy toner.'] },
      ['konditorei sud', 'zinnober papier'],
    ],
    [{ ...purpose, context: '' }, ['tinte nord', 'zinnober papier']],
    [{ ...purpose, objective: 'Keep the Hamburg canteen supplied.' }, []],
    [purpose, all],
  ];
  for (const [next, expected] of edits) expect([next, await merchantsUnder(next)]).toEqual([next, expected]);
  // What is said under one purpose adds to what was said under another, as far as both count.
  await set(edits[0]?.[0] as Purpose);
  const again = await decide('survives', 'ZINNOBER PAPIER', { description: 'envelopes', payee_id: 'iban:7' });
  await label(again.decision_id, 'PURPOSE_ALIGNED');
  const { said } = await pastOf('survives', purpose);
  expect(said.find(({ merchant }) => merchant === 'zinnober papier')).toMatchObject({
    payee_id: 'iban:7',
    allowed: 2,
    refused: 0,
    settled: 0,
    words: { paper: { allowed: 1, refused: 0 } },
  });
  expect((await s.call('GET', '/v1/ledger/verify')).body.breaks).toEqual([]);
});

test('an agent’s own report says nothing of a merchant, and is known as a spend that was paid', async () => {
  await agent('claims');
  const made = await decide('claims', 'Zinnober Kontor', { description: 'engraving', payee_id: 'iban:9' });
  const outcome = { type: 'SPEND_EXECUTED', amount_minor: 1_000 };
  await s.call('POST', `/v1/decisions/${made.decision_id}/outcomes`, { body: outcome });
  const { said, paid } = await pastOf('claims', PURPOSE);
  expect(said).toEqual([]);
  const one = {
    decision_id: made.decision_id,
    merchant: 'Zinnober Kontor',
    payee_id: 'iban:9',
    amount_minor: 1_000,
    currency: 'EUR',
    at: made.created_at,
    state: 'EXECUTED',
    type: 'purchase',
    description: 'engraving',
  };
  for (const action of [{ merchant: 'ZINNOBER KONTOR' }, { merchant: 'Another', payee_id: 'iban:9' }]) {
    expect(paidTo(paid, action)).toEqual([one]);
  }
  expect(paidTo(paid, { merchant: 'Another', payee_id: 'iban:1' })).toEqual([]);
});
