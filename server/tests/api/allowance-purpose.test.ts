import { describe, expect } from 'vitest';
import { AUTHORITY, freshKey, makeKey, spend } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, post, makeAgent } = serviceTest({ plan: 'enterprise' });

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const STRICT = {
  ...AUTHORITY,
  purpose: { objective: 'Run the build systems of Tessel.', constraints: ['No alcohol'] },
  on_purpose_unclear: 'REVIEW',
};
const RUN = { purpose: 'Packing tape and boxes for the move of 3 May', expected_items: ['bubble wrap'] };
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const agentOf = (more: object = {}) => makeAgent({ ...STRICT, ...more }, { mode: 'ENFORCE' });
const allow = (agent: string, more: object = {}): Promise<Shown> =>
  post('/v1/allowances', {
    agent,
    currency: 'EUR',
    amount_minor: 50_000,
    expires_at: inDays(7),
    ...more,
  });
const ask = async (
  agent: string,
  { allowance, key, ...action }: { allowance?: string; key?: string; [field: string]: unknown },
): Promise<Shown> => {
  const asked = spend(agent, 4_000);
  const body = {
    ...asked,
    action: { ...asked.action, merchant: 'Umzugsbedarf 24', ...action },
    ...(allowance === undefined ? {} : { allowance }),
  };
  const options = { body, idempotency_key: freshKey(), ...(key === undefined ? {} : { key }) };
  const reply = await s.call('POST', '/v1/decisions', options);
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
};
const tape = { description: 'packing tape, 12 rolls' };

describe('a sentence of the operator', () => {
  test('vouches for what it names at a merchant that nobody knows, and the decision quotes it', async () => {
    const agent = await agentOf();
    expect((await ask(agent, tape)).decision).toBe('REVIEW');
    const { id } = await allow(agent, RUN);
    const made = await ask(agent, { allowance: id, ...tape });
    expect(made).toMatchObject({ decision: 'ALLOW', purpose: { assessment: 'PURPOSE_ALIGNED' } });
    expect(made.purpose.evidence).toContainEqual({
      field: 'allowance.purpose',
      text: RUN.purpose,
      effect: 'supports',
    });
  });

  test('vouches for the keys that are bound to it, and for the parts that an agent makes of it', async () => {
    const agent = await agentOf();
    const { id, api_key } = await allow(agent, { ...RUN, key: true });
    expect((await ask(agent, { key: api_key.key, ...tape })).decision).toBe('ALLOW');
    const part = await post('/v1/allowances', { parent: id, amount_minor: 9_000 }, api_key.key);
    expect((await ask(agent, { key: api_key.key, allowance: part.id, ...tape })).decision).toBe('ALLOW');
  });

  test('does not vouch for other goods, and lifts neither a prohibition nor a limit', async () => {
    const agent = await agentOf({ per_transaction_limit_minor: 5_000 });
    const { id } = await allow(agent, RUN);
    const other = await ask(agent, { allowance: id, description: 'perfume set' });
    expect(other).toMatchObject({ decision: 'REVIEW', purpose: { assessment: 'PURPOSE_UNCLEAR' } });
    const wine = await ask(agent, { allowance: id, description: 'packing tape and wine' });
    expect(wine).toMatchObject({ decision: 'REVIEW', purpose: { assessment: 'PURPOSE_MISALIGNED' } });
    const dear = await ask(agent, { allowance: id, ...tape, amount_minor: 5_001 });
    expect(dear).toMatchObject({ decision: 'DENY', reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED' });
  });

  test('vouches only within the bounds of its allowance', async () => {
    const agent = await agentOf();
    const { id } = await allow(agent, { ...RUN, merchants: ['Boxen Weber'] });
    const outside = await ask(agent, { allowance: id, ...tape });
    expect(outside).toMatchObject({
      decision: 'DENY',
      reason_code: 'OUTSIDE_ALLOWANCE',
      purpose: { assessment: 'PURPOSE_UNCLEAR' },
    });
  });

  test('of a grant vouches only where the person sends it', async () => {
    const agent = await agentOf();
    const own = (await makeKey(s, { agent_id: agent })).key;
    const asked = { currency: 'EUR', amount_minor: 20_000, purpose: RUN.purpose };
    const grant = async (more: object) => {
      const { id } = await post('/v1/allowances/request', asked, own);
      await s.call('POST', `/v1/allowances/${id}/decide`, { body: { action: 'ALLOW', ...more } });
      return ask(agent, { key: own, allowance: id, ...tape });
    };
    expect((await grant({})).decision).toBe('REVIEW');
    expect((await grant({ purpose: RUN.purpose })).decision).toBe('ALLOW');
  });
});

describe('a list of the operator', () => {
  test('vouches for its merchants like those that the authority allows', async () => {
    const agent = await agentOf();
    const { id } = await allow(agent, { merchants: ['Umzugsbedarf 24'] });
    const made = await ask(agent, { allowance: id, description: 'tape' });
    expect(made).toMatchObject({ decision: 'ALLOW', purpose: { assessment: 'PURPOSE_ALIGNED' } });
    expect(made.purpose.evidence).toContainEqual({
      field: 'allowance.merchants',
      text: 'Umzugsbedarf 24',
      effect: 'supports',
    });
  });

  test('of a part that an agent made vouches for nothing', async () => {
    const agent = await agentOf();
    const { id, api_key } = await allow(agent, { key: true });
    const part = await post(
      '/v1/allowances',
      { parent: id, amount_minor: 9_000, merchants: ['Umzugsbedarf 24'] },
      api_key.key,
    );
    expect((await ask(agent, { key: api_key.key, allowance: part.id, ...tape })).decision).toBe('REVIEW');
  });
});

test('a test of an authority and a replay of its past read the words of allowances', async () => {
  const read = async (path: string, body: object): Promise<Shown> => {
    const reply = await s.call('POST', path, { body });
    expect(reply.status, reply.text).toBe(200);
    return reply.body;
  };
  const { steps } = await read('/v1/authority/test', {
    authority: STRICT,
    allowances: [
      { as: 'run', currency: 'EUR', amount_minor: 50_000, expires_at: '2026-05-10T00:00:00Z', ...RUN },
    ],
    steps: [
      {
        at: '2026-05-03T08:00:00Z',
        decide: {
          action: { ...spend(undefined, 4_000).action, merchant: 'Umzugsbedarf 24', ...tape },
          allowance: 'run',
        },
      },
    ],
  });
  expect(steps[0].verdict).toMatchObject({ decision: 'ALLOW' });

  const agent = await agentOf();
  const { id } = await allow(agent, RUN);
  await ask(agent, { allowance: id, ...tape });
  const draft = { ...STRICT, purpose: { ...STRICT.purpose, context: 'Nothing else is known.' } };
  const replayed = await read(`/v1/agents/${agent}/authority/simulate`, draft);
  expect(replayed).toMatchObject({ evaluated: 1, changed: [] });
});
