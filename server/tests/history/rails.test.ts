import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import {
  lithicMovement,
  lithicUpdated,
  stripeAuthorization,
  stripeEvent,
  stripeTransaction,
} from '../../../packages/rail-events/tests/vendor-objects.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';
import { makeRailSender, RAIL_SECRETS, signedHeaders } from './rail-sender.ts';
import { makeSender } from './sender.ts';

const { test, s, get, post, walk } = serviceTest({ plan: 'enterprise' });
const { importFile } = makeSender(s);
const { addRail, send } = makeRailSender(s);

const CAPTURED = stripeEvent(
  'issuing_transaction.created',
  stripeTransaction({ id: 'ipi_0', authorization: 'iauth_0' }),
);
const eventsOf = async (id: string) => (await get(`/v1/rails/${id}`)).events;
const railLines = (id: string) => walk(`/v1/lines?rail=${id}`);

describe('a rail', () => {
  test('waits for its secret, which nothing shows', async () => {
    const rail = await post('/v1/rails', { kind: 'lithic', name: 'Cards' });
    expect(rail).toMatchObject({
      kind: 'lithic',
      name: 'Cards',
      status: 'WAITING_FOR_SECRET',
      events: { accepted: 0, refused: 0, ignored: 0 },
      last_problem: null,
    });
    expect(rail.url).toMatch(new RegExp(`^http://localhost:\\d+/v1/rails/${rail.id}/events$`));
    expect((await send(rail, lithicUpdated())).status).toBe(401);
    expect(await get(`/v1/rails/${rail.id}`)).toMatchObject({
      events: { refused: 1 },
      last_problem: expect.stringContaining('no signing secret'),
    });
    const secret = RAIL_SECRETS.lithic;
    const changed = await s.call('PATCH', `/v1/rails/${rail.id}`, {
      body: { name: 'Lithic', signing_secrets: [secret] },
    });
    expect(changed.body).toMatchObject({ name: 'Lithic', status: 'ACTIVE' });
    expect((await send(rail, lithicUpdated())).status).toBe(200);
    const everything = [
      changed.text,
      JSON.stringify(await walk('/v1/rails')),
      JSON.stringify(await walk('/v1/audit')),
      JSON.stringify((await s.sql('select * from rails')).rows),
    ];
    for (const text of everything) expect(text).not.toContain(secret.slice(6));
  });

  test('takes two secrets while one is replaced, and then the other alone', async () => {
    const [old, next] = ['whsec_old', 'whsec_next'];
    const rail = await addRail('stripe_issuing', { signing_secrets: [old, next] });
    const statusWith = async (secret: string) => (await send(rail, CAPTURED, { secret })).status;
    expect([await statusWith(old), await statusWith(next)]).toEqual([200, 200]);
    await s.call('PATCH', `/v1/rails/${rail.id}`, { body: { signing_secrets: [next] } });
    expect([await statusWith(old), await statusWith(next)]).toEqual([401, 200]);
  });

  test('that is deleted takes nothing more, and its lines stay', async () => {
    const rail = await addRail('stripe_issuing');
    const transaction = stripeTransaction({ id: 'ipi_stays', authorization: null });
    const event = stripeEvent('issuing_transaction.created', transaction);
    await send(rail, event);
    expect((await s.call('DELETE', `/v1/rails/${rail.id}`)).status).toBe(204);
    expect((await send(rail, event)).status).toBe(404);
    expect((await s.call('GET', `/v1/rails/${rail.id}`)).status).toBe(404);
    expect(await railLines(rail.id)).toHaveLength(1);
    expect(await s.sql('select * from rail_health where rail_id = $1', [rail.id])).toMatchObject({
      rows: [],
    });
  });

  test('is changed by audited steps alone, and again without a difference by none', async () => {
    const rail = await addRail('lithic');
    const patch = (body: object) => s.call('PATCH', `/v1/rails/${rail.id}`, { body });
    await patch({ name: 'Other' });
    await patch({ name: 'Other', signing_secrets: [RAIL_SECRETS.lithic] });
    await s.call('DELETE', `/v1/rails/${rail.id}`);
    const records = (await walk('/v1/audit')).filter(({ target }) => target.id === rail.id);
    expect(records.map(({ action }) => action)).toEqual(['rail.deleted', 'rail.updated', 'rail.created']);
  });
});

describe('an event', () => {
  test('is refused where it is not signed by the rail’s secret, or five minutes away', async () => {
    for (const kind of ['stripe_issuing', 'lithic'] as const) {
      const rail = await addRail(kind);
      const event = kind === 'lithic' ? lithicUpdated() : CAPTURED;
      const statusOf = async (...of: Parameters<typeof send>) => (await send(...of)).status;
      const around = (seconds: number) => ({ at_ms: Date.now() + seconds * 1_000 });
      expect(await statusOf(rail, event)).toBe(200);
      expect(await statusOf(rail, event, around(-290))).toBe(200);
      expect(await statusOf(rail, event, around(290))).toBe(200);
      expect(await statusOf(rail, event, around(-310))).toBe(401);
      expect(await statusOf(rail, event, around(310))).toBe(401);
      expect(await statusOf(rail, event, { secret: 'whsec_b3RoZXI=' })).toBe(401);
      const raw = JSON.stringify(event);
      const headers = { 'content-type': 'application/json', ...signedHeaders(kind, raw) };
      const altered = { key: null, headers, raw: raw.replace('1250', '9250') };
      expect((await s.call('POST', `/v1/rails/${rail.id}/events`, altered)).status).toBe(401);
      const unsigned = { key: null, headers: { 'content-type': 'application/json' }, raw };
      expect((await s.call('POST', `/v1/rails/${rail.id}/events`, unsigned)).status).toBe(401);
      expect(await eventsOf(rail.id)).toEqual({ accepted: 3, refused: 5, ignored: 0 });
    }
  });

  test('signed the way of the other vendor is refused', async () => {
    const rail = await addRail('lithic', { signing_secrets: [RAIL_SECRETS.stripe_issuing] });
    expect((await send({ ...rail, kind: 'stripe_issuing' }, CAPTURED)).status).toBe(401);
  });

  test('that asks for an approval is refused by its name', async () => {
    const rail = await addRail('stripe_issuing');
    const reply = await send(rail, stripeEvent('issuing_authorization.request', stripeAuthorization()));
    expect(reply.status).toBe(400);
    expect(reply.body.error.message).toContain('issuing_authorization.request');
    expect((await get(`/v1/rails/${rail.id}`)).last_problem).toContain('issuing_authorization.request');
    const lithic = await addRail('lithic');
    const asked = await send(lithic, { event_type: 'card_authorization.approval_request', token: 'lt' });
    expect(asked.body.error.message).toContain('card_authorization.approval_request');
  });

  test('of a type that is not used is ignored, and one that cannot be read names its field', async () => {
    const rail = await addRail('stripe_issuing');
    const other = await send(rail, { id: 'evt_1', object: 'event', type: 'charge.succeeded' });
    expect([other.status, other.body]).toEqual([200, { received: true }]);
    for (const [event, field] of [
      ['not JSON', 'body'],
      ['[]', 'type'],
      [stripeEvent('issuing_transaction.created', stripeTransaction({ amount: 1.5 })), 'amount'],
      [stripeEvent('issuing_transaction.created', stripeTransaction({ currency: 'zzz' })), 'currency'],
    ] as const) {
      const reply = await send(rail, event);
      expect(reply.status).toBe(400);
      expect(reply.body.error.message).toContain(field);
    }
    expect(await eventsOf(rail.id)).toEqual({ accepted: 0, refused: 4, ignored: 1 });
    expect(await railLines(rail.id)).toEqual([]);
  });

  test('may have 256 KiB', async () => {
    const rail = await addRail('stripe_issuing');
    const padded = (length: number) => {
      const text = JSON.stringify({ ...CAPTURED, padding: '' });
      return text.replace('"padding":""', `"padding":"${'x'.repeat(length - text.length)}"`);
    };
    expect((await send(rail, padded(262_144))).status).toBe(200);
    expect((await send(rail, padded(262_145))).status).toBe(400);
  });

  test('counts against a limit of its own, 6,000 a minute of one address', async () => {
    const reply = await send(await addRail('lithic'), lithicUpdated());
    expect(reply.headers.get('ratelimit-policy')).toMatch(/q=6000;w=60/);
  });

  test('of an unknown rail is no rail’s', async () => {
    const rail = { id: 'rail_00000000000000000000000000', kind: 'lithic' as const };
    expect((await send(rail, lithicUpdated())).status).toBe(404);
  });

  test('says in its metric what became of it', async () => {
    const counted = async () => {
      const { text } = await s.call('GET', '/metrics', { key: null });
      return Number(/purser_rail_events_total\{kind="lithic",result="ignored"\} (\d+)/.exec(text)?.[1]);
    };
    const before = await counted();
    await send(await addRail('lithic'), { event_type: 'card.created' });
    // The text is made at most once a second.
    await until(async () => (await counted()) === before + 1);
  });
});

describe('lines of events', () => {
  test('are those of a file, whichever comes first', async () => {
    const file = readFileSync(new URL('./fixtures/stripe_issuing.json', import.meta.url), 'utf8');
    const rail = await addRail('stripe_issuing');
    const objects = JSON.parse(file).data as ReturnType<typeof stripeTransaction>[];
    for (const each of objects.slice(0, 2))
      expect((await send(rail, stripeEvent('issuing_transaction.created', each))).status).toBe(200);
    const done = await importFile({ source: 'stripe_issuing', content_type: 'application/json', body: file });
    expect(done.lines).toMatchObject({ taken: objects.length - 2, present: 2, bad: 0 });
    for (const each of objects) await send(rail, stripeEvent('issuing_transaction.created', each));
    const lines = await walk('/v1/lines?feed=stripe_issuing&from=2026-03-01');
    const references = lines.map(({ external_reference }) => external_reference);
    for (const { id } of objects) expect(references.filter((each) => each === id)).toHaveLength(1);
    const [first] = (await railLines(rail.id)).reverse();
    const expected = JSON.parse(readFileSync(new URL('./fixtures/expected.json', import.meta.url), 'utf8'))[
      'stripe_issuing.json'
    ].lines[0];
    expect(first).toMatchObject({ ...expected, rail_id: rail.id, import_id: null, line_number: null });
  });

  test('of Lithic come with each event that moved money, once', async () => {
    const rail = await addRail('lithic');
    const asked = lithicMovement({ token: 'le_a', type: 'AUTHORIZATION', amount: 1250 });
    const cleared = lithicMovement({ token: 'le_b', type: 'CLEARING', amount: 900, minute: 5 });
    const returned = lithicMovement({ token: 'le_c', type: 'RETURN', amount: 300, minute: 9 });
    const of = { token: 'lt_lines' };
    await send(rail, lithicUpdated(of, [asked]));
    await send(rail, lithicUpdated({ ...of, status: 'SETTLED' }, [asked, cleared, returned]));
    await send(rail, lithicUpdated({ ...of, status: 'SETTLED' }, [asked, cleared]));
    const lines = await railLines(rail.id);
    expect(lines.map(({ kind, amount_minor, authorization }) => [kind, amount_minor, authorization])).toEqual(
      [
        ['REFUND', 300, 'lt_lines'],
        ['SPEND', 900, 'lt_lines'],
      ],
    );
  });

  test('that say something else than known ones leave them, and the rail says so', async () => {
    const rail = await addRail('stripe_issuing');
    const sent = (amount: number) =>
      send(rail, stripeEvent('issuing_transaction.created', stripeTransaction({ id: 'ipi_same', amount })));
    await sent(-500);
    expect((await sent(-600)).status).toBe(200);
    expect(await railLines(rail.id)).toMatchObject([{ amount_minor: 500 }]);
    expect((await get(`/v1/rails/${rail.id}`)).last_problem).toContain('the known one stays');
  });

  test('are sealed, and the ledger stays valid', async () => {
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  });
});
