import { describe, expect } from 'vitest';
import { makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, get, makeAgent } = serviceTest({ plan: 'enterprise' });

let ada: string;
let one: string;
let two: string;
const made: { decision_id: string }[] = [];
test.beforeAll(async () => {
  ada = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  one = await makeAgent({ review_threshold_minor: 100 }, { mode: 'ENFORCE' });
  two = await makeAgent({ review_threshold_minor: 100 });
  made.push(
    await ask(one, 500, { action: { merchant: 'Hetzner Online' } }),
    await ask(two, 300, { action: { merchant: 'Hetzner Online', description: 'Ein Büro-Server' } }),
    await ask(one, 900, { action: { merchant: 'Backblaze' } }),
    await ask(one, 500, { action: { merchant: 'Hetzner Online' } }),
  );
});

const idsOf = (body: { data: { decision_id: string }[] }) =>
  body.data.map(({ decision_id }) => made.findIndex((each) => each.decision_id === decision_id));
const inbox = (query = '') => get(`/v1/inbox${query}`, ada);

describe('GET /v1/inbox', () => {
  test('lists what is pending, the one that expires first before those that never expire', async () => {
    const body = await inbox();
    expect(idsOf(body)).toEqual([0, 2, 3, 1]);
    expect(body).toMatchObject({ total: 4, groups: [], next_cursor: null });
    expect(body.data[0]).toMatchObject({
      merchant: 'Hetzner Online',
      amount_minor: 500,
      currency: 'EUR',
      required: 1,
      given: 0,
      signed: false,
      assigned_to: null,
      may_allow: true,
    });
  });

  test.for([
    ['?sort=newest', [3, 2, 1, 0]],
    ['?sort=oldest', [0, 1, 2, 3]],
    ['?sort=amount&currency=EUR', [2, 3, 0, 1]],
    ['?merchant=Backblaze', [2]],
    ['?from_minor=500&to_minor=500&sort=oldest', [0, 3]],
    ['?search=b%C3%BCro', [1]],
    ['?search=merchant', []],
    ['?assigned=user:ada', []],
    ['?mine=true', []],
  ] as const)('%s', async ([query, expected]) => {
    const body = await inbox(query);
    expect(idsOf(body)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  test.for(['expires', 'newest', 'oldest', 'amount'])('pages of %s hold each review once', async (sort) => {
    const path = `?sort=${sort}&currency=EUR&limit=1`;
    const seen: number[] = [];
    for (let cursor = ''; ; ) {
      const body = await inbox(`${path}${cursor}`);
      expect(body.total).toBe(4);
      seen.push(...idsOf(body));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(idsOf(await inbox(`?sort=${sort}&currency=EUR`)));
  });

  test('the order by amount needs a currency', async () => {
    const reply = await s.call('GET', '/v1/inbox?sort=amount', { key: ada });
    expect(refusal(reply)).toEqual([400, 'invalid_request']);
    expect(reply.body.error.message).toMatch(/^currency: /);
  });

  test('groups count what matches, with sums and the filters that select them', async () => {
    const { groups } = await inbox('?group=alike');
    const alike = groups.find(({ count }: { count: number }) => count === 2);
    expect(alike).toMatchObject({
      filter: { agent: one, merchant: 'Hetzner Online', currency: 'EUR' },
      amounts: [{ currency: 'EUR', amount_minor: 1_000 }],
    });
    for (const group of ['agent', 'merchant', 'reason', 'alike'])
      for (const each of (await inbox(`?group=${group}`)).groups) {
        const of_it = await inbox(`?${new URLSearchParams(each.filter)}`);
        expect(of_it.total).toBe(each.count);
      }
  });

  test('what was reviewed is no longer in it', async () => {
    const late = await ask(one, 700);
    expect((await inbox()).total).toBe(5);
    const body = { action: 'DENY', reason_code: 'NOT_NOW' };
    await s.call('POST', `/v1/decisions/${late.decision_id}/reviews`, { key: ada, body });
    expect((await inbox()).total).toBe(4);
  });
});
