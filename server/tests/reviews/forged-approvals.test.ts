import { createHash } from 'node:crypto';
import { canonicalJson } from '@purser/rules/values/canonical-json';
import { expect } from 'vitest';
import { makeAuthenticator } from '../support/authenticator.ts';
import { setUp } from '../support/browser.ts';
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
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** How many forgeries are sent. FORGERY_RUNS=1000 is what the design asks for. */
const FORGERIES = Number(process.env.FORGERY_RUNS);
const ALLOW = { action: 'ALLOW', reason_code: 'AMOUNT_OK' };

// biome-ignore lint/suspicious/noExplicitAny: a forger writes into bodies of every shape.
type Loose = any;

const { test, s, get, ask, makeAgent } = serviceTest({ plan: 'enterprise' });
let ada: Signer;
let bo: Signer;
let agent: string;
/** A signature that was taken already, with its body. */
let used: Loose;
test.beforeAll(async () => {
  agent = await makeAgent({ review_threshold_minor: 500 }, { mode: 'ENFORCE' });
  ada = await addPasskey(s, await setUp(s));
  await enrol(ada);
  bo = await joinWithPasskey(s, ada.browser, { email: 'bo@example.com', role: 'reviewer' });
  await enrol(bo);
  await endorse(ada, bo.key_id);
  const policy = { tiers: [{ currency: 'EUR', from_minor: 1_000, approvals: 1, signed: true }] };
  const begun = await ada.browser.call('POST', '/v1/review-policy/statement', { body: { policy } });
  const put = await ada.browser.call('PUT', '/v1/review-policy', {
    body: { policy, signature: signed(ada, begun.body) },
  });
  expect(put.status, put.text).toBe(200);
  const { decision_id } = await ask(agent, 2_000);
  used = { ...ALLOW, signature: signed(ada, (await beginReview(ada, decision_id, ALLOW)).body) };
  const path = `/v1/decisions/${decision_id}/reviews`;
  expect((await ada.browser.call('POST', path, { body: used })).status).toBe(201);
});

/** Signs a statement with a passkey, under its hash. */
function sign({ passkey }: Pick<Signer, 'passkey'>, statement: string) {
  const challenge = createHash('sha256').update(statement).digest('base64url');
  return { statement, response: passkey.get({ challenge }) };
}

type Pick_ = <T>(list: readonly T[]) => T;

/** Each is a body that somebody sends as a review of a decision; `begun` is the statement that the service gave for it. */
const KINDS: Record<string, (begun: Loose, pick: Pick_) => Loose> = {
  'another field, signed again': ({ statement }, pick) => {
    const said = JSON.parse(statement);
    const field = pick(Object.keys(said));
    const others: Loose = {
      amount_minor: 1,
      head: { seq: 1, hash: `sha256:${'0'.repeat(64)}` },
      issued_at: '2026-01-01T00:00:00.000Z',
    };
    said[field] = others[field] ?? 'forged';
    return { ...ALLOW, signature: sign(ada, canonicalJson(said)) };
  },
  'a field more or less, signed again': ({ statement }, pick) => {
    const said = JSON.parse(statement);
    if (pick([true, false])) delete said[pick(Object.keys(said))];
    else said.more = pick(['1', '2', '3']);
    return { ...ALLOW, signature: sign(ada, canonicalJson(said)) };
  },
  'the statement in another form': ({ statement }, pick) => {
    const text = pick([` ${statement}`, `${statement}\n`, statement.replace('{', '{ ')]);
    return { ...ALLOW, signature: sign(ada, text) };
  },
  'another verdict than was signed': (begun, pick) => ({
    ...ALLOW,
    ...pick([{ reason_code: 'OTHER' }, { comment: 'Another' }, { remember: 'ALWAYS' }]),
    signature: signed(ada, begun),
  }),
  'a passkey of a forger': (begun) => {
    const forger = { passkey: makeAuthenticator(`http://localhost:${new URL(s.url).port}`) };
    return { ...ALLOW, signature: signed(forger, begun) };
  },
  'a passkey of a forger under the credential': (begun) => {
    const forger = { passkey: makeAuthenticator(`http://localhost:${new URL(s.url).port}`) };
    const made: Loose = signed(forger, begun);
    const { id } = ada.passkey;
    return { ...ALLOW, signature: { ...made, response: { ...made.response, id, rawId: id } } };
  },
  'a colleague’s key': (begun) => ({ ...ALLOW, signature: signed(bo, begun) }),
  'another origin, site, challenge or device': (begun, pick) => ({
    ...ALLOW,
    signature: signed(
      ada,
      begun,
      pick([
        { origin: 'https://evil.example' },
        { rp_id: 'evil.example' },
        { challenge: 'AAAA' },
        { is_unverified: true as const },
        { is_absent: true as const },
        { is_cross_origin: true as const },
        { type: 'webauthn.create' },
        { counter: 0 },
      ]),
    ),
  }),
  'a byte of the signature, or of what was signed': (begun, pick) => {
    const made: Loose = signed(ada, begun);
    const field = pick(['clientDataJSON', 'authenticatorData', 'signature']);
    const bytes = Buffer.from(made.response.response[field], 'base64url');
    const at = pick([...bytes.keys()]);
    bytes[at] = (bytes[at] as number) ^ 1;
    const response = { ...made.response.response, [field]: bytes.toString('base64url') };
    return { ...ALLOW, signature: { ...made, response: { ...made.response, response } } };
  },
  'a signature that was taken for another': () => used,
  'no signature': () => ALLOW,
};

test(`of ${FORGERIES} forged approvals none is taken, and the true one then is`, async () => {
  let seed = 30;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const pick: Pick_ = (list) => list[Math.floor(random() * list.length)] as never;
  const names = Object.keys(KINDS);
  const { decision_id } = await ask(agent, 2_000);
  const path = `/v1/decisions/${decision_id}/reviews`;
  for (let i = 0; i < FORGERIES; i++) {
    const name = names[i % names.length] as string;
    const begun = await beginReview(ada, decision_id, ALLOW);
    expect(begun.status, begun.text).toBe(200);
    const reply = await ada.browser.call('POST', path, { body: KINDS[name]?.(begun.body, pick) });
    const code = reply.body.error?.code;
    const is_refused = ['signature_invalid', 'signature_required', 'invalid_request'].includes(code);
    expect([name, i, reply.text, is_refused]).toEqual([name, i, reply.text, true]);
  }
  expect((await get(`${path}`)).data).toEqual([]);
  expect((await signReview(ada, decision_id, ALLOW)).body.effective_decision).toBe('ALLOW');
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
});

test('a root that a forger with the database wrote is found by every verification', async () => {
  const forger = makeAuthenticator(`http://localhost:${new URL(s.url).port}`);
  await s.sql('update signing_keys set public_key = $1, credential_id = $2 where signing_key_id = $3', [
    Buffer.from(forger.cose).toString('base64url'),
    forger.id,
    ada.key_id,
  ]);
  const { valid, breaks } = await get('/v1/ledger/verify');
  expect(valid).toBe(false);
  expect(JSON.stringify(breaks)).toContain(ada.key_id);
});
