import { describe, expect } from 'vitest';
import { setUp } from '../support/browser.ts';
import { makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, get, post, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });

const SECRET = 'Ada knows their director, says nobody';
let ada: string;
let slug: string;
test.beforeAll(async () => {
  ada = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
  await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bo' });
  slug = await makeAgent({ review_threshold_minor: 100 }, { mode: 'ENFORCE' });
});

const note = (decision: { decision_id: string }, body: object, key = ada) =>
  s.call('POST', `/v1/decisions/${decision.decision_id}/notes`, { key, body });
const sheetOf = (decision: { decision_id: string }) =>
  get(`/v1/decisions/${decision.decision_id}/sheet`, ada);

describe('POST /v1/decisions/:id/notes', () => {
  test('is shown on the sheet, oldest first, and the last assignment counts', async () => {
    const decision = await ask(slug, 500);
    const first = await note(decision, { text: ' Second one?\nCheck ', assign_to: 'user:bo' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      decision_id: decision.decision_id,
      text: 'Second one?\nCheck',
      assign_to: 'user:bo',
      principal_id: 'user:ada',
    });
    await note(decision, { text: 'Mine after all', assign_to: 'user:ada' });
    const last = await note(decision, { text: 'No' });
    const { notes, assigned_to } = await sheetOf(decision);
    expect(assigned_to).toBe('user:ada');
    expect(notes.map(({ text }: { text: string }) => text)).toEqual([
      'Second one?\nCheck',
      'Mine after all',
      'No',
    ]);
    expect(notes[2]).toEqual(last.body);
    const inbox = (query: string) => get(`/v1/inbox?${query}`, ada);
    expect((await inbox('mine=true')).data).toMatchObject([{ assigned_to: 'user:ada' }]);
    expect((await inbox('assigned=user:bo')).total).toBe(0);
    expect((await inbox('search=after+all')).total).toBe(1);
    expect((await inbox('assigned=none')).total).toBe((await inbox('')).total - 1);
  });

  test('assigns to members and keys that may review, and to nobody else', async () => {
    const browser = await setUp(s);
    const me = await browser.call('GET', '/v1/me');
    const decision = await ask(slug, 500);
    const own = me.body.workspace?.principal_id ?? me.body.principal_id;
    expect((await note(decision, { text: 'Yours', assign_to: own })).status).toBe(201);
    await makeKey(s, { scopes: ['read'], principal_id: 'user:reader' });
    for (const assign_to of ['user:reader', 'user:nobody']) {
      const reply = await note(decision, { text: 'Yours', assign_to });
      expect(refusal(reply)).toEqual([400, 'invalid_request']);
      expect(reply.body.error.message).toMatch(/^assign_to: /);
    }
    const asker = (await makeKey(s, { scopes: ['authorize', 'review', 'read'], principal_id: 'user:asker' }))
      .key;
    const asked = await ask(slug, 500, {}, asker);
    expect(refusal(await note(asked, { text: 'Yours', assign_to: 'user:asker' }))).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('a decision that nobody can review any more takes notes, and no assignment', async () => {
    const allowed = await ask(slug, 50);
    const denied = await ask(slug, 500);
    const review = { action: 'DENY', reason_code: 'NOT_NOW' };
    await post(`/v1/decisions/${denied.decision_id}/reviews`, review, ada);
    for (const decision of [allowed, denied])
      expect((await note(decision, { text: 'For the record' })).status).toBe(201);
    expect(refusal(await note(allowed, { text: 'x', assign_to: 'user:bo' }))).toEqual([
      409,
      'not_reviewable',
    ]);
    expect(refusal(await note(denied, { text: 'x', assign_to: 'user:bo' }))).toEqual([409, 'review_final']);
  });

  test('needs the scope review', async () => {
    const decision = await ask(slug, 500);
    expect((await note(decision, { text: SECRET }, await keyWith('read'))).status).toBe(403);
  });
});

test('no agent key sees a note, in whatever it reads', async () => {
  const decision = await ask(slug, 500);
  await note(decision, { text: SECRET, assign_to: 'user:bo' });
  const { key } = await makeKey(s, { agent_id: slug });
  const at = `/v1/decisions/${decision.decision_id}`;
  const paths = [
    at,
    `${at}/reviews`,
    `${at}/labels`,
    `${at}/outcomes`,
    `${at}/sheet`,
    '/v1/decisions',
    '/v1/decisions/export?format=jsonl',
    '/v1/inbox',
    '/v1/ledger/events',
    '/v1/ledger/export',
    '/v1/audit',
    '/v1/changes',
  ];
  for (const path of paths) {
    const reply = await s.call('GET', path, { key });
    expect([path, reply.text.includes(SECRET), reply.text.includes('user:bo')]).toEqual([path, false, false]);
  }
  expect((await s.call('POST', `${at}/notes`, { key, body: { text: 'x' } })).status).toBe(403);
});

test('a note is an event of the chain, which verification reads', async () => {
  const decision = await ask(slug, 500);
  const { note_id } = (await note(decision, { text: 'Sealed' })).body;
  const { data } = await get('/v1/ledger/events?limit=200');
  expect(data.filter((event: { subject: { id: string } }) => event.subject?.id === note_id)).toMatchObject([
    { type: 'decision.note.recorded' },
  ]);
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
  await s.sql("update notes set text = 'Changed' where note_id = $1", [note_id]);
  expect((await get('/v1/ledger/verify')).valid).toBe(false);
  await s.sql("update notes set text = 'Sealed' where note_id = $1", [note_id]);
});
