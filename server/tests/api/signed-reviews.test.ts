import { recordHash, shownHash } from '@purser/rules/domain/ledger';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { describe, expect } from 'vitest';
import type { Forgery } from '../support/authenticator.ts';
import { setUp } from '../support/browser.ts';
import { fieldOf, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import {
  addPasskey,
  beginReview,
  endorse,
  enrol,
  joinWithPasskey,
  type Signer,
  signed,
  signReview,
} from '../support/signers.ts';

const { test, s, get, ask, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
const ALLOW = { action: 'ALLOW', reason_code: 'AMOUNT_OK' };
let ada: Signer;
let bo: Signer;
let agent: string;
test.beforeAll(async () => {
  agent = await makeAgent({ review_threshold_minor: 1_000 }, { mode: 'ENFORCE' });
  ada = await addPasskey(s, await setUp(s));
  await enrol(ada);
  bo = await joinWithPasskey(s, ada.browser, { email: 'bo@example.com', role: 'reviewer' }, 'EdDSA');
});

const pending = async (extra: object = {}) => ask(agent, 2_000, extra as Record<string, unknown>);
const send = (signer: Signer, decision_id: string, body: object) =>
  signer.browser.call('POST', `/v1/decisions/${decision_id}/reviews`, { body });
const statement = async (signer: Signer, decision_id: string, verdict: object = ALLOW) => {
  const { status, text, body } = await beginReview(signer, decision_id, verdict);
  expect(status, text).toBe(200);
  return body as { statement: string; options: { challenge: string } & Record<string, unknown> };
};
const verify = () => get('/v1/ledger/verify');

describe('the statement of a review', () => {
  test('has every fact of the decision and the verdict, in RFC 8785 form, and the head of the chain', async () => {
    const { decision_id } = await pending({ action: { merchant: 'Hetzner Online', payee_id: 'sepa:DE1' } });
    const made = await statement(ada, decision_id, { ...ALLOW, comment: 'Zweimal "gefragt"' });
    const said = JSON.parse(made.statement);
    expect(canonicalJson(said)).toBe(made.statement);
    const events = (await get(`/v1/ledger/events?subject=${decision_id}`)).data;
    const [head] = (await get('/v1/ledger/events?limit=1')).data;
    expect(said).toEqual({
      type: 'purser.approval.v1',
      workspace_id: s.workspace_id,
      decision_id,
      decision_hash: events[0].data_hash,
      ...ALLOW,
      comment_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      remember: null,
      merchant: 'Hetzner Online',
      payee_id: 'sepa:DE1',
      amount_minor: 2_000,
      currency: 'EUR',
      principal_id: ada.principal_id,
      on_behalf_of: null,
      head: { seq: head.seq, hash: head.hash },
      issued_at: expect.any(String),
    });
    expect(made.options).toMatchObject({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [{ id: ada.passkey.id, type: 'public-key' }],
    });
  });
  test('is for a person with an active signing key, and for a decision that waits for people', async () => {
    const { decision_id } = await pending();
    expect(refusal(await beginReview(bo, decision_id, ALLOW))).toEqual([403, 'signature_required']);
    const allowed = await ask(agent, 10);
    expect(refusal(await beginReview(ada, allowed.decision_id, ALLOW))).toEqual([409, 'not_reviewable']);
    expect(refusal(await beginReview(ada, 'dec_0', ALLOW))).toEqual([404, 'not_found']);
  });
});

describe('a signed review', () => {
  test('keeps its signature where everybody sees it, and every verification proves it', async () => {
    const before = (await verify()).approvals;
    const { decision_id } = await pending();
    const reply = await signReview(ada, decision_id, ALLOW);
    expect(reply.status, reply.text).toBe(201);
    const { signature } = reply.body;
    expect(JSON.parse(signature.statement)).toMatchObject({ decision_id, ...ALLOW });
    const listed = (await get(`/v1/decisions/${decision_id}/reviews`)).data;
    expect(listed).toMatchObject([{ signature, principal_id: ada.principal_id }]);
    const { valid, approvals } = await verify();
    expect(valid).toBe(true);
    expect(approvals).toEqual({ signed: before.signed + 1, verified: before.verified + 1 });
  });
  test('may also be a denial, of a pending key that was endorsed', async () => {
    expect((await enrol(bo)).body.status).toBe('PENDING');
    const { decision_id } = await pending();
    expect(refusal(await beginReview(bo, decision_id, ALLOW))).toEqual([403, 'signature_required']);
    expect((await endorse(ada, bo.key_id)).status).toBe(200);
    const deny = { action: 'DENY', reason_code: 'TOO_EXPENSIVE', comment: 'No' };
    expect((await signReview(bo, decision_id, deny)).status).toBe(201);
    expect((await verify()).breaks).toEqual([]);
  });
  test('malformed is a 400 that names the field', async () => {
    const { decision_id } = await pending();
    for (const signature of ['x', {}, { statement: 'x', response: { id: '!', response: {} } }]) {
      const reply = await send(ada, decision_id, { ...ALLOW, signature });
      expect(refusal(reply)).toEqual([400, 'invalid_request']);
      expect(fieldOf(reply)).toMatch(/^signature/);
    }
  });
  test.each<[string, Forgery]>([
    ['for another origin', { origin: 'https://evil.example' }],
    ['for another host', { rp_id: 'evil.example' }],
    ['of another challenge', { challenge: 'AAAA' }],
    ['of a device that was not unlocked', { is_unverified: true }],
    ['of a device that nobody touched', { is_absent: true }],
    ['inside a page of another site', { is_cross_origin: true }],
    ['of a registration', { type: 'webauthn.create' }],
    ['of a copy that lags behind', { counter: 0 }],
  ])('is refused %s, and nothing is recorded', async (_what, forgery) => {
    const { decision_id } = await pending();
    expect(refusal(await signReview(ada, decision_id, ALLOW, forgery))).toEqual([403, 'signature_invalid']);
    expect((await get(`/v1/decisions/${decision_id}/reviews`)).data).toEqual([]);
  });
  test.each<[string, object]>([
    ['action', { action: 'DENY' }],
    ['reason_code', { reason_code: 'OTHER' }],
    ['comment', { comment: 'Another one' }],
  ])('is refused for another %s than was signed', async (_field, other) => {
    const { decision_id } = await pending();
    const signature = signed(ada, await statement(ada, decision_id));
    const reply = await send(ada, decision_id, { ...ALLOW, ...other, signature });
    expect(refusal(reply)).toEqual([403, 'signature_invalid']);
  });
  test('is refused for another decision, by another person, with another key, and from a key of the API', async () => {
    const [one, two] = [await pending(), await pending({ action: { merchant: 'Hetzner Cloud' } })];
    const of = (signer: Signer) => statement(signer, one.decision_id);
    const elsewhere = { ...ALLOW, signature: signed(ada, await of(ada)) };
    expect(refusal(await send(ada, two.decision_id, elsewhere))).toEqual([403, 'signature_invalid']);
    const other_person = { ...ALLOW, signature: signed(ada, await of(ada)) };
    expect(refusal(await send(bo, one.decision_id, other_person))).toEqual([403, 'signature_invalid']);
    const other_key = { ...ALLOW, signature: signed(bo, await of(ada)) };
    expect(refusal(await send(ada, one.decision_id, other_key))).toEqual([403, 'signature_invalid']);
    const key = await keyWith('review', 'read');
    const body = { ...ALLOW, signature: signed(ada, await of(ada)) };
    const by_key = await s.call('POST', `/v1/decisions/${one.decision_id}/reviews`, { body, key });
    expect(refusal(by_key)).toEqual([403, 'signature_invalid']);
  });
  test('is refused when its statement was changed, although it was signed again', async () => {
    const { decision_id } = await pending();
    const changes: ((said: Record<string, unknown>) => void)[] = [
      (said) => Object.assign(said, { amount_minor: 1 }),
      (said) => Object.assign(said, { merchant: 'Other' }),
      (said) => Object.assign(said, { head: { seq: 1, hash: shownHash(recordHash({})) } }),
      (said) => Object.assign(said, { issued_at: '2020-01-01T00:00:00.000Z' }),
      (said) => Object.assign(said, { workspace_id: 'ws_other' }),
      (said) => Object.assign(said, { more: 1 }),
      (said) => delete said.payee_id,
    ];
    for (const change of changes) {
      const said = JSON.parse((await statement(ada, decision_id)).statement);
      change(said);
      const text = canonicalJson(said);
      const challenge = recordHash(said).toString('base64url');
      const signature = signed(ada, { statement: text, options: { challenge } });
      expect(refusal(await send(ada, decision_id, { ...ALLOW, signature }))).toEqual([
        403,
        'signature_invalid',
      ]);
    }
  });
  test('is refused a second time, also where a review in SHADOW may follow another', async () => {
    const shadow = await makeAgent({ review_threshold_minor: 1_000 });
    const { decision_id } = await ask(shadow, 2_000);
    const signature = signed(ada, await statement(ada, decision_id));
    const first = await send(ada, decision_id, { ...ALLOW, signature });
    expect(first.status).toBe(201);
    const deny = { action: 'DENY', reason_code: 'OTHER', supersedes: first.body.review_id };
    const second = await send(ada, decision_id, deny);
    expect(second.status).toBe(201);
    const again = { ...ALLOW, signature, supersedes: second.body.review_id };
    expect(refusal(await send(ada, decision_id, again))).toEqual([403, 'signature_invalid']);
  });
  test('is refused after five minutes, by the database’s clock', async () => {
    const { decision_id } = await pending();
    const signature = signed(ada, await statement(ada, decision_id));
    await s.sql("update passkey_challenges set expires_at = now() - interval '1 s'");
    expect(refusal(await send(ada, decision_id, { ...ALLOW, signature }))).toEqual([
      403,
      'signature_invalid',
    ]);
  });
  test('is refused once its key was revoked, and what the key signed before stays proved', async () => {
    const { decision_id } = await pending();
    const signature = signed(bo, await statement(bo, decision_id));
    expect((await bo.browser.call('DELETE', `/v1/signing-keys/${bo.key_id}`)).status).toBe(204);
    expect(refusal(await send(bo, decision_id, { ...ALLOW, signature }))).toEqual([403, 'signature_invalid']);
    const { valid, approvals } = await verify();
    expect(valid).toBe(true);
    expect(approvals.verified).toBe(approvals.signed);
  });
  test('is looked at only after what makes any review impossible', async () => {
    const signature = { statement: 'x', response: { id: 'x', response: FAKE } };
    const allowed = await ask(agent, 10);
    const reply = await send(ada, allowed.decision_id, { ...ALLOW, signature });
    expect(refusal(reply)).toEqual([409, 'not_reviewable']);
  });
});

const FAKE = { clientDataJSON: 'x', authenticatorData: 'x', signature: 'x' };
