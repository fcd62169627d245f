import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WebhookSignatureError, webhooks } from '../src/index.ts';

interface Vector {
  name: string;
  valid: boolean;
  secret: string;
  now: number;
  body: string;
  headers: Record<string, string>;
}
const { cases } = JSON.parse(
  readFileSync(new URL('../../server/tests/vectors/webhook-signatures.json', import.meta.url), 'utf8'),
) as { cases: Vector[] };

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'webhook.test',
  created_at: '',
  data: { endpoint_id: 'wh_1' },
});
const T = 1_795_248_000;
const judge = (call: Promise<unknown>) =>
  call.then(
    () => true,
    (error: unknown) => {
      if (error instanceof WebhookSignatureError) return false;
      throw error;
    },
  );
const only = (headers: Record<string, string>, pattern: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => pattern.test(name)));

describe.each(cases)('the vector "$name" is judged as $valid', ({ body, headers, secret, now, valid }) => {
  test.each([
    ['as text', body],
    ['as bytes', Buffer.from(body)],
  ])('%s, by either signature, among several secrets', async (_, raw) => {
    for (const kind of [/^x-/, /^webhook-/]) {
      const sent = only(headers, kind);
      expect(await judge(webhooks.unwrap(raw, sent, secret, { now }))).toBe(valid);
      expect(await judge(webhooks.unwrap(raw, new Headers(sent), ['whsec_b2xk', secret], { now }))).toBe(
        valid,
      );
    }
  });
});

test('what sign makes is what the service sends', async () => {
  const good = cases.find((each) => each.name === 'good') as Vector;
  const headers = await webhooks.sign(good.body, good.secret, { timestamp: good.now });
  expect(headers).toMatchObject(good.headers);
  const event = JSON.parse(good.body);
  expect([headers['x-svc-id'], headers['x-svc-type']]).toEqual([event.id, event.type]);
  expect(headers['x-purser-signature']).toBe(headers['x-svc-signature']);
  expect(await webhooks.unwrap(good.body, headers, good.secret, { now: good.now })).toEqual(event);
});

describe('unwrap', () => {
  test('takes the present time unless told, and gives the event', async () => {
    const event = await webhooks.unwrap(BODY, await webhooks.sign(BODY, SECRET), SECRET);
    expect(event).toEqual(JSON.parse(BODY));
  });

  test.each([
    [300, 0, true],
    [-300, 0, true],
    [301, 0, false],
    [-301, 0, false],
    [301, 301, true],
    [-6, 5, false],
  ])('a delivery %i seconds away, tolerance %i: %s', async (off, tolerance, valid) => {
    const headers = await webhooks.sign(BODY, SECRET, { timestamp: T });
    const options = tolerance === 0 ? { now: T + off } : { now: T + off, tolerance };
    expect(await judge(webhooks.unwrap(BODY, headers, SECRET, options))).toBe(valid);
  });

  test('header names in any case, as Node gives them or as Fetch does', async () => {
    const headers = await webhooks.sign(BODY, SECRET);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const listed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const each of [upper, listed, { ...headers, cookie: undefined }]) {
      expect(await judge(webhooks.unwrap(BODY, each, SECRET))).toBe(true);
    }
  });

  test.each<[string, (headers: Record<string, string>) => Record<string, string | string[]>]>([
    ['no signature', () => ({})],
    [
      'two signatures',
      (headers) => ({
        'x-svc-signature': [headers['x-svc-signature'], headers['x-svc-signature']] as string[],
      }),
    ],
    [
      'one twice',
      (headers) => ({ 'x-svc-signature': headers['x-svc-signature'] as string, 'X-SVC-SIGNATURE': 'x' }),
    ],
    ['an empty one', () => ({ 'x-svc-signature': '' })],
    [
      'a digest in capitals',
      (headers) => ({ 'x-svc-signature': (headers['x-svc-signature'] as string).toUpperCase() }),
    ],
    [
      'another time',
      (headers) => ({
        'x-svc-signature': (headers['x-svc-signature'] as string).replace(/t=\d+/, `t=${T + 1}`),
      }),
    ],
    ['another id', (headers) => ({ ...only(headers, /^webhook-/), 'webhook-id': 'evt_2' })],
  ])('refuses %s', async (_, change) => {
    const headers = await webhooks.sign(BODY, SECRET, { timestamp: T });
    expect(await judge(webhooks.unwrap(BODY, change(headers), SECRET, { now: T }))).toBe(false);
  });

  test('refuses another body, another secret, and what is signed but no event', async () => {
    const headers = await webhooks.sign(BODY, SECRET);
    expect(await judge(webhooks.unwrap(`${BODY} `, headers, SECRET))).toBe(false);
    expect(await judge(webhooks.unwrap(BODY, headers, 'whsec_b3RoZXI='))).toBe(false);
    for (const text of ['', 'null', '[]', '{"id":1}', 'no JSON']) {
      expect(await judge(webhooks.unwrap(text, await webhooks.sign(text, SECRET), SECRET)), text).toBe(false);
    }
  });

  test('a secret that is being replaced: either signs, at any place of the list', async () => {
    const fresh = 'whsec_ZnJlc2g=';
    for (const signing of [SECRET, fresh]) {
      const headers = await webhooks.sign(BODY, signing);
      for (const secrets of [
        [SECRET, fresh],
        [fresh, SECRET],
      ]) {
        expect(await judge(webhooks.unwrap(BODY, headers, secrets))).toBe(true);
      }
    }
    const [one, other] = [
      await webhooks.sign(BODY, SECRET, { timestamp: T }),
      await webhooks.sign(BODY, fresh, { timestamp: T }),
    ];
    const both = {
      ...only(one, /^webhook-/),
      'webhook-signature': `${other['webhook-signature']} ${one['webhook-signature']}`,
    };
    for (const secret of [SECRET, fresh]) {
      expect(await judge(webhooks.unwrap(BODY, both, secret, { now: T }))).toBe(true);
    }
  });

  test.each<[string, unknown[]]>([
    ['body', [JSON.parse(BODY), {}, SECRET]],
    ['body', [undefined, {}, SECRET]],
    ['headers', [BODY, null, SECRET]],
    ['secret', [BODY, {}, '']],
    ['secret', [BODY, {}, []]],
    ['secret', [BODY, {}, [SECRET, '']]],
    ['secret', [BODY, {}, undefined]],
    ['tolerance', [BODY, {}, SECRET, { tolerance: Number.POSITIVE_INFINITY }]],
    ['tolerance', [BODY, {}, SECRET, { tolerance: -1 }]],
    ['now', [BODY, {}, SECRET, { now: Number.NaN }]],
  ])('a wrong %s is a TypeError', async (name, given) => {
    const call = (webhooks.unwrap as (...all: unknown[]) => Promise<unknown>)(...given);
    const error = await call.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(name);
  });
});
