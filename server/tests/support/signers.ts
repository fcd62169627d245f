import { expect } from 'vitest';
import { type Algorithm, type Forgery, makeAuthenticator } from './authenticator.ts';
import { type Browser, openBrowser, PASSWORD } from './browser.ts';
import type { Reply, RunningService } from './running-service.ts';

/** A member with a browser and a passkey. */
export interface Signer {
  browser: Browser;
  user_id: string;
  principal_id: string;
  passkey: ReturnType<typeof makeAuthenticator>;
  /** The id of the signing key, once it is enrolled. */
  key_id: string;
  fingerprint: string;
}

const originOf = ({ url }: Pick<RunningService, 'url'>) => `http://localhost:${new URL(url).port}`;

/** Gives the person a passkey. */
export async function addPasskey(
  service: RunningService,
  browser: Browser,
  algorithm: Algorithm = 'ES256',
): Promise<Signer> {
  const passkey = makeAuthenticator(originOf(service), algorithm);
  const options = (await browser.call('POST', '/v1/auth/passkey/register/options')).body;
  const made = await browser.call('POST', '/v1/auth/passkey/register/verify', {
    body: passkey.create(options),
  });
  expect(made.status, made.text).toBe(204);
  const me = (await browser.call('GET', '/v1/me')).body;
  return {
    browser,
    user_id: me.user.id,
    principal_id: me.principal_id,
    passkey,
    key_id: '',
    fingerprint: '',
  };
}

/** Signs what a route gave, and is the body that sends it. */
export function signed(
  signer: Pick<Signer, 'passkey'>,
  { statement, options }: { statement: string; options: { challenge: string } },
  forgery: Forgery = {},
) {
  return { statement, response: signer.passkey.get(options, forgery) };
}

/** Takes the person's passkey into the chain. */
export async function enrol(signer: Signer): Promise<Reply> {
  const begun = await signer.browser.call('POST', '/v1/me/signing-keys/options');
  expect(begun.status, begun.text).toBe(200);
  const body = { name: 'Key', ...signed(signer, begun.body) };
  const reply = await signer.browser.call('POST', '/v1/me/signing-keys', { body });
  if (reply.status === 201) {
    signer.key_id = reply.body.id;
    signer.fingerprint = reply.body.fingerprint;
  }
  return reply;
}

/** Endorses a pending key with the administrator's own. */
export async function endorse(by: Signer, key_id: string): Promise<Reply> {
  const begun = await by.browser.call('POST', `/v1/signing-keys/${key_id}/endorse/options`);
  if (begun.status !== 200) return begun;
  return by.browser.call('POST', `/v1/signing-keys/${key_id}/endorse`, { body: signed(by, begun.body) });
}

/** Has somebody new join, with a passkey. */
export async function joinWithPasskey(
  service: RunningService,
  admin: Browser,
  given: { email: string; role: string; principal_id?: string },
  algorithm: Algorithm = 'ES256',
): Promise<Signer> {
  const invited = await admin.call('POST', '/v1/invitations', { body: given });
  expect(invited.status, invited.text).toBe(201);
  const token = invited.body.url.split('#')[1];
  const browser = openBrowser(service);
  const body = { token, name: given.email.split('@')[0], password: PASSWORD };
  const joined = await browser.call('POST', '/v1/auth/invitations/accept', { body });
  expect(joined.status, joined.text).toBe(201);
  return addPasskey(service, browser, algorithm);
}

/** Returns the statement of a review, for the reviewer to sign. */
export const beginReview = (signer: Signer, decision_id: string, verdict: object) =>
  signer.browser.call('POST', `/v1/decisions/${decision_id}/reviews/statement`, { body: verdict });

/** Reviews a decision with a signature. */
export async function signReview(
  signer: Signer,
  decision_id: string,
  verdict: object = { action: 'ALLOW', reason_code: 'OK' },
  forgery: Forgery = {},
): Promise<Reply> {
  const begun = await beginReview(signer, decision_id, verdict);
  expect(begun.status, begun.text).toBe(200);
  const body = { ...verdict, signature: signed(signer, begun.body, forgery) };
  return signer.browser.call('POST', `/v1/decisions/${decision_id}/reviews`, { body });
}
