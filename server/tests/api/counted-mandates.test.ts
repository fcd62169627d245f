import { beforeAll, describe, expect, test } from 'vitest';
import {
  ap2Mandate,
  bare,
  inAll,
  type MandateKey,
  mandateKey,
  piece,
  REFERENCE,
  range,
  viMandate,
  withBinding,
  withNextBinding,
} from '../support/mandates.ts';
import { type PayingAgent, payingAgent } from '../support/paying-agent.ts';
import { freshKey, type RunningService, spend } from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);

/** MANDATE_ROUNDS makes a longer run; there are ten times as many tries as spends that fit. */
const TRIES = Number(process.env.MANDATE_ROUNDS);
const BEGIN_MS = Date.UTC(2026, 2, 2, 9);
const DAY_MS = 86_400_000;
const IN_MARCH = '2026-03-31T00:00:00.000Z';

/** Two nodes of one installation, and the clock of its database. */
const { s, beside, ...client } = twoNodes({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });
const { get, post, walk } = client;
let now_ms = BEGIN_MS;
const setClock = async (time_ms: number) => {
  now_ms = time_ms;
  await s.setClock(time_ms);
};

const agentOf = () => payingAgent(client);

const provider = mandateKey();
const bank = mandateKey();
beforeAll(async () => {
  const body = { name: 'Payers', currency: 'USD', max_amount_minor: 10_000_000 };
  await post('/v1/allowance-issuers', { ...body, format: 'AP2', jwk: provider.jwk });
  await post('/v1/allowance-issuers', { ...body, format: 'VI', jwk: bank.jwk });
});

const exp = Date.parse(IN_MARCH) / 1000;
const ap2 = (agent: PayingAgent, constraints: object[], mandate: object = {}) =>
  ap2Mandate(provider, agent.own, {
    constraints: [...constraints, REFERENCE],
    mandate: { exp, ...mandate },
    now_ms,
  }).text;
const bind = (text: string, agent: PayingAgent, more: { by?: MandateKey; at_ms?: number } = {}) =>
  withBinding(text, { aud: s.workspace_id, by: more.by ?? agent.own, now_ms: more.at_ms ?? now_ms });
const present = (signed: string, agent: PayingAgent, on = s) =>
  on.call('POST', '/v1/allowances/present', { body: { signed }, key: agent.key });
const recurs = (frequency: string, more: object = {}) => ({
  type: 'payment.agent_recurrence',
  frequency,
  ...more,
});

async function pay(
  agent: PayingAgent,
  allowance: string,
  action: object,
  { on = s, key }: { on?: RunningService; key?: string } = {},
) {
  const body = { ...spend(agent.slug, 100, { action: { currency: 'USD', ...action } }), allowance };
  const call = { body, idempotency_key: freshKey(), ...(key === undefined ? {} : { key }) };
  let reply = await on.call('POST', '/v1/decisions', call);
  while (reply.status === 503) reply = await on.call('POST', '/v1/decisions', call);
  return reply.body;
}

describe('a mandate that recurs', () => {
  test('on demand counts its budget once across merchants, nodes and presentations', async () => {
    const agent = await agentOf();
    const fits = Math.ceil(TRIES / 10);
    const shops = ['Shop A', 'Shop B', 'Shop C'].map((name) => piece({ id: name, name }));
    const constraints = [
      range(100),
      inAll(fits),
      recurs('ON_DEMAND'),
      { type: 'payment.allowed_payees', allowed: shops.map(({ element }) => element) },
      REFERENCE,
    ];
    const { text } = ap2Mandate(provider, agent.own, {
      constraints,
      mandate: { exp },
      pieces: shops,
      now_ms,
    });
    const ids = await Promise.all(
      [s, beside, s].map(async (on) => (await present(bind(text, agent), agent, on)).body.id),
    );
    expect(new Set(ids).size).toBe(1);
    const decisions = await Promise.all(
      Array.from({ length: TRIES }, (_, i) =>
        pay(
          agent,
          ids[i % 3],
          { merchant: ['Shop A', 'Shop B', 'Shop C'][i % 3] },
          { on: i % 2 === 0 ? s : beside },
        ),
      ),
    );
    const allowed = decisions.filter(({ decision }) => decision === 'ALLOW');
    expect(allowed).toHaveLength(fits);
    expect(
      new Set(decisions.map(({ reason_code }) => reason_code).filter((each) => each !== null)),
    ).toContain('ALLOWANCE_EXCEEDED');
    const { total, amount_minor, max_count, parent } = await get(`/v1/allowances/${ids[0]}`);
    expect([total.used_minor, total.used_count, amount_minor, max_count, parent]).toEqual([
      fits * 100,
      fits,
      fits * 100,
      null,
      null,
    ]);
  });

  test('is used once in each period, so often in all, and only through its part', async () => {
    await setClock(BEGIN_MS);
    const agent = await agentOf();
    const text = ap2(agent, [range(500), inAll(12.5), recurs('DAILY', { max_occurrences: 3 })]);
    const first = await present(bind(text, agent), agent);
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      source: 'MANDATE',
      period: 'DAY',
      time_zone: 'UTC',
      max_count: 1,
      amount_minor: 1_250,
      per_spend_limit_minor: 500,
      expires_at: IN_MARCH,
      mandate: { format: 'AP2', instruments: null, pisps: null },
    });
    const whole = await get(`/v1/allowances/${first.body.parent}`);
    expect(whole).toMatchObject({
      source: 'MANDATE',
      parent: null,
      period: 'TOTAL',
      max_count: 3,
      amount_minor: 1_250,
      external_id: null,
      mandate: first.body.mandate,
    });
    const again = await present(bind(text, agent), agent, beside);
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    // By the upper one, or by a part that the agent makes of it, all could be used in a day.
    expect((await pay(agent, whole.id, {})).reason_code).toBe('OUTSIDE_ALLOWANCE');
    const own = await s.call('POST', '/v1/allowances', {
      body: { parent: whole.id, amount_minor: 500 },
      key: agent.key,
    });
    expect((await pay(agent, own.body.id, {}, { key: agent.key })).reason_code).toBe('OUTSIDE_ALLOWANCE');
    const part = await s.call('POST', '/v1/allowances', {
      body: { parent: first.body.id, amount_minor: 500 },
      key: agent.key,
    });
    expect((await pay(agent, part.body.id, {}, { key: agent.key })).decision).toBe('ALLOW');
    const of_days: string[] = [];
    for (const day of [0, 1, 1, 2, 3]) {
      await setClock(BEGIN_MS + day * DAY_MS);
      const { decision, reason_code } = await pay(agent, first.body.id, {}, { on: beside });
      of_days.push(decision === 'ALLOW' ? decision : reason_code);
    }
    expect(of_days).toEqual([
      'ALLOWANCE_EXCEEDED',
      'ALLOW',
      'ALLOWANCE_EXCEEDED',
      'ALLOW',
      'ALLOWANCE_EXCEEDED',
    ]);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });

  test('has the calendar periods; another is refused by name', async () => {
    const agent = await agentOf();
    const made = async (constraints: object[]) =>
      (await present(bind(ap2(agent, constraints), agent), agent)).body;
    const periods = {
      DAILY: 'DAY',
      WEEKLY: 'WEEK',
      MONTHLY: 'MONTH',
      QUARTERLY: 'QUARTER',
      ANNUALLY: 'YEAR',
    };
    for (const [frequency, period] of Object.entries(periods)) {
      const { parent, ...part } = await made([range(70), recurs(frequency)]);
      expect([part.period, part.max_count, part.amount_minor], frequency).toEqual([period, 1, 70]);
      // Without a budget all of them together have what one may take.
      expect(await get(`/v1/allowances/${parent}`)).toMatchObject({ amount_minor: 70, max_count: null });
    }
    const on_demand = await made([range(70), inAll(7), recurs('ON_DEMAND', { max_occurrences: 9 })]);
    expect(on_demand).toMatchObject({ parent: null, period: 'TOTAL', max_count: 9, amount_minor: 700 });
    const once = await made([range(70), inAll(7)]);
    expect(once).toMatchObject({ parent: null, period: 'TOTAL', max_count: 1, amount_minor: 700 });
    for (const [constraint, field] of [
      [recurs('BIWEEKLY'), 'BIWEEKLY'],
      [recurs('MNTH'), 'MNTH'],
      [recurs('toString'), 'toString'],
      [recurs('DAILY', { max_occurrences: 0 }), 'max_occurrences'],
      [recurs('DAILY', { max_occurrences: 1_000_001 }), 'max_count'],
      [recurs('DAILY', { start_date: '2026-03-01' }), 'start_date'],
    ] as const) {
      const { error } = await made([range(70), constraint]);
      expect([error?.code, error?.message]).toEqual(['allowance_invalid', expect.stringContaining(field)]);
    }
  });

  test('below a parent of its issuer goes no deeper than allowances nest', async () => {
    await setClock(BEGIN_MS);
    const agent = await agentOf();
    const top = { agent: agent.slug, currency: 'USD', amount_minor: 9_000, expires_at: IN_MARCH };
    let { id } = await post('/v1/allowances', top);
    for (const _level of [2, 3]) ({ id } = await post('/v1/allowances', { parent: id, amount_minor: 9_000 }));
    const own = mandateKey();
    const issuer = {
      name: 'Deep',
      format: 'AP2',
      jwk: own.jwk,
      currency: 'USD',
      max_amount_minor: 500,
      parent: id,
    };
    await post('/v1/allowance-issuers', issuer);
    const made = async (constraints: object[]) => {
      const { text } = ap2Mandate(own, agent.own, { constraints, mandate: { exp }, now_ms });
      return present(bind(text, agent), agent);
    };
    expect((await made([range(70), REFERENCE])).status).toBe(201);
    const before = (await walk('/v1/allowances')).length;
    const deeper = await made([range(70), recurs('DAILY'), REFERENCE]);
    expect([deeper.status, deeper.body.error?.code]).toEqual([422, 'allowance_invalid']);
    expect(await walk('/v1/allowances')).toHaveLength(before);
  });
});

test('a key binding is good for 300 seconds before and after, by the database, and what it made is found later', async () => {
  await setClock(BEGIN_MS);
  const agent = await agentOf();
  for (const [late_s, status] of [
    [-301, 422],
    [-300, 201],
    [300, 201],
    [301, 422],
  ] as const) {
    const text = ap2(agent, [range(70)]);
    const reply = await present(bind(text, agent, { at_ms: BEGIN_MS + late_s * 1000 }), agent);
    expect(reply.status, reply.text).toBe(status);
  }
  const signed = bind(ap2(agent, [range(70)]), agent);
  const made = await present(signed, agent);
  await setClock(BEGIN_MS + DAY_MS);
  const again = await present(signed, agent, beside);
  expect([again.status, again.body.id]).toEqual([200, made.body.id]);
});

describe('a mandate of Verifiable Intent', () => {
  const user = mandateKey('user-key-1');
  const make = (agent: PayingAgent, options: Partial<Parameters<typeof viMandate>[3]> = {}) =>
    viMandate(bank, user, agent.own, {
      constraints: [range(30_000, 'USD', { min: 0, type: 'mandate.payment.amount_range' }), VI_REFERENCE],
      now_ms,
      ...options,
    });
  const VI_REFERENCE = { ...REFERENCE, type: 'mandate.payment.reference' };
  const agentKey = { header: { kid: 'agent-key-1' } };
  /** The chain as it is presented: bound to L2 alone, as L3 is. */
  const chain = ({ l1, l2 }: ReturnType<typeof make>, agent: PayingAgent, more: object = {}) => {
    const binding = { aud: s.workspace_id, by: agent.own, now_ms, ...agentKey, ...more };
    return `${l1}~${withBinding(l2, binding)}`;
  };

  test('makes an allowance by L1, L2 and a key binding, one for each L2', async () => {
    await setClock(BEGIN_MS);
    const agent = await agentOf();
    const shop = piece({ name: 'Tennis Warehouse', website: 'https://tennis-warehouse.com' });
    const hidden = piece({ name: 'Babolat', website: 'https://babolat.com' });
    const mandate = make(agent, {
      constraints: [
        { type: 'mandate.payment.amount_range', currency: 'USD', max: 5_000 },
        { type: 'mandate.payment.budget', currency: 'USD', max: 50_000 },
        {
          type: 'mandate.payment.agent_recurrence',
          frequency: 'MNTH',
          start_date: '2026-03-01',
          end_date: '2026-03-02',
          max_occurrences: 10,
        },
        { type: 'mandate.payment.allowed_payees', allowed: [shop.element, hidden.element] },
        VI_REFERENCE,
      ],
      pieces: [shop],
    });
    const first = await present(chain(mandate, agent), agent);
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      source: 'MANDATE',
      // All amounts of Verifiable Intent are minor units.
      amount_minor: 50_000,
      per_spend_limit_minor: 5_000,
      period: 'MONTH',
      max_count: 1,
      merchants: ['Tennis Warehouse', 'tennis-warehouse.com'],
      // The day after the last one, and earlier than L2 ends.
      expires_at: '2026-03-03T00:00:00.000Z',
      mandate: {
        format: 'VI',
        reference: REFERENCE.conditional_transaction_id,
        instruments: [
          { id: 'f199c3dd', type: 'mastercard.srcDigitalCard', description: 'Mastercard **** 1234' },
        ],
        pisps: null,
      },
    });
    const as_l3 = {
      aud: s.workspace_id,
      by: agent.own,
      now_ms,
      header: { typ: 'kb-sd-jwt', kid: 'agent-key-1' },
    };
    const again = await present(`${mandate.l1}~${withNextBinding(mandate.l2, as_l3)}`, agent);
    expect([again.status, again.body.id], again.text).toEqual([200, first.body.id]);
    const next = await present(chain(make(agent), agent), agent);
    expect([next.status, next.body.max_count, next.body.parent], next.text).toEqual([201, 1, null]);
  });

  test('of the first draft is read by its names', async () => {
    const agent = await agentOf();
    const constraints = [
      { type: 'payment.amount', currency: 'USD', max: 30_000 },
      {
        type: 'payment.allowed_payee',
        allowed_payees: [{ name: 'AudioShop Inc.', website: 'https://audioshop.example.com' }],
      },
      REFERENCE,
    ];
    const made = await present(chain(make(agent, { constraints }), agent), agent);
    expect([made.status, made.body.merchants]).toEqual([201, ['AudioShop Inc.', 'audioshop.example.com']]);
  });

  test('that is not right in a layer is refused, which is named', async () => {
    const agent = await agentOf();
    const other = mandateKey('user-key-1');
    const good = make(agent);
    const l1_of = (claims: object) => chain(make(agent, { l1: claims }), agent);
    const now = Math.floor(now_ms / 1000);
    const cases: [string, string][] = [
      [withBinding(good.l2, { aud: s.workspace_id, by: agent.own, now_ms }), 'kid'],
      [withBinding(good.l1, { aud: s.workspace_id, by: agent.own, now_ms }), 'L1 and L2'],
      [good.joined(good.l2), 'L1 and L2'],
      [chain({ ...good, l1: make(agent).l1 }, agent), 'L2 sd_hash'],
      [
        chain(
          viMandate(bank, other, agent.own, { constraints: [range(1)], l1: { cnf: { jwk: bare(user) } } }),
          agent,
        ),
        'L2 signature',
      ],
      [chain(good, agent, { by: user }), 'key binding signature'],
      [chain(good, agent, { header: { kid: 'agent-key-2' } }), 'key binding kid'],
      [chain(good, agent, { aud: 'https://agent.example' }), 'aud'],
      [l1_of({ cnf: undefined }), 'L1 cnf'],
      [l1_of({ exp: now - 1 }), 'L1 exp'],
      [l1_of({ iat: now + 600 }), 'L1 iat'],
      [l1_of({ status: {} }), 'L1 status'],
      [l1_of({ sd_hash: 'A' }), 'L1 sd_hash'],
      [chain(make(agent, { header: { typ: 'dc+sd-jwt' } }), agent), 'typ'],
      [chain(make(agent, { l2_header: { typ: 'kb-sd-jwt' } }), agent), 'L2 typ'],
      [chain(make(agent, { claims: { exp: now - 1 } }), agent), 'L2 exp'],
      [chain(make(agent, { claims: { scope: 'all' } }), agent), 'scope'],
      [chain(make(agent, { mandate: { vct: 'mandate.payment.open.1' } }), agent), 'vct'],
      [chain(make(agent, { mandate: { vct: 'mandate.payment' } }), agent), 'vct'],
      [
        chain({ ...good, l2: `${good.jwt}~${good.checkout.text}~${good.content.text}~` }, agent),
        'delegate_payload',
      ],
      [chain(make(agent, { mandate: { prompt_summary: 'Shoes' } }), agent), 'prompt_summary'],
      ...(
        [
          [{ type: 'mandate.payment.amount_range', currency: 'USD' }, 'mandate.payment.amount_range.max'],
          [{ type: 'payment.amount', currency: 'USD', max: 9 }, 'is there twice'],
          [
            { type: 'mandate.payment.recurrence', frequency: 'MNTH', start_date: '2026-03-01' },
            'payment.recurrence',
          ],
          [{ type: 'mandate.payment.budget', currency: 'USD', max: 12.5 }, 'mandate.payment.budget.max'],
          [{ type: 'mandate.checkout.line_items', items: [] }, 'mandate.checkout.line_items'],
          [{ type: 'mandate.payment.agent_recurrence', frequency: 'TOWK' }, 'TOWK'],
          [
            { type: 'mandate.payment.agent_recurrence', frequency: 'DAIL', start_date: '2027-01-01' },
            'start_date: lies',
          ],
        ] as [object, string][]
      ).map(([constraint, field]): [string, string] => [
        chain(make(agent, { constraints: [constraint, range(9), VI_REFERENCE] }), agent),
        field,
      ]),
    ];
    for (const [signed, field] of cases) {
      const { status, body, text } = await present(signed, agent);
      expect([status, body.error?.code], `${field}: ${text}`).toEqual([422, 'allowance_invalid']);
      expect(body.error.message).toContain(field);
    }
    expect((await present(chain(good, agent), agent)).status).toBe(201);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });
});
