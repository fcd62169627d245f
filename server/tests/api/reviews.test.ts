import { describe, expect } from 'vitest';
import { AUTHORITY, fieldOf, freshKey, makeKey, refusal, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
let now_ms = BEGIN_MS;
/** Reviewers: Ada, Bob, and one whose key stands for nobody. */
let ada: string;
let bob: string;
let nobody: string;

const client = serviceTest({
  stopped_at_ms: BEGIN_MS,
  env: { REVIEW_TTL_SECONDS: '600', CAPABILITY_TTL_SECONDS: '60' },
});
const { test, s, ask, keyWith } = client;
test.beforeAll(async () => {
  const scopes = ['review', 'read'];
  ada = (await makeKey(s, { scopes, principal_id: 'user:ada' })).key;
  bob = (await makeKey(s, { scopes, principal_id: 'user:bob' })).key;
  nobody = await keyWith(...scopes);
});

const wait = (seconds: number) => {
  now_ms += seconds * 1000;
  return s.setClock(now_ms);
};
const agent = (mode: 'SHADOW' | 'ENFORCE', authority: object = {}) =>
  client.makeAgent({ review_threshold_minor: 100, monthly_budget_minor: 10_000, ...authority }, { mode });
const get = (id: string, key?: string) => client.get(`/v1/decisions/${id}`, key);
const review = (id: string, action: string, more: object = {}, key = ada) =>
  s.call('POST', `/v1/decisions/${id}/reviews`, { key, body: { action, reason_code: 'CHECKED', ...more } });
const label = (id: string, body: object, key = ada) =>
  s.call('POST', `/v1/decisions/${id}/labels`, { key, body });
const events = async (type: string) =>
  (await client.get('/v1/ledger/events?limit=200')).data.filter(
    (event: { type: string }) => event.type === type,
  );

describe('POST /v1/decisions/:id/reviews', () => {
  describe('201', () => {
    test('ALLOW in ENFORCE is in force at once, keeps the hold and shows the capability without its token', async () => {
      const slug = await agent('ENFORCE');
      const made = await ask(slug, 500);
      expect(made).toMatchObject({
        decision: 'REVIEW',
        effective_decision: 'REVIEW',
        review_state: 'PENDING',
        authorized_amount_minor: 0,
        capability: null,
      });
      const reply = await review(made.decision_id, 'ALLOW', { comment: ' Known\nvendor ' });
      expect(reply.status).toBe(201);
      const { review_id, key_id, created_at, capability, ...rest } = reply.body;
      expect(rest).toEqual({
        decision_id: made.decision_id,
        action: 'ALLOW',
        reason_code: 'CHECKED',
        comment: 'Known\nvendor',
        supersedes: null,
        principal_id: 'user:ada',
        by_key_maker: false,
        on_behalf_of: null,
        questions: [],
        remember: null,
        effective_decision: 'ALLOW',
      });
      expect(capability).toMatchObject({
        status: 'ISSUED',
        max_amount_minor: 500,
        currency: 'EUR',
        merchant: 'Hetzner Online',
        payee_id: null,
        issued_at: created_at,
        consumed_at: null,
      });
      expect(Date.parse(capability.expires_at) - Date.parse(created_at)).toBe(60_000);
      expect(capability).not.toHaveProperty('token');
      const now = await get(made.decision_id);
      expect(now).toMatchObject({
        decision: 'REVIEW',
        effective_decision: 'ALLOW',
        review_state: 'ALLOWED',
        authorized_amount_minor: 500,
        reservation: { status: 'HELD', amount_minor: 500, expires_at: null },
        review: { review_id, key_id, principal_id: 'user:ada', action: 'ALLOW' },
      });
      expect(now.review).not.toHaveProperty('effective_decision');
      const [event] = await events('decision.review.recorded');
      expect(event.subject).toEqual({ type: 'review', id: review_id });
    });

    test('DENY in ENFORCE authorizes nothing and frees the money at once', async () => {
      const slug = await agent('ENFORCE', { monthly_budget_minor: 500 });
      const made = await ask(slug, 500);
      expect((await ask(slug, 1)).decision).toBe('DENY');
      const reply = await review(made.decision_id, 'DENY');
      expect(reply.body).toMatchObject({ action: 'DENY', effective_decision: 'DENY', comment: null });
      expect(reply.body).not.toHaveProperty('capability');
      expect(await get(made.decision_id)).toMatchObject({
        decision: 'REVIEW',
        effective_decision: 'DENY',
        review_state: 'DENIED',
        authorized_amount_minor: 0,
        capability: null,
        reservation: {
          status: 'RELEASED',
          amount_minor: 500,
          expires_at: null,
          budget: { held_minor: 0, remaining_minor: 500 },
        },
      });
      expect((await ask(slug, 100)).decision).toBe('ALLOW');
    });

    test('in SHADOW a review leaves effective_decision at ALLOW and issues no capability, and DENY frees the money', async () => {
      const slug = await agent('SHADOW');
      const one = await ask(slug, 500);
      const two = await ask(slug, 600);
      expect((await review(one.decision_id, 'DENY')).body).toMatchObject({ effective_decision: 'ALLOW' });
      const allowed = await review(two.decision_id, 'ALLOW');
      expect(allowed.body).not.toHaveProperty('capability');
      expect(await get(one.decision_id)).toMatchObject({
        effective_decision: 'ALLOW',
        review_state: 'DENIED',
        authorized_amount_minor: 0,
        reservation: { status: 'RELEASED', budget: { held_minor: 600 } },
      });
      expect(await get(two.decision_id)).toMatchObject({
        authorized_amount_minor: 600,
        capability: null,
        reservation: { status: 'HELD' },
      });
    });

    test('in SHADOW a review is corrected by one that names it; both stay on record', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      const first = (await review(made.decision_id, 'ALLOW')).body;
      const second = await review(made.decision_id, 'DENY', { supersedes: first.review_id }, bob);
      expect(second.body).toMatchObject({ supersedes: first.review_id, principal_id: 'user:bob' });
      const third = await review(made.decision_id, 'ALLOW', { supersedes: second.body.review_id }, nobody);
      expect(third.body).toMatchObject({ supersedes: second.body.review_id, principal_id: null });
      expect(await get(made.decision_id)).toMatchObject({
        review_state: 'ALLOWED',
        review: { review_id: third.body.review_id },
      });
      const kept = await s.sql('select review_id from reviews where decision_id = $1 order by 1', [
        made.decision_id,
      ]);
      expect(kept.rows.map((row) => row.review_id)).toEqual([
        first.review_id,
        second.body.review_id,
        third.body.review_id,
      ]);
    });

    test('a review counts in the mode that the agent had when the decision was made', async () => {
      const slug = await agent('SHADOW');
      const made = await ask(slug, 500);
      await s.call('PATCH', `/v1/agents/${slug}`, { body: { mode: 'ENFORCE' } });
      const first = (await review(made.decision_id, 'ALLOW')).body;
      expect(first).not.toHaveProperty('capability');
      expect((await review(made.decision_id, 'DENY', { supersedes: first.review_id })).status).toBe(201);
    });

    test('ALLOW works under the same authority posted again, and DENY and labels without any', async () => {
      const slug = await agent('ENFORCE');
      const one = await ask(slug, 500);
      const two = await ask(slug, 500);
      const { authority } = (await s.call('GET', `/v1/agents/${slug}/authority`)).body;
      await s.call('POST', `/v1/agents/${slug}/authority`, { body: authority });
      expect((await review(one.decision_id, 'ALLOW')).status).toBe(201);
      await s.call('POST', `/v1/agents/${slug}/authority`, { body: AUTHORITY });
      expect((await review(two.decision_id, 'DENY')).status).toBe(201);
      expect((await label(two.decision_id, { label: 'PURPOSE_ALIGNED' })).status).toBe(201);
    });

    test('a review for a revoked agent is recorded, and the capability that it issues is void from the beginning', async () => {
      const slug = await agent('ENFORCE');
      const made = await ask(slug, 500);
      await s.call('PATCH', `/v1/agents/${slug}`, { body: { status: 'revoked' } });
      const reply = await review(made.decision_id, 'ALLOW');
      expect(reply.body.capability.status).toBe('REVOKED');
      expect((await get(made.decision_id)).capability.status).toBe('REVOKED');
    });

    test('a capability that a review issued for one payee takes the hold with it when it runs out', async () => {
      const slug = await agent('ENFORCE');
      const made = await ask(slug, 500, { action: { payee_id: 'stripe:acct_1' } });
      expect(made.reservation.expires_at).not.toBeNull();
      await wait(599);
      const allowed = (await review(made.decision_id, 'ALLOW')).body;
      const now = await get(made.decision_id);
      expect(now.reservation.expires_at).toBe(allowed.capability.expires_at);
      await wait(30);
      // Past the review's own deadline: a review that was given is not undone by time.
      expect(await get(made.decision_id)).toMatchObject({
        review_state: 'ALLOWED',
        reservation: { status: 'HELD' },
      });
      await wait(30);
      expect(await get(made.decision_id)).toMatchObject({
        review_state: 'ALLOWED',
        effective_decision: 'ALLOW',
        capability: { status: 'EXPIRED' },
        reservation: { status: 'EXPIRED', budget: { held_minor: 0 } },
      });
    });
  });

  describe('400', () => {
    test.each<[string, object, string]>([
      ['no action', { action: undefined }, 'action'],
      ['another action', { action: 'REVIEW' }, 'action'],
      ['no reason', { reason_code: undefined }, 'reason_code'],
      ['a reason in small letters', { reason_code: 'fine' }, 'reason_code'],
      ['an empty reason', { reason_code: '' }, 'reason_code'],
      ['a reason of 65', { reason_code: 'A'.repeat(65) }, 'reason_code'],
      ['a comment over 2,000', { comment: 'x'.repeat(2_001) }, 'comment'],
      ['a comment with NUL', { comment: '\0' }, 'comment'],
      ['another kind of id', { supersedes: 'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD' }, 'supersedes'],
      [
        'a review to correct where there is none',
        { supersedes: 'rev_01KAJ5F0V8Z3M2Q9X7T4R6N1BD' },
        'supersedes',
      ],
      ['an unknown field', { principal_id: 'user:ada' }, 'principal_id'],
    ])('%s names the field and writes nothing', async (_name, change, field) => {
      const made = await ask(await agent('SHADOW'), 500);
      const reply = await review(made.decision_id, 'ALLOW', change);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
      expect(await get(made.decision_id)).toMatchObject({ review: null, review_state: 'PENDING' });
    });

    test('the longest reason and comment are taken', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      const reply = await review(made.decision_id, 'ALLOW', {
        reason_code: 'A_9'.padEnd(64, 'Z'),
        comment: 'x'.repeat(2_000),
      });
      expect(reply.status).toBe(201);
    });

    test('in SHADOW a second review that names none, or not the current one, names supersedes', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      const other = await ask(await agent('SHADOW'), 500);
      const first = (await review(made.decision_id, 'ALLOW')).body;
      const second = (await review(made.decision_id, 'DENY', { supersedes: first.review_id })).body;
      const foreign = (await review(other.decision_id, 'ALLOW')).body;
      for (const supersedes of [undefined, first.review_id, foreign.review_id]) {
        const reply = await review(made.decision_id, 'ALLOW', { supersedes });
        expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'supersedes']);
      }
      expect((await get(made.decision_id)).review.review_id).toBe(second.review_id);
    });
  });

  describe('403 self_review_forbidden', () => {
    test('the key that asked, and every key of its principal, may not review, and another principal’s may', async () => {
      const slug = await agent('ENFORCE');
      const admin = ['admin', 'review', 'read', 'authorize'];
      const asker = await makeKey(s, { scopes: admin, principal_id: 'user:cleo' });
      const same_person = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:cleo' });
      const anonymous = await makeKey(s, { scopes: admin });
      const made = await ask(slug, 500, {}, asker.key);
      expect(made.requested_by).toEqual({ key_id: asker.id, principal_id: 'user:cleo' });
      for (const key of [asker.key, same_person.key]) {
        for (const action of ['ALLOW', 'DENY']) {
          expect(refusal(await review(made.decision_id, action, {}, key))).toEqual([
            403,
            'self_review_forbidden',
          ]);
        }
      }
      const by_nobody = await ask(slug, 500, {}, anonymous.key);
      expect(refusal(await review(by_nobody.decision_id, 'ALLOW', {}, anonymous.key))).toEqual([
        403,
        'self_review_forbidden',
      ]);
      // Two keys that stand for nobody are two requesters.
      expect((await review(by_nobody.decision_id, 'ALLOW', {}, nobody)).status).toBe(201);
      expect((await review(made.decision_id, 'ALLOW', {}, ada)).status).toBe(201);
    });
    test('whoever asked may not review in SHADOW either', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      expect(refusal(await review(made.decision_id, 'ALLOW', {}, s.admin_key))).toEqual([
        403,
        'self_review_forbidden',
      ]);
    });
    test('whoever asked may label the decision', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      expect((await label(made.decision_id, { label: 'PURPOSE_UNCLEAR' }, s.admin_key)).status).toBe(201);
    });
  });

  describe('409', () => {
    test('not_reviewable for decisions of ALLOW and DENY, in both modes', async () => {
      for (const mode of ['SHADOW', 'ENFORCE'] as const) {
        const slug = await agent(mode, { per_transaction_limit_minor: 1_000 });
        for (const amount of [50, 2_000]) {
          const made = await ask(slug, amount);
          expect(refusal(await review(made.decision_id, 'DENY'))).toEqual([409, 'not_reviewable']);
        }
      }
    });

    test('review_final for every further review in ENFORCE, by whomever and whatever it supersedes', async () => {
      const slug = await agent('ENFORCE');
      for (const action of ['ALLOW', 'DENY']) {
        const made = await ask(slug, 500);
        const first = (await review(made.decision_id, action)).body;
        for (const more of [{}, { supersedes: first.review_id }]) {
          for (const next of ['ALLOW', 'DENY']) {
            expect(refusal(await review(made.decision_id, next, more, bob))).toEqual([409, 'review_final']);
          }
        }
        expect((await get(made.decision_id)).review).toMatchObject({ review_id: first.review_id, action });
      }
    });

    test('review_final from the millisecond at which the time for the review ends, and the decision is nobody’s denial', async () => {
      const slug = await agent('ENFORCE', { monthly_budget_minor: 500 });
      const made = await ask(slug, 500);
      const ends_ms = Date.parse(made.reservation.expires_at);
      expect(ends_ms - Date.parse(made.created_at)).toBe(600_000);
      now_ms = ends_ms - 1;
      await s.setClock(now_ms);
      expect((await get(made.decision_id)).review_state).toBe('PENDING');
      now_ms = ends_ms;
      await s.setClock(now_ms);
      expect(refusal(await review(made.decision_id, 'ALLOW'))).toEqual([409, 'review_final']);
      expect(refusal(await review(made.decision_id, 'DENY'))).toEqual([409, 'review_final']);
      expect(await get(made.decision_id)).toMatchObject({
        review_state: 'EXPIRED',
        effective_decision: 'REVIEW',
        review: null,
        authorized_amount_minor: 0,
        reservation: { status: 'EXPIRED', budget: { held_minor: 0, remaining_minor: 500 } },
      });
      expect((await ask(slug, 400)).decision).toBe('REVIEW');
      const let_go = (await events('reservation.expired')).filter(
        (event: { subject: { id: string } }) => event.subject.id === made.reservation.reservation_id,
      );
      expect(let_go).toHaveLength(1);
    });

    test('in SHADOW the time for a review does not run out', async () => {
      const made = await ask(await agent('SHADOW'), 500);
      await wait(10 * 86_400);
      expect(await get(made.decision_id)).toMatchObject({
        review_state: 'PENDING',
        reservation: { status: 'HELD', expires_at: null },
      });
      expect((await review(made.decision_id, 'ALLOW')).status).toBe(201);
    });

    test('authority_changed for ALLOW in ENFORCE until the authority is the same again, and nothing is written', async () => {
      const slug = await agent('ENFORCE');
      const { authority } = (await s.call('GET', `/v1/agents/${slug}/authority`)).body;
      const made = await ask(slug, 500);
      await s.call('POST', `/v1/agents/${slug}/authority`, {
        body: { ...authority, monthly_budget_minor: 9_999 },
      });
      expect(refusal(await review(made.decision_id, 'ALLOW'))).toEqual([409, 'authority_changed']);
      expect(await get(made.decision_id)).toMatchObject({ review_state: 'PENDING', review: null });
      await s.call('POST', `/v1/agents/${slug}/authority`, { body: authority });
      expect((await review(made.decision_id, 'ALLOW')).status).toBe(201);
    });

    test('in SHADOW a changed authority refuses nothing', async () => {
      const slug = await agent('SHADOW');
      const made = await ask(slug, 500);
      await s.call('POST', `/v1/agents/${slug}/authority`, { body: AUTHORITY });
      expect((await review(made.decision_id, 'ALLOW')).status).toBe(201);
    });
  });

  test('a review of a missing decision, or of another workspace’s, is answered 404', async () => {
    const other = await s.addWorkspace({ plan: 'team' });
    const made = await ask(await agent('SHADOW'), 500);
    for (const [id, key] of [
      ['dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD', ada],
      ['nothing', ada],
      [made.decision_id, other.admin_key],
    ] as const) {
      expect(refusal(await review(id, 'ALLOW', {}, key))).toEqual([404, 'not_found']);
      expect(refusal(await label(id, { label: 'PURPOSE_ALIGNED' }, key))).toEqual([404, 'not_found']);
    }
  });

  test('a review after the spend was settled is recorded, but issues no capability to pay again', async () => {
    const slug = await agent('ENFORCE');
    for (const [type, amount_minor, status] of [
      ['SPEND_EXECUTED', 500, 'COMMITTED'],
      ['SPEND_CANCELLED', undefined, 'RELEASED'],
    ] as const) {
      const made = await ask(slug, 500);
      await s.call('POST', `/v1/decisions/${made.decision_id}/outcomes`, { body: { type, amount_minor } });
      const reply = await review(made.decision_id, 'ALLOW');
      expect(reply.status).toBe(201);
      expect(reply.body).not.toHaveProperty('capability');
      expect(await get(made.decision_id)).toMatchObject({ capability: null, reservation: { status } });
    }
  });
});

describe('POST /v1/decisions/:id/labels', () => {
  test('201 for a label on a decision of any kind and mode, with who set it', async () => {
    for (const mode of ['SHADOW', 'ENFORCE'] as const) {
      const slug = await agent(mode, { per_transaction_limit_minor: 1_000 });
      for (const amount of [50, 500, 2_000]) {
        const made = await ask(slug, amount);
        const reply = await label(made.decision_id, { label: 'PURPOSE_MISALIGNED', comment: 'No' });
        expect(reply.status).toBe(201);
        const { label_id, key_id, created_at, ...rest } = reply.body;
        expect(rest).toEqual({
          questions: [],
          decision_id: made.decision_id,
          label: 'PURPOSE_MISALIGNED',
          comment: 'No',
          supersedes: null,
          principal_id: 'user:ada',
        });
        const now = await get(made.decision_id);
        expect(now.label).toEqual(reply.body);
        expect({ ...now, label: null }).toEqual({ ...(await get(made.decision_id)), label: null });
        expect([now.effective_decision, now.review_state]).toEqual([
          made.effective_decision,
          made.review_state,
        ]);
      }
    }
  });

  test('201 for a further label: the decision shows the newest current one, and corrected ones stay on record', async () => {
    const { decision_id: id } = await ask(await agent('SHADOW'), 50);
    const shown = async () => (await get(id)).label.label_id;
    const one = (await label(id, { label: 'PURPOSE_ALIGNED' })).body.label_id;
    const two = (await label(id, { label: 'PURPOSE_UNCLEAR' }, bob)).body.label_id;
    expect(await shown()).toBe(two);
    const three = (await label(id, { label: 'PURPOSE_MISALIGNED', supersedes: one })).body.label_id;
    expect(await shown()).toBe(three);
    const four = (await label(id, { label: 'PURPOSE_ALIGNED', supersedes: two }, bob)).body.label_id;
    expect(await shown()).toBe(four);
    const kept = await s.sql('select label_id from labels where decision_id = $1', [id]);
    expect(kept.rowCount).toBe(4);
  });

  test('400 where the corrected label is not a current one of this decision', async () => {
    const { decision_id: id } = await ask(await agent('SHADOW'), 50);
    const { decision_id: other } = await ask(await agent('SHADOW'), 50);
    const one = (await label(id, { label: 'PURPOSE_ALIGNED' })).body.label_id;
    await label(id, { label: 'PURPOSE_UNCLEAR', supersedes: one });
    const foreign = (await label(other, { label: 'PURPOSE_ALIGNED' })).body.label_id;
    for (const supersedes of [one, foreign, 'lbl_01KAJ5F0V8Z3M2Q9X7T4R6N1BD', 'rev_1']) {
      const reply = await label(id, { label: 'PURPOSE_ALIGNED', supersedes });
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', 'supersedes']);
    }
    for (const [body, field] of [
      [{}, 'label'],
      [{ label: 'ALIGNED' }, 'label'],
      [{ label: 'PURPOSE_ALIGNED', comment: 1 }, 'comment'],
      [{ label: 'PURPOSE_ALIGNED', reason_code: 'A' }, 'reason_code'],
    ] as const) {
      const reply = await label(id, body);
      expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', field]);
    }
  });

  test('a paused and a revoked agent’s decisions are reviewed and labeled all the same', async () => {
    for (const status of ['paused', 'revoked']) {
      const slug = await agent('SHADOW');
      const made = await ask(slug, 500);
      await s.call('PATCH', `/v1/agents/${slug}`, { body: { status } });
      expect((await review(made.decision_id, 'DENY')).status).toBe(201);
      expect((await label(made.decision_id, { label: 'PURPOSE_ALIGNED' })).status).toBe(201);
    }
  });
});

describe('GET /v1/decisions', () => {
  test('the filters reviewed and labeled find what people did, and a review that ran out counts as not reviewed', async () => {
    const slug = await agent('ENFORCE');
    const allow = (await ask(slug, 50)).decision_id;
    const pending = (await ask(slug, 500)).decision_id;
    const allowed = (await ask(slug, 500)).decision_id;
    const denied = (await ask(slug, 500)).decision_id;
    await review(allowed, 'ALLOW');
    await review(denied, 'DENY');
    await label(allow, { label: 'PURPOSE_ALIGNED' });
    await label(denied, { label: 'PURPOSE_MISALIGNED' });
    const found = async (filter: string) =>
      (await s.call('GET', `/v1/decisions?agent=${slug}&${filter}`)).body.data
        .map((each: { decision_id: string }) => each.decision_id)
        .sort();
    for (const pass of ['before', 'after']) {
      expect(await found('reviewed=true'), pass).toEqual([allowed, denied].sort());
      expect(await found('reviewed=false'), pass).toEqual([allow, pending].sort());
      expect(await found('labeled=true'), pass).toEqual([allow, denied].sort());
      expect(await found('labeled=false'), pass).toEqual([allowed, pending].sort());
      expect(await found('reviewed=true&labeled=true'), pass).toEqual([denied]);
      await wait(700);
    }
  });
});

test('the creation answer is replayed as it was, after reviews, labels and time', async () => {
  const slug = await agent('ENFORCE');
  const idempotency_key = freshKey();
  const body = spend(slug, 500);
  const first = await s.call('POST', '/v1/decisions', { body, idempotency_key });
  await review(first.body.decision_id, 'ALLOW');
  await label(first.body.decision_id, { label: 'PURPOSE_ALIGNED' });
  await wait(1_000);
  const again = await s.call('POST', '/v1/decisions', { body, idempotency_key });
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
  expect(again.text).toBe(first.text);
});

test('after all of this the chain is whole', async () => {
  expect((await s.call('GET', '/v1/ledger/verify')).body).toMatchObject({ valid: true, breaks: [] });
});
