import { readFileSync } from 'node:fs';
import { ATTEMPTS, DELIVERED_EVENT_TYPES, type WebhookEventType } from '@purser/contract/values/webhooks';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_EVENTS,
  type DecisionBrief,
  deliveryHeaders,
  eventPayload,
  headersOfAttempt,
  recordEventData,
  retryWaitMs,
  secretText,
  signature,
  standardSignature,
  takes,
  validSecrets,
  webhookBody,
} from './webhooks.ts';

interface Vector {
  name: string;
  valid: boolean;
  secret: string;
  now: number;
  id: string;
  body: string;
  headers: Record<string, string>;
}
const { cases } = JSON.parse(
  readFileSync(new URL('../../../../server/tests/vectors/webhook-signatures.json', import.meta.url), 'utf8'),
) as { cases: Vector[] };

describe('signature vectors', () => {
  test.each(cases)('x-svc-signature: $name → $valid', ({ secret, now, body, headers, valid }) => {
    const [, t, v1] = /^t=(\d+),v1=(\S+)$/.exec(headers['x-svc-signature'] as string) as unknown as string[];
    const fresh = Math.abs(now - Number(t)) <= 300;
    expect(fresh && signature(secret, Number(t), body) === v1).toBe(valid);
  });
  test.each(cases)('webhook-signature: $name → $valid', ({ secret, now, id, body, headers, valid }) => {
    const t = Number(headers['webhook-timestamp']);
    const fresh = Math.abs(now - t) <= 300;
    const expected = `v1,${standardSignature(secret, id, t, body)}`;
    expect(fresh && (headers['webhook-signature'] as string).split(' ').includes(expected)).toBe(valid);
  });
  test('the headers of a delivery are those of the vectors', () => {
    const good = cases.find(({ name }) => name === 'good') as Vector;
    const rotated = cases.find(({ name }) => name.startsWith('after a rotation')) as Vector;
    const event = { event_id: good.id, type: 'decision.created', payload: good.body } as const;
    expect(deliveryHeaders(event, [good.secret], good.now * 1000 + 999)).toMatchObject(good.headers);
    expect(deliveryHeaders(event, [rotated.secret, good.secret], good.now * 1000)).toMatchObject(
      rotated.headers,
    );
  });
});

test('the waits after failures 1 to 4 are 30, 60, 120 and 240 s, and the fifth is the last', () => {
  const schedule = { first_ms: 30_000, max_ms: 300_000 };
  const waits = [1, 2, 3, 4, 5].map((failures) => retryWaitMs(failures, schedule));
  expect(waits).toEqual([30_000, 60_000, 120_000, 240_000, null]);
  expect(retryWaitMs(4, { first_ms: 30_000, max_ms: 100_000 })).toBe(100_000);
  expect(ATTEMPTS).toBe(5);
});

test('the data of a review, label or outcome event is the record and a brief of its decision, without a token', () => {
  const decision = {
    decision_id: 'dec_1',
    agent: { id: 'agt_1', slug: 'a', name: 'not told' },
    mode: 'ENFORCE',
    decision: 'REVIEW',
    effective_decision: 'ALLOW',
    reason_code: 'PURPOSE_UNCLEAR',
    explanation: 'not told',
  } as DecisionBrief;
  const record = {
    review_id: 'rev_1',
    action: 'ALLOW',
    capability: { capability_id: 'cap_1', token: 'cap_secret', status: 'ISSUED' },
  };
  expect(JSON.parse(recordEventData(record, decision))).toEqual({
    review_id: 'rev_1',
    action: 'ALLOW',
    capability: { capability_id: 'cap_1', status: 'ISSUED' },
    decision: {
      decision_id: 'dec_1',
      agent: { id: 'agt_1', slug: 'a' },
      mode: 'ENFORCE',
      decision: 'REVIEW',
      effective_decision: 'ALLOW',
      reason_code: 'PURPOSE_UNCLEAR',
    },
  });
  expect(record.capability.token).toBe('cap_secret');
  expect(JSON.parse(recordEventData({ label_id: 'lbl_1', capability: null }, decision)).capability).toBe(
    null,
  );
});

test('the payload is the envelope around the unchanged data', () => {
  const data = '{"b":1,"a":"é\\u0000"}';
  const text = eventPayload(
    { event_id: 'evt_1', type: 'webhook.test', created_at: '2026-11-21T08:30:00.000Z' },
    data,
  );
  expect(text).toBe(
    `{"id":"evt_1","type":"webhook.test","created_at":"2026-11-21T08:30:00.000Z","data":${data}}`,
  );
  expect(JSON.parse(text).data).toEqual({ b: 1, a: 'é\0' });
});

test('an endpoint takes the types that it subscribed to, and none while it is disabled', () => {
  const one = { events: ['decision.created'], status: 'active' } as const;
  expect([takes(one, 'decision.created'), takes(one, 'decision.label.recorded')]).toEqual([true, false]);
  expect(takes({ events: [DEFAULT_EVENTS], status: 'disabled' }, 'decision.created')).toBe(false);
});

test('an endpoint without a list is told of the default types, and of no type that was added since', () => {
  const unlisted = { events: [DEFAULT_EVENTS], status: 'active' } as const;
  expect(DELIVERED_EVENT_TYPES.filter((type) => takes(unlisted, type as WebhookEventType))).toEqual([
    'decision.created',
    'decision.review.recorded',
    'decision.label.recorded',
    'decision.outcome.recorded',
  ]);
  const later = 'decision.of.a.later.release' as WebhookEventType;
  expect(takes(unlisted, later)).toBe(false);
  expect(takes({ events: [later], status: 'active' }, later)).toBe(true);
});

test('a secret signs until its overlap ends, and is shown by no list', () => {
  const now_ms = Date.parse('2026-11-21T08:30:00.000Z');
  const secrets = [
    { sealed: 'new', expires_at: null },
    { sealed: 'still', expires_at: '2026-11-21T08:30:00.001Z' },
    { sealed: 'over', expires_at: '2026-11-21T08:30:00.000Z' },
  ];
  expect(validSecrets(secrets, now_ms).map(({ sealed }) => sealed)).toEqual(['new', 'still']);
  const body = webhookBody({
    endpoint_id: 'wh_1',
    url: 'https://example.com/',
    events: ['*'],
    status: 'active',
    disabled_reason: null,
    secrets,
    secret_rotated_at: null,
    created_at: '',
    updated_at: '',
  });
  expect(JSON.stringify(body)).not.toMatch(/sealed|secrets|new|still/);
  expect(secretText(Buffer.alloc(32))).toMatch(/^whsec_A{43}=$/);
});

describe('the headers of an attempt, made again', () => {
  const BEGAN_MS = Date.parse('2026-11-21T08:30:00.000Z');
  const event = { event_id: 'evt_1', type: 'decision.created' as const, payload: '{}' };
  const secret = (byte: number) => secretText(Buffer.alloc(32, byte));
  const open = (sealed: string) => secret(Number(sealed));
  const of = (
    secret_rotated_at: string | null,
    secrets = [{ sealed: '1', expires_at: null as string | null }],
  ) => headersOfAttempt(event, { secrets, secret_rotated_at }, BEGAN_MS, open);

  test('are those it was sent with, signed by all secrets that were good then', () => {
    expect(of(null)).toEqual(deliveryHeaders(event, [secret(1)], BEGAN_MS));
    const both = [
      { sealed: '2', expires_at: null },
      { sealed: '1', expires_at: '2026-11-21T08:30:00.001Z' },
      { sealed: '3', expires_at: '2026-11-21T08:30:00.000Z' },
    ];
    expect(of('2026-11-21T08:00:00.000Z', both)).toEqual(
      deliveryHeaders(event, [secret(2), secret(1)], BEGAN_MS),
    );
  });
  test.each([
    ['the secret was replaced since', '2026-11-21T08:30:00.001Z'],
    [
      'it was replaced so shortly before that the worker may have had the old one',
      '2026-11-21T08:29:50.000Z',
    ],
  ])('have no signatures where %s', (_, rotated_at) => {
    const unsigned = of(rotated_at);
    expect(unsigned).toMatchObject({ 'webhook-id': 'evt_1', 'webhook-timestamp': String(BEGAN_MS / 1000) });
    expect(Object.keys(unsigned).filter((name) => name.includes('signature'))).toEqual([]);
  });
  test('have no signatures where the endpoint is gone, and no secret is opened for it', () => {
    const opened = headersOfAttempt(event, undefined, BEGAN_MS, () => {
      throw new Error('opened');
    });
    expect(Object.keys(opened).some((name) => name.includes('signature'))).toBe(false);
    expect(opened['x-svc-id']).toBe('evt_1');
  });
});
