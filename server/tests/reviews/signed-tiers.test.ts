import { expect } from 'vitest';
import { setUp } from '../support/browser.ts';
import { refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import {
  addPasskey,
  endorse,
  enrol,
  joinWithPasskey,
  type Signer,
  signed,
  signReview,
} from '../support/signers.ts';

const { test, s, get, post, ask, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
const ALLOW = { action: 'ALLOW', reason_code: 'AMOUNT_OK' };
const POLICY = { tiers: [{ currency: 'EUR', from_minor: 1_000, approvals: 2, signed: true }] };
let ada: Signer;
let bo: Signer;
let agent: string;
test.beforeAll(async () => {
  agent = await makeAgent({ review_threshold_minor: 500 }, { mode: 'ENFORCE' });
  ada = await addPasskey(s, await setUp(s));
  bo = await joinWithPasskey(s, ada.browser, { email: 'bo@example.com', role: 'reviewer' });
});

const put = (body: object) => ada.browser.call('PUT', '/v1/review-policy', { body });
async function putSigned(policy: object, of: object = policy) {
  const begun = await ada.browser.call('POST', '/v1/review-policy/statement', { body: { policy: of } });
  expect(begun.status, begun.text).toBe(200);
  return put({ policy, signature: signed(ada, begun.body) });
}
const verify = () => get('/v1/ledger/verify');

test('a policy with signed tiers needs enough approvers with an active key, and the signature of an administrator', async () => {
  expect(refusal(await put({ policy: POLICY }))).toEqual([400, 'invalid_request']);
  await enrol(ada);
  expect(refusal(await put({ policy: POLICY }))).toEqual([400, 'invalid_request']);
  await enrol(bo);
  await endorse(ada, bo.key_id);
  expect(refusal(await put({ policy: POLICY }))).toEqual([403, 'signature_required']);
  expect(refusal(await putSigned(POLICY, {}))).toEqual([403, 'signature_invalid']);
  const reply = await putSigned(POLICY);
  expect(reply.status, reply.text).toBe(200);
  expect((await verify()).breaks).toEqual([]);
});

test('a signed tier takes signed approvals alone, a denial without', async () => {
  const { decision_id } = await ask(agent, 2_000);
  const path = `/v1/decisions/${decision_id}/reviews`;
  expect(refusal(await ada.browser.call('POST', path, { body: ALLOW }))).toEqual([403, 'signature_required']);
  const first = await signReview(ada, decision_id, ALLOW);
  expect([first.status, first.body.effective_decision]).toEqual([201, 'REVIEW']);
  const last = await signReview(bo, decision_id, ALLOW);
  expect([last.status, last.body.effective_decision]).toEqual([201, 'ALLOW']);
  const { review_progress } = await get(`/v1/decisions/${decision_id}`);
  expect(review_progress.given.map((each: { signed: boolean }) => each.signed)).toEqual([true, true]);
  const denied = await ask(agent, 2_100);
  const deny = { action: 'DENY', reason_code: 'TOO_EXPENSIVE' };
  const by_bo = await bo.browser.call('POST', `/v1/decisions/${denied.decision_id}/reviews`, { body: deny });
  expect(by_bo.status).toBe(201);
  const { valid, approvals } = await verify();
  expect([valid, approvals]).toEqual([true, { signed: 2, verified: 2 }]);
});

test('a delegate signs in the place of the absent approver, and verification knows the place', async () => {
  const approvers = [ada.principal_id];
  const tiers = [{ currency: 'EUR', from_minor: 1_000, approvals: 1, signed: true, approvers }];
  expect((await putSigned({ tiers })).status).toBe(200);
  const [{ decision_id }, later] = [await ask(agent, 2_200), await ask(agent, 2_300)];
  const refused = await bo.browser.call('POST', `/v1/decisions/${decision_id}/reviews/statement`, {
    body: ALLOW,
  });
  expect(refusal(refused)).toEqual([403, 'insufficient_scope']);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const away = { until, delegate: bo.principal_id };
  expect((await ada.browser.call('PUT', '/v1/me/away', { body: away })).status).toBe(200);
  const lent = await signReview(bo, decision_id, ALLOW);
  expect([lent.status, lent.body.on_behalf_of]).toEqual([201, ada.principal_id]);
  expect((await ada.browser.call('DELETE', '/v1/me/away')).status).toBe(204);
  expect((await signReview(ada, later.decision_id, ALLOW)).status).toBe(201);
  const { breaks, approvals } = await verify();
  expect([breaks, approvals]).toEqual([[], { signed: 4, verified: 4 }]);
});

test('a policy that replaces one with signed tiers needs a signature too', async () => {
  expect(refusal(await put({ policy: {} }))).toEqual([403, 'signature_required']);
  expect((await putSigned({})).status).toBe(200);
  expect((await put({ policy: { remind_before_seconds: 60 } })).status).toBe(200);
  expect((await verify()).breaks).toEqual([]);
});

test('an approval whose signature was taken from its row is missing it, and the break names the event', async () => {
  const { rows } = await s.sql("select review_id, signature from reviews where action = 'ALLOW' limit 1");
  const set = (signature: unknown) =>
    s.sql('update reviews set signature = $1 where review_id = $2', [signature, rows[0].review_id]);
  await set(null);
  const { valid, breaks } = await verify();
  await set(rows[0].signature);
  expect(valid).toBe(false);
  expect(breaks).toContainEqual(
    expect.objectContaining({ kind: 'SIGNATURE_MISSING', seq: expect.any(Number) }),
  );
  expect((await verify()).breaks).toEqual([]);
});

test('a review policy whose signature was taken from its row is missing it, and another signature is no good', async () => {
  const { rows } = await s.sql(
    'select seq, signature from review_policies where signature is not null order by seq',
  );
  const [{ seq, signature }, { signature: another }] = rows;
  const set = (text: unknown) =>
    s.sql('update review_policies set signature = $1 where seq = $2', [text, seq]);
  const kindsAt = async () => {
    const { valid, breaks } = await verify();
    expect(valid).toBe(false);
    return breaks.flatMap((each: { seq: number; kind: string }) =>
      each.seq === Number(seq) ? [each.kind] : [],
    );
  };
  await set(null);
  expect(await kindsAt()).toContain('SIGNATURE_MISSING');
  for (const forged of [another, 'no signature']) {
    await set(forged);
    expect(await kindsAt()).toContain('SIGNATURE_INVALID');
  }
  await set(signature);
  expect((await verify()).breaks).toEqual([]);
});

test('a payment that a forger has the service make before all approvals is missing them, also once the rows are as they were', async () => {
  expect((await putSigned(POLICY)).status).toBe(200);
  const { decision_id } = await ask(agent, 2_000);
  expect((await signReview(ada, decision_id, ALLOW)).body.effective_decision).toBe('REVIEW');
  const { rows } = await s.sql('select * from decision_states where decision_id = $1', [decision_id]);
  await s.sql(
    `update decision_states set review_state = 'ALLOWED', approvals = 2, capability_status = 'ISSUED',
      capability_issued_at = now(), capability_expires_at = now() + interval '1 hour' where decision_id = $1`,
    [decision_id],
  );
  const { capability } = await get(`/v1/decisions/${decision_id}`);
  const paid = { token: capability.token, amount_minor: 2_000, currency: 'EUR' };
  await post('/v1/capabilities/consume', paid, await keyWith('consume'));
  const { review_state, approvals, capability_issued_at } = rows[0];
  await s.sql(
    `update decision_states set review_state = $2, approvals = $3, capability_issued_at = $4,
      capability_expires_at = null where decision_id = $1`,
    [decision_id, review_state, approvals, capability_issued_at],
  );
  const { valid, breaks } = await verify();
  expect(valid).toBe(false);
  expect(breaks).toMatchObject([{ kind: 'SIGNATURE_MISSING', detail: expect.stringContaining(decision_id) }]);
});
