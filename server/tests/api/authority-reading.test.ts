import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORITY, fieldOf, type RunningService, startTestService } from '../support/running-service.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

const DRAFT = {
  purpose: {
    objective: 'Keep the staging platform running: servers and storage from Contabo.',
    constraints: [
      'No gift cards.',
      'Be nice to the neighbours',
      'Chemicals only from Merck or VWR.',
      'Domains only after approval.',
    ],
  },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  allowed_merchants: ['Hetzner Online'],
};
const read = (body: unknown) => s.call('POST', '/v1/authority/reading', { body });

describe('the reading of a draft', () => {
  test('says what is wanted, forbidden and demanded, who is named, and what was not understood, each with its place', async () => {
    const { status, body } = await read(DRAFT);
    expect(status).toBe(200);
    const of = (list: { from: object }[], text: string) =>
      list.map(({ from, ...rest }) => JSON.stringify([rest, from])).filter((each) => each.includes(text));
    expect(of(body.wanted, 'servers')[0]).toContain('"purpose.objective"');
    const [cards] = body.forbidden.filter((one: { words: string }) => /gift/i.test(one.words));
    expect(cards.from).toEqual({ field: 'purpose.constraints', index: 0, text: 'No gift cards.' });
    expect(of(body.conditions, 'Merck')).not.toEqual([]);
    expect(of(body.conditions, 'Domains')).not.toEqual([]);
    expect(body.merchants).toContainEqual({
      kind: 'merchant',
      words: 'Hetzner Online',
      name: 'Hetzner Online',
      from: { field: 'allowed_merchants', index: 0, text: 'Hetzner Online' },
    });
    expect(of(body.merchants, 'Contabo')).not.toEqual([]);
    expect(body.not_understood.map(({ text }: { text: string }) => text)).toEqual([
      'Be nice to the neighbours',
    ]);
    expect(body.not_understood[0].from.index).toBe(1);
  });

  test('gives ten spends within its limits that are accepted as they are and assessed as they say', async () => {
    const { body } = await read(DRAFT);
    expect(body.examples).toHaveLength(10);
    const assessments = new Set(body.examples.map((one: { assessment: string }) => one.assessment));
    expect(assessments.size).toBeGreaterThan(1);
    await s.call('POST', '/v1/agents', { body: { slug: 'reader', authority: DRAFT } });
    for (const [i, { spend, assessment, because }] of body.examples.entries()) {
      expect(spend.action.amount_minor).toBeLessThanOrEqual(DRAFT.per_transaction_limit_minor);
      expect(because).toMatch(/[.!?]$/);
      const made = await s.call('POST', '/v1/decisions', {
        body: { agent: 'reader', ...spend },
        idempotency_key: `example-${i}`,
      });
      expect(made.status).toBe(201);
      expect(made.body.purpose.assessment).toBe(assessment);
      expect(made.body.purpose.rationale.startsWith(because)).toBe(true);
    }
  });

  test('is the same each time, and nothing of it is saved', async () => {
    const before = await s.call('GET', '/v1/audit');
    const first = await read(DRAFT);
    expect((await read(DRAFT)).text).toBe(first.text);
    expect((await s.call('GET', '/v1/audit')).text).toBe(before.text);
  });

  test.each([
    ['a language that no list has', { objective: 'スタジオの備品を購入する' }],
    ['one word', { objective: 'Flights' }],
    ['nothing that it knows', { objective: 'Qwx zrt', constraints: ['Blorp!', '???'] }],
    [
      'far too much',
      { objective: 'x', constraints: Array.from({ length: 20 }, () => 'no word, '.repeat(200)) },
    ],
  ])('of %s has ten spends of two assessments too', async (_, purpose) => {
    for (const currency of ['EUR', 'JPY', 'KWD']) {
      const { status, body } = await read({ purpose, currency });
      expect(status).toBe(200);
      expect(body.examples).toHaveLength(10);
      expect(
        new Set(body.examples.map((one: { assessment: string }) => one.assessment)).size,
      ).toBeGreaterThan(1);
    }
  });

  test.each([
    ['no objective', { purpose: {}, currency: 'EUR' }],
    ['a field that no authority has', { ...AUTHORITY, limit: 1 }],
    ['a judge that is none', { ...AUTHORITY, purpose: { ...AUTHORITY.purpose, judge: 'nobody' } }],
  ])('with %s is refused by the name of the field', async (_, body) => {
    const refused = await read(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('corrections of the reading', () => {
  test('take away any chip that is sent back as it is, add others, and are what decisions go by', async () => {
    const { body: shown } = await read(DRAFT);
    const lists = ['wanted', 'forbidden', 'conditions', 'merchants', 'people', 'not_understood'] as const;
    for (const list of lists) {
      const [chip] = shown[list];
      if (chip === undefined) continue;
      const { kind, words } = chip;
      const corrected = { ...DRAFT, purpose: { ...DRAFT.purpose, reading: { not: [{ kind, words }] } } };
      const { status, body } = await read(corrected);
      expect(status).toBe(200);
      expect(body[list].filter((one: typeof chip) => one.kind === kind && one.words === words)).toEqual([]);
    }
    const also = [{ kind: 'merchant', words: 'Okabe Trading' }];
    const authority = { ...DRAFT, purpose: { ...DRAFT.purpose, reading: { also } } };
    const { body: first } = await s.call('POST', '/v1/agents', {
      body: { slug: 'corrected', authority: DRAFT },
    });
    const before = (await s.call('GET', '/v1/agents/corrected/authority')).body;
    await s.call('POST', '/v1/agents/corrected/authority', { body: authority });
    const after = (await s.call('GET', '/v1/agents/corrected/authority')).body;
    expect(first.slug).toBe('corrected');
    expect([after.version, after.authority.purpose.reading]).toEqual([before.version + 1, { also }]);
    expect(after.hash).not.toBe(before.hash);
    const reading = (await s.call('GET', '/v1/agents/corrected/authority/reading')).body;
    expect(reading.merchants).toContainEqual({
      kind: 'merchant',
      words: 'Okabe Trading',
      name: 'Okabe Trading',
      from: { field: 'purpose.reading.also', index: 0, text: 'Okabe Trading' },
    });
    const action = { type: 'purchase', merchant: 'Okabe Trading', amount_minor: 100, currency: 'EUR' };
    const made = await s.call('POST', '/v1/decisions', {
      body: { agent: 'corrected', action },
      idempotency_key: 'okabe',
    });
    expect(made.body.purpose.assessment).toBe('PURPOSE_ALIGNED');
  });

  test.each([
    ['not[0].kind', { not: [{ kind: '', words: 'x' }] }],
    ['not[0].words', { not: [{ kind: 'person', words: '' }] }],
    ['also[0].kind', { also: [{ kind: 'cloud and hosting', words: 'servers' }] }],
    [
      'also[1].words',
      {
        also: [
          { kind: 'wanted', words: 'a' },
          { kind: 'wanted', words: 'a'.repeat(401) },
        ],
      },
    ],
    ['also', { also: Array.from({ length: 51 }, () => ({ kind: 'wanted', words: 'a' })) }],
    ['not', { not: Array.from({ length: 101 }, () => ({ kind: 'person', words: 'a' })) }],
    ['not[0].text', { not: [{ kind: 'person', words: 'a', text: 'a' }] }],
  ])('with a wrong %s are refused by the name of the field', async (field, reading) => {
    const reply = await read({ ...DRAFT, purpose: { ...DRAFT.purpose, reading } });
    expect([reply.status, fieldOf(reply)]).toEqual([400, `purpose.reading.${field}`]);
  });
});

test('what was not understood is a warning of the report, and no blocker', async () => {
  await s.call('POST', '/v1/agents', { body: { slug: 'warned', authority: DRAFT } });
  const { readiness } = (await s.call('GET', '/v1/reports/shadow?agent=warned')).body;
  expect(readiness.warnings).toEqual([
    {
      code: 'PURPOSE_NOT_UNDERSTOOD',
      message: expect.stringContaining('gave no rule'),
      agents: ['warned'],
      sentences: ['Be nice to the neighbours'],
    },
  ]);
  expect(readiness.blockers.map(({ code }: { code: string }) => code)).not.toContain(
    'PURPOSE_NOT_UNDERSTOOD',
  );
});

describe('the reading of an agent', () => {
  test('is that of its newest authority, and 404 where there is none', async () => {
    await s.call('POST', '/v1/agents', { body: { slug: 'with', authority: AUTHORITY } });
    await s.call('POST', '/v1/agents/with/authority', { body: DRAFT });
    expect((await s.call('GET', '/v1/agents/with/authority/reading')).body).toEqual((await read(DRAFT)).body);
    await s.call('POST', '/v1/agents', { body: { slug: 'without' } });
    expect((await s.call('GET', '/v1/agents/without/authority/reading')).status).toBe(404);
    expect((await s.call('GET', '/v1/agents/nobody/authority/reading')).status).toBe(404);
  });
});
