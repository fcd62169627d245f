import { OPERATOR } from '@purser/rules/domain/audit';
import { fingerprintOf } from '@purser/rules/signing/public-keys';
import { describe, expect } from 'vitest';
import { resetSigningKeys } from '../../src/engine/commands/signing/revoke-signing-keys.ts';
import type { Forgery } from '../support/authenticator.ts';
import { openBrowser, setUp } from '../support/browser.ts';
import { makeTestCore, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { addPasskey, endorse, enrol, joinWithPasskey, type Signer, signed } from '../support/signers.ts';

const { test, s, get } = serviceTest({ plan: 'enterprise' });
let ada: Signer;
let bo: Signer;
let cy: Signer;
let rex: Signer;
test.beforeAll(async () => {
  ada = await addPasskey(s, await setUp(s));
  const join = (name: string, role: string, algorithm?: 'EdDSA' | 'RS256') =>
    joinWithPasskey(s, ada.browser, { email: `${name}@example.com`, role }, algorithm);
  bo = await join('bo', 'admin', 'EdDSA');
  cy = await join('cy', 'admin');
  rex = await join('rex', 'reviewer', 'RS256');
});

const begin = (signer: Signer) => signer.browser.call('POST', '/v1/me/signing-keys/options');
const send = (signer: Signer, body: object) => signer.browser.call('POST', '/v1/me/signing-keys', { body });
const keys = async () => (await get('/v1/signing-keys')).data as { id: string; status: string }[];
const statusOf = async (id: string) => (await keys()).find((key) => key.id === id)?.status;
const verdict = () => get('/v1/ledger/verify');

describe('the first signing key', () => {
  test('is not a reviewer’s', async () => {
    expect(refusal(await enrol(rex))).toEqual([403, 'insufficient_scope']);
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
  ])('does not come from a signature %s', async (_what, forgery) => {
    const { body } = await begin(ada);
    const reply = await send(ada, { name: 'Key', ...signed(ada, body, forgery) });
    expect(refusal(reply)).toEqual([403, 'signature_invalid']);
  });
  test('needs a fresh proof, and a passkey', async () => {
    const stranger = openBrowser(s);
    expect(refusal(await stranger.call('POST', '/v1/me/signing-keys/options'))).toEqual([
      401,
      'unauthenticated',
    ]);
    await s.sql("update sessions set proved_at = now() - interval '1 day'");
    expect(refusal(await begin(ada))).toEqual([403, 'reauthentication_required']);
    await s.sql('update sessions set proved_at = now()');
  });
  test('of two that are enrolled at once, one is the root', async () => {
    const replies = await Promise.all([enrol(ada), enrol(bo)]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect(replies.map(({ body }) => body.status).sort()).toEqual(['ACTIVE', 'PENDING']);
    // From here on Ada is the one with the root.
    if (replies[1]?.body.status === 'ACTIVE') [ada, bo] = [bo, ada];
    const { body } = replies.find((reply) => reply.body.status === 'ACTIVE') as (typeof replies)[number];
    expect(body).toMatchObject({
      principal_id: ada.principal_id,
      credential_id: ada.passkey.id,
      public_key: Buffer.from(ada.passkey.cose).toString('base64url'),
      rp_id: 'localhost',
      origin: `http://localhost:${new URL(s.url).port}`,
      fingerprint: fingerprintOf(Buffer.from(ada.passkey.cose)),
      endorsed_by: null,
      revoked_at: null,
    });
  });
  test('is a passkey that is enrolled once', async () => {
    expect(refusal(await enrol(ada))).toEqual([409, 'signing_key_exists']);
  });
  test('is named as the root by every verification', async () => {
    const { valid, approvals, signer_roots, roots_pinned } = await verdict();
    expect({ valid, approvals, roots_pinned }).toEqual({
      valid: true,
      approvals: { signed: 0, verified: 0 },
      roots_pinned: false,
    });
    expect(signer_roots).toMatchObject([
      { fingerprint: ada.fingerprint, principal_id: ada.principal_id, until_seq: null, pinned: false },
    ]);
  });
});

describe('a pending key', () => {
  test('is not endorsed by its owner, by a pending key, or by a reviewer', async () => {
    expect(refusal(await endorse(bo, bo.key_id))).toEqual([403, 'signature_required']);
    expect((await enrol(rex)).body.status).toBe('PENDING');
    expect((await endorse(ada, rex.key_id)).body).toMatchObject({
      status: 'ACTIVE',
      endorsed_by: ada.key_id,
    });
    expect(refusal(await endorse(rex, bo.key_id))).toEqual([403, 'insufficient_scope']);
    expect(await statusOf(bo.key_id)).toBe('PENDING');
  });
  test('is not endorsed by a signature for another key, or one that was used', async () => {
    expect((await enrol(cy)).body.status).toBe('PENDING');
    const path = (key: Signer) => `/v1/signing-keys/${key.key_id}/endorse`;
    const { body: for_bo } = await ada.browser.call('POST', `${path(bo)}/options`);
    const signature = signed(ada, for_bo);
    const swapped = await ada.browser.call('POST', path(cy), { body: signature });
    expect(refusal(swapped)).toEqual([403, 'signature_invalid']);
    const again = await ada.browser.call('POST', path(bo), { body: signature });
    expect(refusal(again)).toEqual([403, 'signature_invalid']);
    expect(await statusOf(cy.key_id)).toBe('PENDING');
    expect((await endorse(ada, bo.key_id)).status).toBe(200);
    expect((await endorse(bo, cy.key_id)).body).toMatchObject({ status: 'ACTIVE', endorsed_by: bo.key_id });
    expect(refusal(await endorse(ada, cy.key_id))).toEqual([404, 'not_found']);
    expect((await verdict()).breaks).toEqual([]);
  });
});

describe('a signing key ends', () => {
  test('when its owner or an administrator revokes it, and for nobody else', async () => {
    const revoke = (by: Signer, key: Signer) => by.browser.call('DELETE', `/v1/signing-keys/${key.key_id}`);
    expect(refusal(await revoke(rex, cy))).toEqual([403, 'insufficient_scope']);
    expect((await revoke(rex, rex)).status).toBe(204);
    expect((await revoke(ada, rex)).status).toBe(204);
    expect(await statusOf(rex.key_id)).toBe('REVOKED');
    expect((await get('/v1/ledger/events?type=signing_key.revoked')).data).toHaveLength(1);
  });
  test('when its owner leaves', async () => {
    expect((await ada.browser.call('DELETE', `/v1/members/${cy.user_id}`)).status).toBe(204);
    expect(await statusOf(cy.key_id)).toBe('REVOKED');
    expect((await verdict()).breaks).toEqual([]);
  });
  test('and its passkey can be enrolled again, to be endorsed again', async () => {
    expect((await enrol(rex)).body.status).toBe('PENDING');
    expect((await endorse(bo, rex.key_id)).status).toBe(200);
    expect((await verdict()).breaks).toEqual([]);
  });
});

test('a passkey of another person or of an earlier credential epoch enrols nothing', async () => {
  const { body } = await begin(bo);
  const reply = await send(bo, { name: 'Key', ...signed(ada, body) });
  expect(refusal(reply)).toEqual([403, 'signature_invalid']);
  const second = await addPasskey(s, bo.browser);
  await s.sql('update user_passkeys set credential_epoch = credential_epoch + 1 where credential_id = $1', [
    second.passkey.id,
  ]);
  const { body: begun } = await begin(second);
  expect(refusal(await send(second, { name: 'Key', ...signed(second, begun) }))).toEqual([
    403,
    'signature_invalid',
  ]);
});

test('after a reset by the operator no key is active, and the next one is another root', async () => {
  const core = makeTestCore(s.database.connection);
  const origin = { actor: OPERATOR, request_id: null, client_address: null };
  expect(await core.lane.submit(s.workspace_id, resetSigningKeys, {}, origin)).toBeGreaterThan(0);
  expect(await core.lane.submit(s.workspace_id, resetSigningKeys, {}, origin)).toBe(0);
  await core.close();
  expect(new Set((await keys()).map(({ status }) => status))).toEqual(new Set(['REVOKED']));
  expect((await enrol(ada)).body).toMatchObject({ status: 'ACTIVE', endorsed_by: null });
  const { valid, signer_roots } = await verdict();
  expect(valid).toBe(true);
  expect(signer_roots).toMatchObject([
    { fingerprint: ada.fingerprint, until_seq: expect.any(Number) },
    { fingerprint: ada.fingerprint, until_seq: null },
  ]);
});
