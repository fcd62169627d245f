import { describe, expect } from 'vitest';
import { PASSWORD, setUp } from '../support/browser.ts';
import { makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, get, post, makeAgent } = serviceTest({ plan: 'enterprise' });

/** A key of another maker than the one that asks, so that neither is the other's. */
let reviewer: string;
let admin: string;
test.beforeAll(async () => {
  reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  admin = (await makeKey(s, { scopes: ['admin', 'review', 'read'], principal_id: 'user:bo' })).key;
});

const enforced = (authority: object = {}) =>
  makeAgent({ on_new_merchant: 'REVIEW', review_threshold_minor: 9_000, ...authority }, { mode: 'ENFORCE' });
const review = (decision: { decision_id: string }, body: object, key = admin) =>
  s.call('POST', `/v1/decisions/${decision.decision_id}/reviews`, {
    key,
    body: { reason_code: 'CHECKED', ...body },
  });
const entriesOf = async (slug: string) => (await get(`/v1/agents/${slug}/merchants`)).data;
const sheetOf = (decision: { decision_id: string }, key = admin) =>
  get(`/v1/decisions/${decision.decision_id}/sheet`, key);

describe('a review with `remember`', () => {
  test('ALWAYS lists the merchant and the payee that the request named, and the next request passes', async () => {
    const slug = await enforced();
    const action = { merchant: 'Backblaze', payee_id: 'stripe:acct_1', description: 'Storage' };
    const decision = await ask(slug, 500, { action });
    expect(decision.decision).toBe('REVIEW');
    const { remember } = await sheetOf(decision);
    expect(remember.ALWAYS).toEqual({
      offered: true,
      effect:
        '“Backblaze”, paid at this payee, counts as a merchant that fits the purpose of this agent, unless a request contradicts the purpose. Above EUR 90.00 it still needs a review.',
    });
    const reply = await review(decision, { action: 'ALLOW', remember: 'ALWAYS' });
    expect([reply.status, reply.body.remember]).toEqual([201, 'ALWAYS']);
    expect(await entriesOf(slug)).toMatchObject([
      {
        merchant: 'Backblaze',
        payee_ids: ['stripe:acct_1'],
        verdict: 'ALLOWED',
        created_by: { principal_id: 'user:bo' },
      },
    ]);
    expect((await get(`/v1/decisions/${decision.decision_id}`)).review.remember).toBe('ALWAYS');
    expect((await ask(slug, 500, { action })).decision).toBe('ALLOW');
    expect((await ask(slug, 9_500, { action })).reason_code).toBe('REVIEW_THRESHOLD_EXCEEDED');
  });

  test('NEVER blocks the merchant, whatever payee it is paid at', async () => {
    const slug = await enforced();
    const decision = await ask(slug, 500, { action: { merchant: 'Fiverr' } });
    expect((await sheetOf(decision)).remember.NEVER).toMatchObject({ offered: true });
    expect((await review(decision, { action: 'DENY', remember: 'NEVER' })).status).toBe(201);
    const next = await ask(slug, 500, { action: { merchant: 'FIVERR', payee_id: 'stripe:other' } });
    expect([next.decision, next.reason_code]).toEqual(['DENY', 'MERCHANT_BLOCKED']);
  });

  test('needs what listing needs: the scope admin, or an authority that lets reviewers list', async () => {
    const slug = await enforced();
    const decision = await ask(slug, 500, { action: { merchant: 'Backblaze' } });
    expect((await sheetOf(decision, reviewer)).remember.ALWAYS.offered).toBe(false);
    const reply = await review(decision, { action: 'ALLOW', remember: 'ALWAYS' }, reviewer);
    expect(refusal(reply)).toEqual([403, 'insufficient_scope']);
    expect((await get(`/v1/decisions/${decision.decision_id}`)).review_state).toBe('PENDING');
    expect(await entriesOf(slug)).toEqual([]);

    const open = await enforced({ reviewer_may_list: true });
    const other = await ask(open, 500, { action: { merchant: 'Backblaze' } });
    expect((await sheetOf(other, reviewer)).remember.ALWAYS.offered).toBe(true);
    expect((await review(other, { action: 'ALLOW', remember: 'ALWAYS' }, reviewer)).status).toBe(201);
  });

  test.for([
    ['ALLOW', 'NEVER', []],
    ['DENY', 'ALWAYS', []],
    ['DENY', 'NEVER', [{ merchant: 'Backblaze', verdict: 'ALLOWED', payee_ids: ['stripe:else'] }]],
  ] as const)(
    '%s with %s is refused where it contradicts, and nothing is recorded',
    async ([action, remember, entries]) => {
      const slug = await enforced();
      const decision = await ask(slug, 500, { action: { merchant: 'Backblaze' } });
      if (entries.length > 0) await post(`/v1/agents/${slug}/merchants`, { entries });
      const before = await entriesOf(slug);
      const reply = await review(decision, { action, remember });
      expect(refusal(reply)).toEqual([400, 'invalid_request']);
      expect(reply.body.error.message).toMatch(/^remember: /);
      expect((await get(`/v1/decisions/${decision.decision_id}/reviews`)).data).toEqual([]);
      expect(await entriesOf(slug)).toEqual(before);
    },
  );

  test('is not offered where the amount is the reason', async () => {
    const slug = await makeAgent({ review_threshold_minor: 100 }, { mode: 'ENFORCE' });
    const { remember, cause } = await sheetOf(await ask(slug, 500));
    expect(cause.reason_code).toBe('REVIEW_THRESHOLD_EXCEEDED');
    expect(remember).toEqual({
      ALWAYS: { offered: false, effect: null },
      NEVER: { offered: false, effect: null },
    });
  });

  test('of an administrator in the browser needs a fresh proof, as listing does', async () => {
    const browser = await setUp(s);
    const slug = await enforced();
    const decision = await ask(slug, 500, { action: { merchant: 'Backblaze' } });
    await s.sql("update sessions set proved_at = now() - interval '1 day'");
    const path = `/v1/decisions/${decision.decision_id}/reviews`;
    const body = { action: 'ALLOW', reason_code: 'CHECKED', remember: 'ALWAYS' };
    expect(refusal(await browser.call('POST', path, { body }))).toEqual([403, 'reauthentication_required']);
    await browser.call('POST', '/v1/auth/reauthenticate', { body: { password: PASSWORD } });
    expect((await browser.call('POST', path, { body })).status).toBe(201);
  });
});

test('two reviews at once list the merchant once, and one of them counts', async () => {
  const slug = await enforced();
  const decision = await ask(slug, 500, { action: { merchant: 'Backblaze' } });
  const body = { action: 'ALLOW', remember: 'ALWAYS' };
  const replies = await Promise.all([review(decision, body), review(decision, body)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(await entriesOf(slug)).toHaveLength(1);
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
});
