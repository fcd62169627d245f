import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, GOOD_SPEND, type Reply, startFakes } from '../support/http-fakes.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

type Fakes = Awaited<ReturnType<typeof startFakes>>;

let fakes: Fakes;
beforeAll(async () => {
  fakes = await startFakes();
});
afterAll(() => fakes.server.close());

const RUNS = { numRuns: Number(process.env.HOSTILE_RUNS) };

/** A refusal in the one shape that begins with the name of a field. */
function refusesByName(reply: Reply): void {
  expect([reply.status, reply.text]).toEqual([400, reply.text]);
  const { code, message } = errorOf(reply);
  expect(code).toBe('invalid_request');
  expect(message).toMatch(/^\S+: \S/);
}

/** Either taken or refused by name; nothing else, whatever was sent. */
function takesOrRefusesByName(reply: Reply, status: number): void {
  if (reply.status !== status) refusesByName(reply);
}

/** Every value that JSON has, also where the schema has an object, and texts with every kind of character. */
const anything = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

/** What a client can send in a header: any byte but controls and DEL. */
const headerCharacter = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code));

/** A sound body with one field, at any depth, put aside for `value`. */
function spoiled(field: string, value: unknown): unknown {
  const body = structuredClone({
    ...GOOD_SPEND,
    task: 't',
    trace: [{ step: 's', at: '2026-11-21T08:30:00Z' }],
    context: {},
  }) as Record<string, unknown>;
  const names = field.split('.');
  const last = names.pop() as string;
  const holder = names.reduce((node, name) => node[name] as Record<string, unknown>, body);
  holder[last] = value;
  return body;
}

describe('POST /v1/spends', () => {
  it('bytes that are no JSON are refused by name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        refusesByName(await fakes.spend(Buffer.from(bytes)));
      }),
      RUNS,
    );
  });

  it('a sound body with one byte changed is taken or refused by name', async () => {
    const sound = Buffer.from(JSON.stringify(spoiled('task', 'tásk')));
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.integer({ min: 0, max: 255 }), async (at, byte) => {
        const bytes = Buffer.from(sound);
        bytes[at] = byte;
        takesOrRefusesByName(await fakes.spend(bytes), 201);
      }),
      RUNS,
    );
  });

  it('any JSON value in the place of the body is refused by name', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => refusesByName(await fakes.spend(JSON.stringify(value)))),
      RUNS,
    );
  });

  it('a value of any kind in the place of any field is taken or refused under that field', async () => {
    const fields = [
      'action',
      'action.type',
      'action.merchant',
      'action.amount_minor',
      'action.currency',
      'action.payee_id',
      'task',
      'trace',
      'trace.0',
      'trace.0.step',
      'trace.0.at',
      'limitable',
      'min_amount_minor',
      'agent',
      'context',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), anything, async (field, value) => {
        const reply = await fakes.spend(JSON.stringify(spoiled(field, value)));
        takesOrRefusesByName(reply, 201);
        if (reply.status !== 400) return;
        const { message } = errorOf(reply);
        const path = field.replace('trace.0', 'trace[0]');
        // What JSON itself forbids here (lone surrogates, inexact numbers) is found before the fields are.
        expect(message.startsWith(path) || message.startsWith('body')).toBe(true);
      }),
      RUNS,
    );
  });

  it('an unknown field of any name, at any depth, is refused', async () => {
    const names = fc.string({ unit: 'binary', maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(names, fc.constantFrom('', 'action.', 'trace.0.'), async (name, holder) => {
        fc.pre(!name.includes('.') && !['action', 'type', 'step', 'kind', 'at', 'tool'].includes(name));
        fc.pre(!(name in GOOD_SPEND.action) && !['task', 'trace', 'agent', 'context'].includes(name));
        // A computed key, so that "__proto__" is a field like any other.
        const spoilt = JSON.stringify(spoiled(`${holder}placeholder`, 1)).replace('"placeholder"', () =>
          JSON.stringify(name),
        );
        refusesByName(await fakes.spend(spoilt));
      }),
      RUNS,
    );
  });

  it('an idempotency key of any characters is taken or refused by name', async () => {
    const keys = fc.string({ unit: headerCharacter });
    await fc.assert(
      fc.asyncProperty(keys, async (key) => {
        const reply = await fakes.spend(GOOD_SPEND, { headers: { 'idempotency-key': key } });
        takesOrRefusesByName(reply, 201);
        // White space around a header's value is no part of it.
        expect(reply.status === 201).toBe(/^[!-~]{1,255}$/.test(key.replace(/^[ \t]+|[ \t]+$/g, '')));
      }),
      RUNS,
    );
  });

  it('other headers of any characters never break anything', async () => {
    const value = fc.string({ unit: headerCharacter });
    const names = fc.constantFrom(
      'content-type',
      'content-encoding',
      'x-request-id',
      'traceparent',
      'x-forwarded-for',
      'expect',
      'accept',
      'upgrade',
    );
    await fc.assert(
      fc.asyncProperty(names, value, async (name, text) => {
        takesOrRefusesByName(await fakes.spend(GOOD_SPEND, { headers: { [name]: text } }), 201);
      }),
      RUNS,
    );
  });
});

describe('GET /v1/spends', () => {
  it('a query string of any characters is taken or refused by name', async () => {
    const text = fc.string({
      unit: fc.constantFrom(...'abclimtqfro=&%+?#;[]0123456789-:TZ.\'"<>{}|\\^`~!$(),/@ûＡ'.replace('#', '')),
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(text, async (query) => {
        const bytes = Buffer.from(query).toString('latin1');
        takesOrRefusesByName(await fakes.ask(`/v1/spends?${bytes}`), 200);
      }),
      RUNS,
    );
  });

  it('any text as a value of any filter is taken or refused under its name', async () => {
    const names = fc.constantFrom('decision', 'q', 'min_amount', 'reviewed', 'from', 'to', 'limit', 'cursor');
    await fc.assert(
      fc.asyncProperty(names, fc.string({ unit: 'grapheme' }), async (name, value) => {
        const reply = await fakes.ask(`/v1/spends?${name}=${encodeURIComponent(value)}`);
        takesOrRefusesByName(reply, 200);
        if (reply.status === 400) expect(errorOf(reply).message.startsWith(`${name}: `)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('paths', () => {
  it('any path is found or not found, and nothing else', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'v1spend/%.;:*\\0aF-_~'), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, async (path) => {
        const { status } = await fakes.ask(`/v1/spends/${path}`);
        expect([200, 404]).toContain(status);
      }),
      RUNS,
    );
  });
});

describe('raw bytes', () => {
  it('whatever a connection sends, the server goes on', async () => {
    const lines = fc.array(
      fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)) }),
      {
        maxLength: 4,
      },
    );
    await fc.assert(
      fc.asyncProperty(lines, async (parts) => {
        const text = await fakes.raw(
          `GET /open HTTP/1.1\r\n${parts.join('\r\n')}\r\nConnection: close\r\n\r\n`,
        );
        expect(text).toMatch(/^HTTP\/1\.1 (200|400) /);
      }),
      { numRuns: 100 },
    );
    expect((await fakes.ask('/open')).status).toBe(200);
  });
});
