import fc from 'fast-check';
import { expect } from 'vitest';
import { between, makeRandom } from '../../../tools/chaos/random.ts';
import { makePool } from '../../src/engine/storage/database.ts';
import { AS_RECORDS, type DecisionRecord } from '../../src/engine/storage/decisions.ts';
import {
  type DecisionFilters,
  type DecisionOrder,
  type DecisionPage,
  findDecisions,
} from '../../src/engine/storage/find-decisions.ts';
import { AUTHORITY, fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

// biome-ignore lint/suspicious/noExplicitAny: decisions as the API answers them.
type Shown = any;

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
const MERCHANTS = ['Hetzner Online', 'Hetzner, Online', 'OVH', 'Evil Casino', '=SUM(A1)', 'Café €'];
const LABELS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'];
const CURRENCIES = ['EUR', 'USD', 'JPY'];

const env = { REVIEW_TTL_SECONDS: '600', CAPABILITY_TTL_SECONDS: '300' };
const { test, s, get, ask, walk, keyWith } = serviceTest({
  plan: 'enterprise',
  stopped_at_ms: BEGIN_MS,
  env,
});
let reviewer: string;
let agent_key: string;
/** Every decision as it stands in the end, oldest first. */
let all: Shown[];

/** Says something of a decision; a refusal (a final review, a contradicting outcome) is as good as an answer. */
async function say(id: string, what: string, body: object, key = reviewer): Promise<void> {
  await s.call('POST', `/v1/decisions/${id}/${what}`, { key, body });
}

test.beforeAll(async () => {
  reviewer = await keyWith('review', 'read', 'consume');
  const ada = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  const seeded = makeRandom(7);
  const random = (below: number) => between(seeded, 0, below - 1);
  const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const authority = {
    ...AUTHORITY,
    per_transaction_limit_minor: 5_000,
    review_threshold_minor: 2_000,
    blocked_merchants: ['Evil Casino'],
  };
  for (const [slug, mode] of [
    ['shadow', 'SHADOW'],
    ['enforce', 'ENFORCE'],
    ['moved', 'SHADOW'],
  ]) {
    expect((await s.call('POST', '/v1/agents', { body: { slug, mode, authority } })).status).toBe(201);
  }
  agent_key = (await makeKey(s, { agent_id: 'enforce' })).key;
  const ids: string[] = [];
  for (let i = 0; i < 160; i++) {
    // Time moves in steps within which several decisions are made, past the life of the first reviews.
    if (i % 8 === 7) await s.setClock(BEGIN_MS + i * 6_000);
    if (i === 80) await s.call('PATCH', '/v1/agents/moved', { body: { mode: 'ENFORCE' } });
    const made = await ask(pick(['shadow', 'enforce', 'moved']), 1 + random(6_000), {
      action: { merchant: pick(MERCHANTS), currency: random(5) === 0 ? pick(CURRENCIES) : 'EUR' },
      limitable: random(4) === 0,
    });
    ids.push(made.decision_id);
    const id = pick(ids);
    const amount_minor = 1 + random(3_000);
    const word = random(9);
    const review = { action: pick(['ALLOW', 'DENY']), reason_code: 'OK' };
    if (word < 3) await say(id, 'reviews', review, i % 2 === 0 ? ada : reviewer);
    else if (word < 6) await say(id, 'labels', { label: pick(LABELS) });
    else if (word === 6) await say(id, 'outcomes', { type: 'SPEND_EXECUTED', amount_minor });
    else if (word === 7) await say(id, 'outcomes', { type: pick(['SPEND_FAILED', 'SPEND_CANCELLED']) });
    else await say(id, 'outcomes', { type: 'PARTIALLY_REFUNDED', amount_minor: 1 });
    if (i % 10 === 0) {
      const { label } = (await s.call('GET', `/v1/decisions/${id}`)).body;
      if (label !== null) await say(id, 'labels', { label: pick(LABELS), supersedes: label.label_id });
    }
  }
  all = [];
  for (const id of ids) {
    const decision = await get(`/v1/decisions/${id}`);
    // Only a decision read by itself holds the token.
    if (decision.capability !== null) delete decision.capability.token;
    all.push(decision);
  }
});

/** One filter: its query parameter, and the plain rule that it stands for. */
const FILTERS: Record<string, { values: string[]; holds: (decision: Shown, value: string) => boolean }> = {
  agent: {
    values: ['shadow', 'enforce', 'moved'],
    holds: (decision, value) => decision.agent.slug === value,
  },
  decision: {
    values: ['ALLOW', 'REVIEW', 'DENY', 'REVIEW,DENY', 'ALLOW,DENY'],
    holds: (decision, value) => value.split(',').includes(decision.decision),
  },
  effective_decision: {
    values: ['ALLOW', 'REVIEW', 'DENY', 'DENY,REVIEW'],
    holds: (decision, value) => value.split(',').includes(decision.effective_decision),
  },
  mode: {
    values: ['SHADOW', 'ENFORCE', 'ENFORCE,SHADOW'],
    holds: (decision, value) => value.split(',').includes(decision.mode),
  },
  reason: {
    values: ['WITHIN_AUTHORITY', 'REVIEW_THRESHOLD_EXCEEDED', 'MERCHANT_BLOCKED,AMOUNT_LIMITED'],
    holds: (decision, value) => value.split(',').some((code) => decision.reason_codes.includes(code)),
  },
  review_state: {
    values: [
      'PENDING',
      'ALLOWED',
      'DENIED',
      'EXPIRED',
      'PENDING,EXPIRED',
      'ALLOWED,DENIED',
      'DENIED,EXPIRED',
    ],
    holds: (decision, value) => value.split(',').includes(decision.review_state),
  },
  outcome_state: {
    values: ['NONE', 'EXECUTED', 'FAILED,CANCELLED', 'PARTIALLY_REFUNDED', 'NONE,EXECUTED'],
    holds: (decision, value) => value.split(',').includes(decision.outcome_state),
  },
  label: {
    values: [...LABELS, 'PURPOSE_ALIGNED,PURPOSE_UNCLEAR'],
    holds: (decision, value) => value.split(',').includes(decision.label?.label),
  },
  currency: {
    values: ['EUR', 'USD', 'USD,JPY', 'KWD'],
    holds: (decision, value) => value.split(',').includes(decision.currency),
  },
  merchant: {
    values: [...MERCHANTS, 'hetzner online', 'OVH,Hetzner Online'],
    holds: (decision, value) => decision.action.merchant === value,
  },
  q: {
    values: ['HETZNER', 'café', 'o', '%', 'nobody'],
    holds: (decision, value) => decision.action.merchant.toLowerCase().includes(value.toLowerCase()),
  },
  min_amount: {
    values: ['0', '2000', '5000'],
    holds: (decision, value) => decision.requested_amount_minor >= Number(value),
  },
  max_amount: {
    values: ['1000', '4000', '9007199254740991'],
    holds: (decision, value) => decision.requested_amount_minor <= Number(value),
  },
  reviewed: {
    values: ['true', 'false'],
    holds: (decision, value) => ['ALLOWED', 'DENIED'].includes(decision.review_state) === (value === 'true'),
  },
  reviewed_by: {
    values: ['user:ada', 'user:nobody'],
    holds: (decision, value) => decision.review?.principal_id === value,
  },
  labeled: {
    values: ['true', 'false'],
    holds: (decision, value) => (decision.label !== null) === (value === 'true'),
  },
  from: {
    values: ['2026-11-21', '2026-11-21T08:05:00Z', '2026-11-22'],
    holds: (decision, value) => Date.parse(decision.created_at) >= Date.parse(value),
  },
  to: {
    values: ['2026-11-21T08:10:00Z', '2026-11-21T08:00:00Z'],
    holds: (decision, value) => Date.parse(decision.created_at) < Date.parse(value),
  },
};

type Asked = Record<string, string>;
const reference = (asked: Asked, of: Shown[] = all): Shown[] =>
  of.filter((decision) =>
    Object.entries(asked).every(([name, value]) => FILTERS[name]?.holds(decision, value)),
  );
const queryOf = (asked: Asked) => new URLSearchParams(asked).toString();
const idsOf = (decisions: Shown[]): string[] => decisions.map((decision) => decision.decision_id);

/** The list, walked over page by page. */
const listed = (asked: Asked, limit: number, key?: string): Promise<Shown[]> =>
  walk(`/v1/decisions?${queryOf(asked)}`, { limit, ...(key === undefined ? {} : { key }) });

test('the decisions are of every kind that the filters tell apart', () => {
  for (const [name, { values }] of Object.entries(FILTERS)) {
    const counts = values.map((value) => reference({ [name]: value }).length);
    expect(Math.max(...counts), name).toBeGreaterThan(0);
  }
  for (const state of ['PENDING', 'ALLOWED', 'DENIED', 'EXPIRED']) {
    expect(reference({ review_state: state }).length, state).toBeGreaterThan(1);
  }
});

test.each(Object.entries(FILTERS))(
  '%s alone lets through what a plain rule lets through',
  async (name, { values }) => {
    for (const value of values) {
      const expected = idsOf(reference({ [name]: value }));
      const found = await listed({ [name]: value }, 7);
      expect([value, idsOf(found)]).toEqual([value, expected.reverse()]);
    }
  },
);

test('any filters together let through what holds of all of them, in either order, in pages of any length, and as a file', async () => {
  const asked = fc
    .subarray(Object.keys(FILTERS), { minLength: 1, maxLength: 4 })
    .chain((names) =>
      fc.record(
        Object.fromEntries(names.map((name) => [name, fc.constantFrom(...(FILTERS[name]?.values ?? []))])),
      ),
    );
  await fc.assert(
    fc.asyncProperty(
      asked,
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 1, max: 60 }),
      async (given, order, limit) => {
        const expected = reference(given as Asked);
        if (order === 'desc') expected.reverse();
        const found = await listed({ ...(given as Asked), order }, limit);
        expect(found).toEqual(expected);
        const path = `/v1/decisions/export?${queryOf({ ...(given as Asked), order, format: 'jsonl' })}`;
        const exported = await s.call('GET', path);
        expect(
          exported.text
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line)),
        ).toEqual(expected);
      },
    ),
    { numRuns: Number(process.env.FIND_RUNS) },
  );
});

test('order=expires shows what waits for a person alone: the shortest time first, SHADOW last, page by page', async () => {
  const waiting = reference({ review_state: 'PENDING' });
  const deadlineOf = ({ mode, created_at }: Shown) =>
    mode === 'SHADOW' ? '9999' : new Date(Date.parse(created_at) + 600_000).toISOString();
  const expected = [...waiting].sort((a, b) =>
    `${deadlineOf(a)} ${a.decision_id}` < `${deadlineOf(b)} ${b.decision_id}` ? -1 : 1,
  );
  expect(new Set(expected.map((decision) => decision.mode))).toEqual(new Set(['ENFORCE', 'SHADOW']));
  for (const limit of [1, 3, 200]) {
    expect(await listed({ order: 'expires' }, limit)).toEqual(expected);
  }
  const shown = expected.filter((decision) => decision.mode === 'SHADOW' && decision.currency === 'EUR');
  expect(await listed({ order: 'expires', mode: 'SHADOW', currency: 'EUR' }, 2)).toEqual(shown);
  expect(await listed({ order: 'expires', review_state: 'ALLOWED' }, 2)).toEqual([]);
});

test('a page that has looked at its number of decisions ends, also with nothing found, and the next ones go on', async () => {
  const db = makePool(s.database.connection, { max: 1, plan: 'index_scan', onBroken: () => {} });
  const walked = async (filters: DecisionFilters, order: DecisionOrder) => {
    const found: string[] = [];
    const lengths: number[] = [];
    for (let after: string | null = null; ; ) {
      const part = { order, after, limit: 4, max_looked_at: 5 };
      const page: DecisionPage<DecisionRecord> = await findDecisions(
        db,
        s.workspace_id,
        filters,
        part,
        AS_RECORDS,
      );
      found.push(...page.rows.map(({ decision }) => decision.decision_id));
      lengths.push(page.rows.length);
      if (page.next === null) return { found, lengths };
      after = page.next;
    }
  };
  for (const asked of [
    { merchant: 'OVH', q: 'ov' },
    { outcome_state: 'EXECUTED', mode: 'SHADOW' },
    { label: 'PURPOSE_ALIGNED,PURPOSE_UNCLEAR' },
    { review_state: 'EXPIRED,PENDING', currency: 'EUR' },
    { q: 'nobody' },
    { reviewed_by: 'user:ada' },
  ]) {
    const filters = Object.fromEntries(
      Object.entries(asked).map(([name, value]) => [
        name,
        /^(merchant|q|reviewed_by)$/.test(name) ? value : value.split(','),
      ]),
    ) as DecisionFilters;
    const { found, lengths } = await walked(filters, 'asc');
    expect(found).toEqual(idsOf(reference(asked)));
    expect(lengths.length).toBeGreaterThanOrEqual(found.length / 4);
    expect((await walked(filters, 'desc')).found).toEqual([...found].reverse());
  }
  expect((await walked({ q: 'nobody' }, 'asc')).lengths.length).toBe(Math.ceil((all.length + 1) / 5));
  const by_deadline = await walked({ mode: ['SHADOW'] }, 'expires');
  expect(by_deadline.found).toEqual(idsOf(await listed({ order: 'expires', mode: 'SHADOW' }, 50)));
  await db.end();
});

test('what an outcome settled while it waited keeps its deadline, and is EXPIRED after it', async () => {
  const at = BEGIN_MS + 7_200_000;
  await s.setClock(at);
  const { decision_id } = await ask('enforce', 3_000);
  await say(decision_id, 'outcomes', { type: 'SPEND_EXECUTED', amount_minor: 3_000 });
  const states = async () => {
    const found = [];
    for (const review_state of ['PENDING', 'EXPIRED']) {
      if (idsOf(await listed({ review_state, from: new Date(at).toISOString() }, 50)).includes(decision_id)) {
        found.push(review_state);
      }
    }
    return [found, idsOf(await listed({ order: 'expires', mode: 'ENFORCE' }, 50)).includes(decision_id)];
  };
  expect(await states()).toEqual([['PENDING'], true]);
  await s.setClock(at + 601_000);
  expect(await states()).toEqual([['EXPIRED'], false]);
  expect((await s.call('GET', `/v1/decisions/${decision_id}`)).body.review_state).toBe('EXPIRED');
  expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
});

test('an agent’s own key finds what is its agent’s, whatever it filters by', async () => {
  const own = await listed({}, 50, agent_key);
  expect(own.length).toBeGreaterThan(10);
  expect(new Set(own.map((decision) => decision.agent.slug))).toEqual(new Set(['enforce']));
  expect(await listed({ agent: 'shadow' }, 50, agent_key)).toEqual([]);
  const waits = await listed({ order: 'expires' }, 50, agent_key);
  expect(waits.every((decision) => decision.agent.slug === 'enforce')).toBe(true);
  const exported = await s.call('GET', '/v1/decisions/export?format=jsonl', { key: agent_key });
  expect(
    new Set(
      exported.text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).agent.slug),
    ),
  ).toEqual(new Set(['enforce']));
});

test.each([
  ['decision', 'MAYBE'],
  ['decision', 'ALLOW,'],
  ['decision', ''],
  ['effective_decision', 'allow'],
  ['mode', 'SHADOW,LIVE'],
  ['reason', 'BECAUSE'],
  ['review_state', 'OPEN'],
  ['outcome_state', 'EXECUTED,SPEND_FAILED'],
  ['label', 'GOOD'],
  ['currency', 'eur'],
  ['currency', 'EUR,XXX1'],
  ['merchant', ''],
  ['merchant', 'x'.repeat(201)],
  ['min_amount', '-1'],
  ['max_amount', '1.5'],
  ['reviewed', 'yes'],
  ['labeled', '1'],
  ['from', 'yesterday'],
  ['to', '2026-02-30'],
  ['order', 'expiry'],
  ['agent', 'No Agent'],
  ['limit', '201'],
  ['cursor', '!'],
  ['unknown', '1'],
])('%s=%s is refused by its name, in the list and in the export', async (name, value) => {
  const reply = await s.call('GET', `/v1/decisions?${queryOf({ [name]: value })}`);
  expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', name]);
  if (name === 'limit' || name === 'cursor') return;
  const exported = await s.call('GET', `/v1/decisions/export?format=csv&${queryOf({ [name]: value })}`);
  expect([...refusal(exported), fieldOf(exported)]).toEqual([400, 'invalid_request', name]);
});

test('an export needs a format, and takes no page', async () => {
  for (const [query, field] of [
    ['', 'format'],
    ['format=xml', 'format'],
    ['format=csv&limit=5', 'limit'],
    ['format=csv&cursor=x', 'cursor'],
  ]) {
    const reply = await s.call('GET', `/v1/decisions/export?${query}`);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
  }
});

test('the CSV has its columns, a line for each decision, and no cell that a spreadsheet would run', async () => {
  const reply = await s.call('GET', '/v1/decisions/export?format=csv&order=asc&to=2026-11-21T09:00:00Z');
  expect(reply.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="decisions-ws_\w+\.csv"$/);
  const [head, ...lines] = reply.text.split('\n').slice(0, -1) as [string, ...string[]];
  expect(head).toBe(
    'decision_id,created_at,agent,merchant,requested_amount_minor,authorized_amount_minor,currency,mode,decision,effective_decision,reason_code,review_state,outcome_state',
  );
  expect(lines.map((line) => line.split(',', 1)[0])).toEqual(idsOf(all));
  const of = (merchant: string) =>
    lines[all.findIndex((decision) => decision.action.merchant === merchant)] ?? '';
  expect(of('=SUM(A1)')).toContain(",'=SUM(A1),");
  expect(of('Hetzner, Online')).toContain(',"Hetzner, Online",');
  const first = all[0];
  expect(lines[0]?.replace('"Hetzner, Online"', 'Hetzner Online').replace(",'=", ',=')).toBe(
    [
      first.decision_id,
      first.created_at,
      first.agent.slug,
      first.action.merchant === 'Hetzner, Online' ? 'Hetzner Online' : first.action.merchant,
      first.requested_amount_minor,
      first.authorized_amount_minor,
      first.currency,
      first.mode,
      first.decision,
      first.effective_decision,
      first.reason_code,
      first.review_state ?? '',
      first.outcome_state,
    ].join(','),
  );
});

test('reviews and labels of a decision are listed oldest first, with those that were corrected', async () => {
  const { decision_id } = await ask('shadow', 3_000);
  const path = `/v1/decisions/${decision_id}`;
  expect((await s.call('GET', `${path}/reviews`)).body).toEqual({ data: [], next_cursor: null });
  const said = async (what: string, body: object) =>
    (await s.call('POST', `${path}/${what}`, { key: reviewer, body })).body;
  const first = await said('reviews', { action: 'ALLOW', reason_code: 'OK', comment: 'once' });
  const second = await said('reviews', { action: 'DENY', reason_code: 'NO', supersedes: first.review_id });
  const label = await said('labels', { label: 'PURPOSE_ALIGNED' });
  const other = await said('labels', { label: 'PURPOSE_UNCLEAR', supersedes: label.label_id, comment: 'no' });
  const shown = ({ effective_decision, ...review }: Shown) => review;
  expect((await s.call('GET', `${path}/reviews`)).body).toEqual({
    data: [shown(first), shown(second)],
    next_cursor: null,
  });
  expect((await s.call('GET', `${path}/labels`)).body).toEqual({ data: [label, other], next_cursor: null });
  expect(refusal(await s.call('GET', `${path}/labels?limit=1`))).toEqual([400, 'invalid_request']);
});
