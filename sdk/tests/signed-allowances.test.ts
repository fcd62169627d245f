import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APIError, Purser, SpendDenied, signAllowance } from '../src/index.ts';
import { AUTHORITY, makeKey, type RunningService, startTestService } from './service.ts';

let s: RunningService;
let admin: Purser;
let agent: Purser;
beforeAll(async () => {
  s = await startTestService({ plan: 'enterprise' });
  admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
  const authority = { ...AUTHORITY, on_purpose_unclear: 'ALLOW' as const };
  await admin.agents.create({ slug: 'builder', mode: 'ENFORCE', authority });
  agent = new Purser({ apiKey: (await makeKey(s, { agent_id: 'builder' })).key, baseURL: s.url });
});
afterAll(() => s.stop());

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const jwk = publicKey.export({ format: 'jwk' }) as { kty: 'OKP'; crv: 'Ed25519'; x: string };
const expires_at = new Date(Date.now() + 86_400_000).toISOString();
const pay = async () => ({ external_reference: 'paid' });
const spendUnder = (allowance: string, amount_minor: number) =>
  agent.spend(
    {
      idempotencyKey: `build-${amount_minor}`,
      allowance,
      action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor, currency: 'EUR' },
    },
    pay,
  );

test('an allowance that another system signed is presented by the first spend that names it', async () => {
  const issuer = await admin.allowanceIssuers.create({
    name: 'Builds',
    jwk,
    currency: 'EUR',
    max_amount_minor: 1_000,
  });
  const allowance = {
    agent: 'builder',
    currency: 'EUR',
    amount_minor: 1_000,
    expires_at,
    labels: { run: '17' },
  };
  const how = { allowance, issuer: issuer.id, workspace: s.workspace_id };
  const exported = privateKey.export({ format: 'jwk' });
  const jwt = await signAllowance({ ...how, privateKey: exported, jti: 'run-17' });
  const first = await spendUnder(jwt, 700);
  expect(first.decision?.allowance).toMatchObject({ labels: { run: '17' } });
  // The same JWT is the same allowance, with 300 left; the same spend is the same spend.
  expect((await spendUnder(jwt, 700)).status).toBe('already_paid');
  await expect(spendUnder(jwt, 400)).rejects.toBeInstanceOf(SpendDenied);
  const { data } = await admin.allowances.list({ issuer: issuer.id });
  expect(data.map(({ standing }) => standing.used_minor)).toEqual([700]);
  expect((await agent.allowances.present({ signed: jwt })).id).toBe(data[0]?.id);
  // A key that was imported signs, too.
  const algorithm = { name: 'Ed25519' };
  const key = await webcrypto.subtle.importKey('jwk', exported, algorithm, false, ['sign']);
  const other = await signAllowance({ ...how, privateKey: key, expiresInSeconds: 60 });
  expect((await admin.allowances.present({ signed: other })).id).not.toBe(data[0]?.id);
  const late = await signAllowance({ ...how, privateKey: key, now: Math.floor(Date.now() / 1000) - 4_000 });
  await expect(spendUnder(late, 5)).rejects.toMatchObject({ status: 422, code: 'allowance_invalid' });
  await admin.allowanceIssuers.delete(issuer.id);
  expect((await admin.allowanceIssuers.list()).data[0]?.status).toBe('revoked');
  const refused = await signAllowance({ ...how, privateKey: key });
  await expect(spendUnder(refused, 6)).rejects.toBeInstanceOf(APIError);
});
