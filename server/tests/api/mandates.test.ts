import { createHash, randomBytes, sign } from 'node:crypto';
import { SDJwtInstance } from '@sd-jwt/core';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ap2Mandate,
  type Binding,
  inAll,
  type MandateKey,
  type MandateOptions,
  mandateKey,
  type Piece,
  piece,
  presented,
  REFERENCE,
  range,
  withBinding,
  withNextBinding,
} from '../support/mandates.ts';
import { type PayingAgent, payingAgent } from '../support/paying-agent.ts';
import { freshKey, spend } from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(20);

/** MANDATE_RUNS makes a longer run. */
const RUNS = Number(process.env.MANDATE_RUNS);

/** Two nodes of one installation. */
const { s, beside, ...client } = twoNodes({ plan: 'enterprise' });
const { get, post, walk } = client;

const agentOf = () => payingAgent(client);

const provider = mandateKey('agent-provider-key-1');
const ISSUER = { name: 'Agent provider', format: 'AP2', currency: 'USD', max_amount_minor: 1_000_000 };
const makeIssuer = (more: object = {}) =>
  post('/v1/allowance-issuers', { ...ISSUER, jwk: provider.jwk, ...more });

const make = (agent: PayingAgent, options: Partial<MandateOptions> = {}) =>
  ap2Mandate(provider, agent.own, { constraints: [range(20_000), REFERENCE], ...options });
const bind = (text: string, agent: PayingAgent, more: Partial<Binding> = {}) =>
  withBinding(text, { aud: s.workspace_id, by: agent.own, ...more });
const present = (signed: string, key?: string, on = s) =>
  on.call('POST', '/v1/allowances/present', { body: { signed }, ...(key === undefined ? {} : { key }) });
const valid = async () => expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
const decide = async (agent: PayingAgent, allowance: string, action: object, on = s) =>
  (
    await on.call('POST', '/v1/decisions', {
      body: { ...spend(agent.slug, 100, { action: { currency: 'USD', ...action } }), allowance },
      idempotency_key: freshKey(),
    })
  ).body;

describe('an AP2 mandate', () => {
  beforeAll(async () => {
    await makeIssuer();
  });

  test('makes the allowance of the agent that presents it, once, on any node, with what the payer has to check', async () => {
    const agent = await agentOf();
    const shop = piece({
      id: 'merchant_1',
      name: 'Demo Merchant',
      website: 'https://demo-merchant.example/shop',
    });
    const hidden = piece({ id: 'merchant_2', name: 'Other Merchant' });
    const card = { id: 'abe3c', type: 'card', description: 'network ··· 1234' };
    const pisp = {
      legal_name: 'Example Payments Ltd.',
      brand_name: 'ExamplePay',
      domain_name: 'examplepay.com',
    };
    const mandate = make(agent, {
      constraints: [
        range(20_000, 'USD', { min: 0 }),
        { type: 'payment.allowed_payees', allowed: [shop.element, hidden.element] },
        { type: 'payment.allowed_payment_instruments', allowed: [card] },
        { type: 'payment.allowed_pisps', allowed: [pisp] },
        {
          type: 'payment.execution_date',
          not_before: '2026-01-01',
          not_after: new Date(Date.now() + 3_600_000).toISOString(),
        },
        REFERENCE,
      ],
      pieces: [shop],
    });
    const first = await present(bind(mandate.text, agent), agent.key);
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      status: 'OPEN',
      source: 'MANDATE',
      agent: { slug: agent.slug },
      parent: null,
      currency: 'USD',
      amount_minor: 20_000,
      per_spend_limit_minor: 20_000,
      max_count: 1,
      period: 'TOTAL',
      merchants: ['Demo Merchant', 'demo-merchant.example'],
      purpose: null,
      external_id: createHash('sha256').update(mandate.jwt).digest('hex'),
      mandate: {
        format: 'AP2',
        reference: REFERENCE.conditional_transaction_id,
        instruments: [card],
        pisps: [pisp],
      },
    });
    expect(Date.parse(first.body.expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect(first.body.created_by.principal_id).toBe(`issuer:${first.body.issuer_id}`);
    // As the standard's own chain, on the other node, with more of it disclosed, by anyone of the workspace.
    const more = presented(mandate.jwt, [hidden, shop, mandate.content]);
    for (const [signed, key] of [
      [withNextBinding(mandate.text, { aud: s.workspace_id, by: agent.own }), agent.key],
      [bind(more, agent), undefined],
    ] as const) {
      const again = await present(signed, key, beside);
      expect([again.status, again.headers.get('idempotent-replay')], again.text).toEqual([200, 'true']);
      expect(again.body).toEqual(first.body);
    }
    // An administrator can lower what the payer signed, and not raise it.
    for (const [changes, status] of [
      [{ amount_minor: 20_001 }, 400],
      [{ expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() }, 400],
      [{ amount_minor: 19_000, name: 'Shoes' }, 200],
    ] as const) {
      const changed = await s.call('PATCH', `/v1/allowances/${first.body.id}`, { body: changes });
      expect(changed.status, changed.text).toBe(status);
    }
    // It is consumed once, whichever merchant.
    expect((await decide(agent, first.body.id, { merchant: 'Other Merchant' })).reason_code).toBe(
      'OUTSIDE_ALLOWANCE',
    );
    expect((await decide(agent, first.body.id, { merchant: 'Demo Merchant' })).decision).toBe('ALLOW');
    expect((await decide(agent, first.body.id, { merchant: 'shop.demo-merchant.example' })).reason_code).toBe(
      'ALLOWANCE_EXCEEDED',
    );
    const records = await walk(`/v1/audit?target=${first.body.id}`);
    expect(records.map(({ action }) => action)).toContain('allowance.created');
    await valid();
  });

  test('that is not right is refused, says what is wrong, and leaves nothing', async () => {
    const agent = await agentOf();
    const stranger = mandateKey('agent-provider-key-1');
    const other = mandateKey();
    const elsewhere = await s.addWorkspace({ plan: 'free' });
    const now = Math.floor(Date.now() / 1000);
    const bound = (options: Partial<MandateOptions>, more: Partial<Binding> = {}) =>
      bind(make(agent, options).text, agent, more);
    const good = make(agent);
    const whole = bind(good.text, agent);
    const shop = piece({ id: 'm1', name: 'Demo Merchant' });
    const listed = make(agent, {
      constraints: [range(100), { type: 'payment.allowed_payees', allowed: [shop.element] }, REFERENCE],
    });
    const hidden_exp = piece(now + 60, 'exp');
    const constraint = piece(range(10));
    // Sixty pieces, each of which names the next one twice.
    const twice: (Piece & { nested: object })[] = [];
    for (let i = 0, nested: object = { name: 'M' }; i < 60; i++) {
      const made = piece(nested);
      nested = { a: [made.element, made.element] };
      twice.push({ ...made, nested });
    }
    const doubled = make(agent, { constraints: [{ ...range(5), more: twice.at(-1)?.nested }, REFERENCE] });
    const before = (await walk('/v1/allowances')).length;
    const [head, body, signature] = good.jwt.split('.') as [string, string, string];
    const cases: [string, string][] = [
      [good.text, 'key binding'],
      [`${good.jwt}~~`, 'signed'],
      ['~', 'compact form'],
      [`${whole}~`, 'key binding'],
      [whole.replace('~', '~~'), 'key binding'],
      [whole.replace(good.jwt, `${head}.${body}`), 'compact form'],
      [whole.replace(good.jwt, `${head}.${body}.${signature.slice(1)}`), 'signature'],
      [
        bind(ap2Mandate(stranger, agent.own, { constraints: [range(1), REFERENCE] }).text, agent),
        'signature',
      ],
      [bound({ header: { kid: 'nobody' } }), 'kid'],
      [bound({ header: { kid: undefined } }), 'kid'],
      [bound({ header: { alg: 'none' } }), 'alg'],
      [bound({ header: { typ: 'kb+sd-jwt' } }), 'typ'],
      [bound({ header: { typ: 'JWT' } }), 'typ'],
      [bound({ header: { crit: ['b64'] } }), 'crit'],
      [bound({ claims: { _sd_alg: 'md5' } }), '_sd_alg'],
      [bound({ claims: { status: { status_list: {} } } }), 'status'],
      [bound({ claims: { exp: now - 1 } }), 'exp: has passed'],
      [bound({ claims: { nbf: now + 60 } }), 'nbf'],
      [bound({ claims: { exp: 'never' } }), 'exp'],
      [bound({ claims: { _sd: [hidden_exp.element['...']] } }), 'not disclosed'],
      [bound({ claims: { delegate_payload: [] } }), 'not one of what was signed'],
      [bind(presented(good.jwt, []), agent), 'delegate_payload'],
      [bind(presented(good.jwt, [good.content, good.content]), agent), 'twice'],
      [bind(presented(good.jwt, [good.content, shop]), agent), 'not one of what was signed'],
      [bound({ mandate: { vct: 'mandate.payment.1' } }), 'vct'],
      [bound({ mandate: { vct: 'mandate.payment.open' } }), 'vct'],
      [bound({ mandate: { exp: now - 1 } }), 'exp: has passed'],
      [bound({ mandate: { exp: undefined } }), 'exp: is required'],
      [bound({ mandate: { exp: now + 400 * 86_400 } }), 'expires_at'],
      [bound({ mandate: { iat: now + 600 } }), 'iat'],
      [bound({ mandate: { _sd: [hidden_exp.element['...']] } }), 'not disclosed'],
      [bound({ mandate: { payee: { id: 'm', name: 'M' } } }), 'payee'],
      [bound({ mandate: { payment_amount: { amount: 1, currency: 'USD' } } }), 'payment_amount'],
      [bound({ mandate: { execution_date: '2026-12-01' } }), 'execution_date'],
      [bound({ mandate: { risk_data: {} } }), 'risk_data'],
      [bound({ mandate: { cnf: {} } }), 'cnf.jwk'],
      [bound({ mandate: { cnf: { jwk: { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' } } } }), 'cnf.jwk'],
      // The key binding.
      [bind(good.text, agent, { by: other }), 'key binding signature'],
      [bind(good.text, agent, { by: provider }), 'key binding signature'],
      [bind(good.text, agent, { aud: elsewhere.workspace_id }), 'aud'],
      [bind(good.text, agent, { claims: { aud: [s.workspace_id] } }), 'aud'],
      [bind(good.text, agent, { claims: { sd_hash: 'AAAA' } }), 'sd_hash'],
      [bind(presented(good.jwt, []), agent).replace('~', `~${good.content.text}~`), 'sd_hash'],
      [bind(listed.text, agent).replace('~', `~${shop.text}~`), 'sd_hash'],
      [bind(good.text, agent, { header: { typ: 'JWT' } }), 'key binding typ'],
      [bind(good.text, agent, { header: { typ: 'kb+sd-jwt' } }), 'key binding typ'],
      [bind(good.text, agent, { header: { jwk: other.jwk } }), 'jwk'],
      [bind(good.text, agent, { header: { alg: 'ES384' } }), 'alg'],
      [bind(good.text, agent, { claims: { iat: now - 400 } }), 'within 300 seconds'],
      [bind(good.text, agent, { claims: { iat: now + 400 } }), 'within 300 seconds'],
      [bind(good.text, agent, { claims: { iat: undefined } }), 'iat'],
      [bind(good.text, agent, { claims: { exp: now - 1 } }), 'key binding exp'],
      [bind(good.text, agent, { claims: { nbf: now + 3_600 } }), 'key binding nbf: lies in the future'],
      [bind(good.text, agent, { claims: { nbf: 'now' } }), 'key binding nbf'],
      [bind(good.text, agent, { claims: { cnf: { jwk: other.jwk } } }), 'cnf'],
      [
        withNextBinding(good.text, { aud: s.workspace_id, by: agent.own }, { cnf: { jwk: other.jwk } }),
        'cnf',
      ],
      [withNextBinding(good.text, { aud: s.workspace_id, by: agent.own }).slice(0, -1), 'key binding'],
      [bind(presented(doubled.jwt, [...twice, doubled.content]), agent), 'not one of what was signed'],
      [
        `${withNextBinding(good.text, { aud: s.workspace_id, by: agent.own }, twice.at(-1)?.nested)}${twice.map(({ text }) => `${text}~`).join('')}`,
        'not one',
      ],
      // The constraints.
      ...(
        [
          [[], 'constraints'],
          [[REFERENCE], 'amount_range'],
          [[range(0)], 'payment.amount_range.max'],
          [[range(100.5)], 'payment.amount_range.max'],
          [[range(2 ** 53)], 'payment.amount_range.max'],
          [[range(100, 'USD', { min: 2 })], 'payment.amount_range.min'],
          [[range(100, 'USD', { each: 'day' })], 'payment.amount_range.each'],
          [[range(100, 'EUR')], 'currency'],
          [[range(100), inAll(1, 'EUR')], 'payment.budget.currency'],
          [[inAll(1.005)], 'payment.budget.max'],
          [[inAll(-1)], 'payment.budget.max'],
          [[inAll(1e21)], 'payment.budget.max'],
          [[inAll(Number('1234567890123.4567'))], 'payment.budget.max'],
          [[range(1_000_001)], 'amount'],
          [[range(100), range(200)], 'payment.amount_range: is there twice'],
          [[range(100), { type: 'payment.weather' }], 'payment.weather'],
          [[range(100), { type: 'payment.toString' }], 'payment.toString'],
          [
            [range(100), { type: 'mandate.payment.budget', max: 1, currency: 'USD' }],
            'mandate.payment.budget',
          ],
          [[range(100), { type: 'payment.recurrence', frequency: 'MONTHLY' }], 'payment.recurrence'],
          [[range(100), constraint.element], 'not disclosed'],
          [[range(100), { type: 'payment.allowed_payees', allowed: [] }], 'payment.allowed_payees'],
          [
            [range(100), { type: 'payment.allowed_payees', allowed: [shop.element] }],
            'payment.allowed_payees',
          ],
          [[range(100), { type: 'payment.allowed_payees', allowed: [{ id: 'm' }] }], 'name'],
          [
            [
              range(100),
              {
                type: 'payment.allowed_payees',
                allowed: [{ id: 'm', name: 'M', website: 'ftp://m.example' }],
              },
            ],
            'website',
          ],
          ...['.', 'shop.', 'https://shop..example'].map((website): [object[], string] => [
            [range(100), { type: 'payment.allowed_payees', allowed: [{ id: 'm', name: 'M', website }] }],
            'website',
          ]),
          [
            [range(100), { type: 'payment.allowed_payees', allowed: [{ id: 'm', name: 'M', mcc: '5411' }] }],
            'mcc',
          ],
          [
            [range(100), { type: 'payment.allowed_payees', allowed: [{ id: 'm', name: 'M'.repeat(201) }] }],
            'merchants',
          ],
          [[range(100), { type: 'payment.allowed_pisps', allowed: [{ legal_name: 'P' }] }], 'brand_name'],
          [[range(100), { type: 'payment.allowed_payment_instruments', allowed: ['card'] }], 'instruments'],
          [
            [range(100), { type: 'payment.execution_date', not_before: '2099-01-01' }],
            'not_before: lies in the future',
          ],
          [
            [range(100), { type: 'payment.execution_date', not_after: '2026-01-01' }],
            'not_after: has passed',
          ],
          [[range(100), { type: 'payment.execution_date', not_after: 'soon' }], 'not_after'],
          [[range(100), { type: 'payment.execution_date', not_after: '2027-02-31' }], 'not_after'],
          [[range(100), { type: 'payment.execution_date', not_after: '2027-02-31T00:00:00Z' }], 'not_after'],
          [[range(100), { type: 'payment.execution_date', not_after: '2026-12-31T00:00:00' }], 'not_after'],
        ] as [object[], string][]
      ).map(([constraints, field]): [string, string] => [bound({ constraints }), field]),
    ];
    for (const [signed, field] of cases) {
      const { status, body, text } = await present(signed, agent.key);
      expect([status, body.error?.code], `${field}: ${text}`).toEqual([422, 'allowance_invalid']);
      expect(body.error.message).toContain(field);
    }
    expect((await walk('/v1/allowances')).length).toBe(before);
    // As all others of them would be, had they been right.
    expect((await present(whole, agent.key)).status).toBe(201);
    await valid();
  });

  test('is not accepted with any of its characters changed, left out or added', async () => {
    const agent = await agentOf();
    const shop = piece({ id: 'm1', name: 'Demo Merchant' });
    const mandate = make(agent, {
      constraints: [range(900), { type: 'payment.allowed_payees', allowed: [shop.element] }, REFERENCE],
      pieces: [shop],
    });
    const chained = withNextBinding(mandate.text, { aud: s.workspace_id, by: agent.own });
    const signed = fc.constantFrom(bind(mandate.text, agent), chained);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~=';
    const change = fc.record({
      signed,
      // The last letters of parts, whose bits may say nothing, as often as all others.
      at: fc.oneof(
        fc.nat(),
        fc.nat().map((n) => -n),
      ),
      at_end: fc.boolean(),
      letter: fc.constantFrom(...letters),
      kind: fc.constantFrom('change', 'add', 'drop'),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ signed, at, at_end, letter, kind }) => {
        const ends = [...signed.matchAll(/[.~]|$/g)].map(({ index }) => index - 1);
        const place = at_end ? (ends.at(at % ends.length) as number) : Math.abs(at) % signed.length;
        const rest = signed.slice(kind === 'add' ? place : place + 1);
        const changed = `${signed.slice(0, place)}${kind === 'drop' ? '' : letter}${rest}`;
        fc.pre(changed !== signed);
        const { status, body } = await present(changed, agent.key);
        expect([status, body.error?.code], changed).toEqual([422, 'allowance_invalid']);
      }),
      { numRuns: RUNS },
    );
    expect((await present(bind(mandate.text, agent), agent.key)).status).toBe(201);
  });

  test('is one, with its signature in the other form that is as good', async () => {
    const agent = await agentOf();
    const mandate = make(agent);
    const first = await present(bind(mandate.text, agent), agent.key);
    const cut = mandate.jwt.lastIndexOf('.') + 1;
    const signature = Buffer.from(mandate.jwt.slice(cut), 'base64url');
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const s_of = BigInt(`0x${signature.subarray(32).toString('hex')}`);
    const other_s = Buffer.from((order - s_of).toString(16).padStart(64, '0'), 'hex');
    const twin = `${mandate.jwt.slice(0, cut)}${Buffer.concat([signature.subarray(0, 32), other_s]).toString('base64url')}`;
    const again = await present(bind(presented(twin, [mandate.content]), agent), agent.key);
    expect([again.status, again.body.id], again.text).toEqual([200, first.body.id]);
  });

  test('is for its own agent, and for the bounds of its issuer', async () => {
    const [agent, other] = [await agentOf(), await agentOf()];
    const signed = bind(make(agent).text, agent);
    const unbound = await present(signed);
    expect([unbound.status, unbound.body.error.code]).toEqual([422, 'agent_required']);
    expect((await present(signed, agent.key)).status).toBe(201);
    const theirs = await present(signed, other.key);
    expect([theirs.status, theirs.body.error.code]).toEqual([403, 'agent_mismatch']);
    const parent = await post('/v1/allowances', {
      agent: agent.slug,
      currency: 'USD',
      amount_minor: 30_000,
      expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    });
    const own = mandateKey();
    const issuer = await makeIssuer({ jwk: own.jwk, parent: parent.id });
    const part = ap2Mandate(own, agent.own, { constraints: [range(20_000), REFERENCE] });
    const below = await present(bind(part.text, agent), agent.key);
    expect([below.status, below.body.parent, below.body.issuer_id], below.text).toEqual([
      201,
      parent.id,
      issuer.id,
    ]);
    const not_theirs = ap2Mandate(own, other.own, { constraints: [range(1), REFERENCE] });
    const refused = await present(bind(not_theirs.text, other), other.key);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'agent_mismatch']);
    const few = mandateKey();
    await makeIssuer({ jwk: few.jwk, agents: [other.slug] });
    const named = ap2Mandate(few, agent.own, { constraints: [range(1), REFERENCE] });
    expect((await present(bind(named.text, agent), agent.key)).body.error.message).toContain('agent');
  });

  test('of an issuer that was revoked is not accepted, and what it made is found again beside a new one with its key', async () => {
    const agent = await agentOf();
    const own = mandateKey();
    const first = await makeIssuer({ jwk: own.jwk });
    const [kept, late] = [1, 2].map(() => ap2Mandate(own, agent.own, { constraints: [range(5), REFERENCE] }));
    const made = await present(bind(kept?.text as string, agent), agent.key);
    await s.call('DELETE', `/v1/allowance-issuers/${first.id}`);
    const refused = await present(bind(late?.text as string, agent), agent.key, beside);
    expect(refused.body.error.message).toContain('revoked');
    const second = await makeIssuer({ jwk: own.jwk });
    const again = await present(bind(kept?.text as string, agent), agent.key);
    expect([again.status, again.body.id]).toEqual([200, made.body.id]);
    const fresh = await present(bind(late?.text as string, agent), agent.key);
    expect([fresh.status, fresh.body.issuer_id]).toEqual([201, second.id]);
  });

  test('as the reference library issues and presents it is accepted', async () => {
    const agent = await agentOf();
    const hasher = (data: string | ArrayBuffer) =>
      createHash('sha256')
        .update(data as string)
        .digest();
    const signer = (key: MandateKey) => (data: string) =>
      sign('sha256', Buffer.from(data), { key: key.privateKey, dsaEncoding: 'ieee-p1363' }).toString(
        'base64url',
      );
    const issuing = new SDJwtInstance<Record<string, unknown>>({
      hasher,
      signer: signer(provider),
      signAlg: 'ES256',
      saltGenerator: () => randomBytes(16).toString('base64url'),
    });
    const { kid: _name, ...jwk } = agent.own.jwk;
    const allowed = [
      { id: 'm1', name: 'Demo Merchant' },
      { id: 'm2', name: 'Other Merchant' },
    ];
    const payload = {
      delegate_payload: [
        {
          vct: 'mandate.payment.open.1',
          constraints: [range(700), { type: 'payment.allowed_payees', allowed }, REFERENCE],
          cnf: { jwk },
          exp: Math.floor(Date.now() / 1000) + 600,
        },
      ],
    };
    const frame = { delegate_payload: { _sd: [0], 0: { constraints: { 1: { allowed: { _sd: [0, 1] } } } } } };
    const header = { typ: 'dc+sd-jwt', kid: provider.jwk.kid };
    const issued = await issuing.issue(payload, frame as never, { header });
    const shown = { delegate_payload: { 0: { constraints: { 1: { allowed: { 1: true } } } } } };
    const bound = await issuing.present(issued, shown as never);
    const reply = await present(bind(bound, agent), agent.key);
    expect([reply.status, reply.body.merchants], reply.text).toEqual([201, ['Other Merchant']]);
  });
});

describe('an issuer of mandates', () => {
  test('has a P-256 key with a name; another is refused by the field’s name', async () => {
    const { jwk } = mandateKey();
    const made = await makeIssuer({ jwk });
    expect(made).toMatchObject({ format: 'AP2', jwk, status: 'active' });
    expect((await walk('/v1/allowance-issuers')).find(({ id }) => id === made.id)).toEqual(made);
    const [created] = await walk(`/v1/audit?target=${made.id}`);
    expect(created.changes.format).toEqual({ from: null, to: 'AP2' });
    const ed25519 = { kty: 'OKP', crv: 'Ed25519', x: jwk.x };
    const cases: [object, string][] = [
      [{ format: 'AP3' }, 'format'],
      [{ format: undefined }, 'jwk.kty'],
      [{ jwk: ed25519 }, 'jwk.kty'],
      [{ jwk: { ...jwk, kid: undefined } }, 'jwk.kid'],
      [{ jwk: { ...jwk, y: undefined } }, 'jwk.y'],
      [{ jwk: { ...jwk, y: jwk.x } }, 'jwk'],
      [{ jwk: { ...jwk, crv: 'Ed25519' } }, 'jwk.crv'],
      [{ jwk: { ...jwk, alg: 'EdDSA' } }, 'jwk.alg'],
      [{ jwk: { ...jwk, d: jwk.x } }, 'jwk.d'],
    ];
    for (const [more, field] of cases) {
      const reply = await s.call('POST', '/v1/allowance-issuers', { body: { ...ISSUER, jwk, ...more } });
      expect([reply.status, reply.body.error?.message], reply.text).toEqual([
        400,
        expect.stringContaining(field),
      ]);
    }
    await valid();
  });
});
