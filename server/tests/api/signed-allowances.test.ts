import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { makeClient, twoNodes } from '../support/service-test.ts';
import { issuerKey, signedAllowance } from '../support/signed-allowances.ts';

/** Two nodes of one installation. */
const { s, beside } = twoNodes({ plan: 'enterprise' });

const client = makeClient(s);
const { get, post, makeAgent, walk } = client;
const EASY = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const agentOf = () => makeAgent(EASY, { mode: 'ENFORCE' });
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const keys = issuerKey();
const makeIssuer = (more: object = {}) =>
  post('/v1/allowance-issuers', {
    name: 'Build service',
    jwk: keys.jwk,
    currency: 'EUR',
    max_amount_minor: 1_000,
    ...more,
  });
const allowanceFor = (agent: string, more: object = {}) => ({
  agent,
  currency: 'EUR',
  amount_minor: 1_000,
  expires_at: inDays(7),
  ...more,
});
const signed = (kid: string, allowance: object, how: Parameters<typeof signedAllowance>[4] = {}) =>
  signedAllowance(keys.privateKey, kid, s.workspace_id, allowance, how);
const present = (jwt: string, { on = s, key }: { on?: RunningService; key?: string } = {}) =>
  on.call('POST', '/v1/allowances/present', {
    body: { signed: jwt },
    ...(key === undefined ? {} : { key }),
  });
const problem = async (jwt: string, key?: string) => {
  const reply = await present(jwt, key === undefined ? {} : { key });
  return [reply.status, reply.body.error?.code, reply.body.error?.message];
};
const valid = async () => expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
const countOf = async () => (await walk('/v1/allowances')).length;

describe('a signed allowance', () => {
  test('is made once by its JWT, by any of several callers, with the words that it has', async () => {
    const agent = await agentOf();
    const issuer = await makeIssuer();
    expect(issuer).toMatchObject({
      id: expect.stringMatching(/^iss_/),
      status: 'active',
      name: 'Build service',
      jwk: keys.jwk,
      agents: null,
      parent: null,
      revoked_at: null,
    });
    const jwt = signed(
      issuer.id,
      allowanceFor(agent, { purpose: 'Compute for the nightly build', labels: { run: '17' } }),
      { claims: { jti: 'run-17' } },
    );
    const first = await present(jwt);
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      status: 'OPEN',
      source: 'SIGNED',
      issuer_id: issuer.id,
      external_id: 'run-17',
      created_by: { key_id: null, principal_id: `issuer:${issuer.id}` },
      agent: { slug: agent },
      purpose: 'Compute for the nightly build',
      labels: { run: '17' },
    });
    // The agent's own key, on the other node.
    const { key } = await post('/v1/api-keys', { name: freshKey(), agent_id: agent });
    const again = await present(jwt, { on: beside, key });
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    expect((await walk(`/v1/allowances?issuer=${issuer.id}`)).map(({ id }) => id)).toEqual([first.body.id]);
    const records = await walk(`/v1/audit?target=${first.body.id}`);
    expect(records.map(({ action, actor }) => [action, actor.key_id])).toEqual([
      ['allowance.created', first.body.created_by.key_id ?? expect.stringMatching(/^key_/)],
    ]);
    // It is spent under like any other.
    const reply = await s.call('POST', '/v1/decisions', {
      body: { ...spend(agent, 600), allowance: first.body.id },
      idempotency_key: freshKey(),
    });
    expect(reply.body.decision).toBe('ALLOW');
    expect((await get(`/v1/allowances/${first.body.id}`)).standing.used_minor).toBe(600);
    await valid();
  });

  test('of 200 presentations at once on two nodes makes one allowance', async () => {
    const agent = await agentOf();
    const issuer = await makeIssuer();
    const jwt = signed(issuer.id, allowanceFor(agent));
    const replies = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const on = i % 2 === 0 ? s : beside;
        let reply = await present(jwt, { on });
        while (reply.status === 503) reply = await present(jwt, { on });
        return reply;
      }),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(199);
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect(await walk(`/v1/allowances?issuer=${issuer.id}`)).toHaveLength(1);
    await valid();
  });

  test('that is not right is refused, says what is wrong, and leaves nothing', async () => {
    const agent = await agentOf();
    const other = await agentOf();
    const issuer = await makeIssuer({ agents: [agent] });
    const good = allowanceFor(agent);
    const make = (more: object, how: Parameters<typeof signedAllowance>[4] = {}) =>
      signed(issuer.id, { ...good, ...more }, how);
    const seconds = Math.floor(Date.now() / 1000);
    const stranger = issuerKey();
    const [head, body, signature] = make({}).split('.') as [string, string, string];
    const forged = (header: object) =>
      `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.${signature}`;
    const right = { alg: 'EdDSA', kid: issuer.id, typ: 'purser-allowance+jwt' };
    const elsewhere = await s.addWorkspace({ plan: 'free' });
    const before = await countOf();
    const cases: [string, string][] = [
      ['no JWT at all', 'compact form'],
      [`${head}.${body}`, 'compact form'],
      [`a.${body}.${signature}`, 'header'],
      [`${head}.${body}.`, 'signature'],
      [`${head}.${body}.${signature.slice(2)}`, 'signature'],
      [`${head}.${Buffer.from(body).toString('base64url')}.${signature}`, 'signature'],
      [signedAllowance(stranger.privateKey, issuer.id, s.workspace_id, good), 'signature'],
      [forged({ ...right, alg: 'none' }), 'alg'],
      [forged({ ...right, alg: 'HS256' }), 'alg'],
      [forged({ ...right, typ: 'JWT' }), 'typ'],
      [forged({ ...right, kid: 'key_1' }), 'kid'],
      [forged({ ...right, jwk: stranger.jwk }), 'header'],
      [forged({ ...right, crit: ['b64'], b64: false }), 'header'],
      [signed('iss_00000000000000000000000000', good), 'kid'],
      [signedAllowance(keys.privateKey, issuer.id, elsewhere.workspace_id, good), 'aud'],
      [make({}, { claims: { aud: [s.workspace_id] } }), 'aud'],
      [make({}, { claims: { exp: seconds - 1 } }), 'exp'],
      [make({}, { claims: { iat: seconds + 60 } }), 'iat'],
      [make({}, { claims: { nbf: seconds + 60 } }), 'nbf'],
      [make({}, { claims: { exp: 'tomorrow' } }), 'exp'],
      [make({}, { claims: { jti: undefined } }), 'jti'],
      [make({}, { claims: { scope: 'all' } }), 'scope'],
      [make({ amount_minor: 1_001 }), 'allowance.amount_minor'],
      [make({ amount_minor: 0 }), 'allowance.amount_minor'],
      [make({ amount_minor: 1.5 }), 'allowance.amount_minor'],
      [make({ currency: 'USD' }), 'allowance.currency'],
      [make({ currency: undefined }), 'allowance.currency'],
      [make({ agent: other }), 'allowance.agent'],
      [make({ agent: undefined }), 'allowance.agent'],
      [make({ agent: 'nobody' }), 'allowance.agent'],
      [make({ expires_at: undefined }), 'allowance.expires_at'],
      [make({ expires_at: inDays(-1) }), 'allowance.expires_at'],
      [make({ expires_at: inDays(400) }), 'allowance.expires_at'],
      [make({ external_id: 'mine' }), 'allowance.external_id'],
      [make({ budget: 'team' }), 'allowance.budget'],
      [make({ parent: issuer.id }), 'allowance.parent'],
      [make({ key: true }), 'allowance.key'],
      [make({ labels: { Run: '1' } }), 'allowance.labels'],
    ];
    for (const [jwt, field] of cases) {
      const [status, code, message] = await problem(jwt);
      expect([status, code], `${field}: ${message}`).toEqual([422, 'allowance_invalid']);
      expect(message).toContain(field);
    }
    for (const jwt of ['', `${'a'.repeat(16_400)}`])
      expect((await problem(jwt)).slice(0, 2)).toEqual([400, 'invalid_request']);
    expect(await countOf()).toBe(before);
    await valid();
  });

  test('with the same id and other claims is refused; what another agent may use is not shown', async () => {
    const agent = await agentOf();
    const issuer = await makeIssuer();
    const how = { claims: { jti: 'once' } };
    expect((await present(signed(issuer.id, allowanceFor(agent), how))).status).toBe(201);
    const changed = signed(issuer.id, allowanceFor(agent, { amount_minor: 5 }), how);
    expect((await problem(changed)).slice(0, 2)).toEqual([409, 'allowance_exists']);
    const stranger = await agentOf();
    const { key } = await post('/v1/api-keys', { name: freshKey(), agent_id: stranger });
    const jwt = signed(issuer.id, allowanceFor(agent));
    expect((await problem(jwt, key)).slice(0, 2)).toEqual([403, 'agent_mismatch']);
    expect((await present(jwt)).status).toBe(201);
    expect((await problem(jwt, key)).slice(0, 2)).toEqual([403, 'agent_mismatch']);
    const bound = await post('/v1/allowances', { ...allowanceFor(agent), key: true });
    expect((await problem(jwt, bound.api_key.key)).slice(0, 2)).toEqual([403, 'allowance_mismatch']);
    const part = await makeIssuer({ parent: bound.id });
    const below = await present(signed(part.id, { amount_minor: 10 }), { key: bound.api_key.key });
    expect([below.status, below.body.parent]).toEqual([201, bound.id]);
    const { key: reader } = await makeKey(s, { scopes: ['read'] });
    expect((await problem(jwt, reader)).slice(0, 2)).toEqual([403, 'insufficient_scope']);
  });

  test('is judged by the time under the lock, to the second and without leeway', async () => {
    const stopped_at_ms = Date.UTC(2026, 10, 2, 9);
    const alone = await startTestService({ plan: 'enterprise', stopped_at_ms });
    try {
      const call = makeClient({ call: (...args) => alone.call(...args) });
      const agent = await call.makeAgent(EASY, { mode: 'ENFORCE' });
      const issuer = await call.post('/v1/allowance-issuers', {
        name: 'One',
        jwk: keys.jwk,
        currency: 'EUR',
        max_amount_minor: 1_000,
      });
      const base = stopped_at_ms / 1000;
      const made = (claims: object) =>
        signedAllowance(
          keys.privateKey,
          issuer.id,
          alone.workspace_id,
          { agent, currency: 'EUR', amount_minor: 10, expires_at: '2026-11-20T00:00:00Z' },
          { claims, now_ms: stopped_at_ms },
        );
      const [late, kept] = [made({ exp: base + 10 }), made({ exp: base + 10 })];
      const early = made({ iat: base + 10, exp: base + 20 });
      await alone.setClock(stopped_at_ms + 9_000);
      expect((await present(kept, { on: alone })).status).toBe(201);
      expect((await present(early, { on: alone })).status).toBe(422);
      await alone.setClock(stopped_at_ms + 10_000);
      expect((await present(late, { on: alone })).body.error.message).toContain('exp');
      expect((await present(early, { on: alone })).status).toBe(201);
      // The answer may have been lost: what was made is found again.
      expect((await present(kept, { on: alone })).status).toBe(200);
    } finally {
      await alone.stop();
    }
  });
});

describe('an issuer', () => {
  test('with a parent issues parts of it, whose sum is exact', async () => {
    const agent = await agentOf();
    const parent = await post('/v1/allowances', allowanceFor(agent, { labels: { customer: 'c1' } }));
    const issuer = await makeIssuer({ parent: parent.id });
    const part = { amount_minor: 700, labels: { run: '1' } };
    const ids: string[] = [];
    for (const more of [{}, { currency: 'EUR' }]) {
      const made = await present(signed(issuer.id, { ...part, ...more }));
      expect(made.status, made.text).toBe(201);
      expect(made.body).toMatchObject({
        parent: parent.id,
        agent: { slug: agent },
        expires_at: parent.expires_at,
        labels: { customer: 'c1', run: '1' },
      });
      ids.push(made.body.id);
    }
    const decided: string[] = [];
    for (const allowance of ids) {
      const reply = await s.call('POST', '/v1/decisions', {
        body: { ...spend(agent, 700), allowance },
        idempotency_key: freshKey(),
      });
      decided.push(reply.body.decision);
    }
    // The second would bring the parent to 1,400 of 1,000.
    expect(decided).toEqual(['ALLOW', 'DENY']);
    expect((await problem(signed(issuer.id, { ...part, agent })))[2]).toContain('allowance.agent');
    expect((await problem(signed(issuer.id, { ...part, currency: 'USD' })))[2]).toContain('currency');
    expect((await problem(signed(issuer.id, { ...part, labels: { customer: 'c2' } })))[2]).toContain(
      'allowance.labels.customer',
    );
    await s.call('POST', `/v1/allowances/${parent.id}/revoke`, { body: {} });
    expect((await problem(signed(issuer.id, part))).slice(0, 2)).toEqual([409, 'allowance_not_open']);
    await valid();
  });

  test('that is revoked issues nothing new on either node; what it issued stays', async () => {
    const agent = await agentOf();
    const issuer = await makeIssuer();
    const [kept, late] = [1, 2].map(() => signed(issuer.id, allowanceFor(agent))) as [string, string];
    const made = await present(kept);
    expect((await s.call('DELETE', `/v1/allowance-issuers/${issuer.id}`)).status).toBe(204);
    expect((await s.call('DELETE', `/v1/allowance-issuers/${issuer.id}`)).status).toBe(204);
    const reply = await present(late, { on: beside });
    expect([reply.status, reply.body.error.code]).toEqual([422, 'allowance_invalid']);
    expect(reply.body.error.message).toContain('revoked');
    expect((await present(kept)).status).toBe(200);
    expect((await get(`/v1/allowances/${made.body.id}`)).status).toBe('OPEN');
    const listed = await walk('/v1/allowance-issuers');
    expect(listed.find(({ id }) => id === issuer.id)).toMatchObject({ status: 'revoked' });
    const actions = (await walk(`/v1/audit?target=${issuer.id}`)).map(({ action }) => action).sort();
    expect(actions).toEqual(['allowance_issuer.created', 'allowance_issuer.revoked']);
    await valid();
  });

  test('of a wrong shape is refused by the field’s name', async () => {
    const agent = await agentOf();
    const other = await makeAgent(EASY);
    const parent = await post('/v1/allowances', allowanceFor(agent));
    const ended = await post('/v1/allowances', allowanceFor(agent));
    await s.call('POST', `/v1/allowances/${ended.id}/revoke`, { body: {} });
    const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
    const cases: [object, number, string][] = [
      [{ jwk: { ...keys.jwk, d: keys.jwk.x } }, 400, 'jwk.d'],
      [{ jwk: p256 }, 400, 'jwk'],
      [{ jwk: { ...keys.jwk, x: 'AAAA' } }, 400, 'jwk.x'],
      [{ jwk: undefined }, 400, 'jwk'],
      [{ max_amount_minor: 0 }, 400, 'max_amount_minor'],
      [{ currency: 'EURO' }, 400, 'currency'],
      [{ agents: [] }, 400, 'agents'],
      [{ agents: [agent, 'nobody'] }, 404, 'agents[1]'],
      [{ parent: 'alw_00000000000000000000000000' }, 404, 'parent'],
      [{ parent: parent.id, currency: 'USD' }, 400, 'currency'],
      [{ parent: parent.id, agents: [other] }, 400, 'agents'],
      [{ parent: ended.id }, 409, 'parent'],
      [{ name: '' }, 400, 'name'],
      [{ surprise: 1 }, 400, 'surprise'],
    ];
    for (const [more, status, field] of cases) {
      const body = { name: 'One', jwk: keys.jwk, currency: 'EUR', max_amount_minor: 10, ...more };
      const reply = await s.call('POST', '/v1/allowance-issuers', { body });
      expect(reply.status, reply.text).toBe(status);
      expect(reply.body.error.message).toContain(field);
    }
    expect((await s.call('DELETE', '/v1/allowance-issuers/iss_00000000000000000000000000')).status).toBe(404);
  });
});
