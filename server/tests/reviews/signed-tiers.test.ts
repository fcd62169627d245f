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

const { test, s, get, ask, makeAgent } = serviceTest({ plan: 'enterprise' });
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

test('a policy that replaces one with signed tiers needs a signature too', async () => {
  expect(refusal(await put({ policy: {} }))).toEqual([403, 'signature_required']);
  expect((await putSigned({})).status).toBe(200);
  expect((await put({ policy: { remind_before_seconds: 60 } })).status).toBe(200);
  expect((await verify()).breaks).toEqual([]);
});

test('an approval whose signature was taken from its row is missing it, and the break names the event', async () => {
  await s.sql('alter table reviews disable trigger all');
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
