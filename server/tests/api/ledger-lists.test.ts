import { once } from 'node:events';
import { connect } from 'node:net';
import { eventHash } from '@purser/rules/domain/ledger';
import { describe, expect } from 'vitest';
import { fieldOf, makeKey, refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
type Shown = any;

const BEGIN_MS = Date.UTC(2026, 10, 21, 8);
const { test, s, get, post, walk, ask, makeAgent, keyWith } = serviceTest({
  plan: 'enterprise',
  stopped_at_ms: BEGIN_MS,
});
let reviewer: { id: string; key: string };
/** The whole chain, oldest first. */
let chain: Shown[];
/** The whole audit list, newest first. */
let audit: Shown[];

test.beforeAll(async () => {
  reviewer = await makeKey(s, { scopes: ['review', 'read', 'admin'], principal_id: 'user:ada' });
  const agents = ['a', 'b'];
  for (const slug of agents) await makeAgent({}, { slug, mode: 'ENFORCE' });
  for (let i = 0; i < 12; i++) {
    await s.setClock(BEGIN_MS + i * 60_000);
    const slug = agents[i % 2] as string;
    const { decision_id, capability } = await ask(slug, 10 + i);
    if (i % 3 === 0) {
      const body = { label: 'PURPOSE_ALIGNED' };
      await s.call('POST', `/v1/decisions/${decision_id}/labels`, { key: reviewer.key, body });
    }
    if (i % 3 === 1) {
      const body = { type: 'SPEND_EXECUTED', amount_minor: 5 };
      await s.call('POST', `/v1/decisions/${decision_id}/outcomes`, { body });
    } else if (i % 4 === 2) {
      const body = { token: capability.token, amount_minor: 5, currency: 'EUR' };
      await post('/v1/capabilities/consume', body, await keyWith('consume'));
    }
    if (i % 5 === 4)
      await s.call('PATCH', `/v1/agents/${slug}`, { key: reviewer.key, body: { name: `Name ${i}` } });
  }
  chain = (await get('/v1/ledger/events?limit=200&order=asc')).data;
  audit = (await get('/v1/audit?limit=200')).data;
});

describe('GET /v1/ledger/events', () => {
  test('each filter, and several together, let through what a plain filter of the whole chain lets through', async () => {
    const times = chain.map((event) => event.occurred_at);
    const at = (part: number) => times[Math.floor(times.length * part)];
    const ids = (type: string) =>
      chain.filter((event) => event.subject.type === type).map((event) => event.subject.id);
    const values: Record<string, string[]> = {
      type: [
        'decision.created',
        'agent.updated',
        'capability.consumed,decision.label.recorded',
        'decision.created,agent.created',
        'webhook.created',
      ],
      subject: [
        ...['decision', 'outcome', 'label', 'capability', 'agent', 'api_key', 'workspace'].map(
          (type) => ids(type).at(-1) as string,
        ),
        `${ids('decision')[3]},${ids('outcome')[0]},${ids('agent')[0]}`,
        'dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
        'agt_nobody',
      ],
      from: [at(0), at(0.4), at(0.8), '2026-11-21', '2026-11-22'],
      to: [at(0), at(0.3), at(0.9), '2026-11-21', '2027-01-01'],
      after: ['0', '7', String(chain.length), '999999'],
    };
    const holds: Record<string, (event: Shown, value: string) => boolean> = {
      type: (event, value) => value.split(',').includes(event.type),
      subject: (event, value) => value.split(',').includes(event.subject.id),
      from: (event, value) => Date.parse(event.occurred_at) >= Date.parse(value),
      to: (event, value) =>
        Date.parse(event.occurred_at) < Date.parse(value) + (value.length === 10 ? 86_400_000 : 0),
      after: (event, value) => event.seq > Number(value),
    };
    const asked: Record<string, string>[] = Object.entries(values).flatMap(([name, of]) =>
      of.map((value) => ({ [name]: value })),
    );
    for (let i = 0; i < 40; i++) {
      asked.push(
        Object.fromEntries(
          Object.entries(values)
            .filter((_, place) => (i >> place) % 2 === 1)
            .map(([name, of]) => [name, of[(i * 7) % of.length] as string]),
        ),
      );
    }
    for (const filters of asked) {
      const expected = chain.filter((event) =>
        Object.entries(filters).every(([name, value]) => holds[name]?.(event, value)),
      );
      for (const order of ['asc', 'desc']) {
        const query = new URLSearchParams({ ...filters, order });
        const found = (await walk(`/v1/ledger/events?${query}`, { limit: 4 })).map(({ seq }) => seq);
        const seqs = expected.map(({ seq }) => seq);
        expect([filters, order, found]).toEqual([filters, order, order === 'asc' ? seqs : seqs.reverse()]);
      }
    }
  });

  test('the CSV is all that the filters let through, in the order asked for, or a page where one is asked for', async () => {
    const csv = (query: string) =>
      s.call('GET', `/v1/ledger/events${query}`, { headers: { accept: 'text/csv' } });
    const linesOf = (events: Shown[]) =>
      events.map(({ subject, ...event }) =>
        [event.seq, event.id, event.type, subject.type, subject.id, event.occurred_at]
          .concat([event.data_hash, event.prev_hash, event.hash])
          .join(','),
      );
    const whole = await csv('?order=asc');
    expect(whole.headers.get('content-disposition')).toMatch(
      /^attachment; filename="ledger-entries-ws_\w+\.csv"$/,
    );
    const [head, ...lines] = whole.text.split('\n').slice(0, -1);
    expect(head).toBe('seq,id,type,subject_type,subject_id,occurred_at,data_hash,prev_hash,hash');
    expect(lines).toEqual(linesOf(chain));
    const made = chain.filter(({ type }) => type === 'decision.created');
    const rest = (await csv('?type=decision.created')).text.split('\n').slice(1, -1);
    expect(rest).toEqual(linesOf(made).reverse());
    expect((await csv('?limit=3')).text.split('\n').slice(1, -1)).toEqual(linesOf(chain).slice(-3).reverse());
    expect((await csv('?subject=agt_nobody')).text).toBe(`${head}\n`);
  });

  test('one event is answered by its number, and its hash can be made again from it', async () => {
    for (const event of chain) expect(await get(`/v1/ledger/events/${event.seq}`)).toEqual(event);
    const event = chain.at(-1);
    const bytes = (hash: string) => Buffer.from(hash.replace('sha256:', ''), 'hex');
    const made = eventHash({
      ...event,
      subject_type: event.subject.type,
      subject_id: event.subject.id,
      data_hash: bytes(event.data_hash),
      prev_hash: bytes(event.prev_hash),
    });
    expect(`sha256:${made.toString('hex')}`).toBe(event.hash);
    for (const seq of ['0', String(chain.length + 1), '01', 'x', '9007199254740993', '-1']) {
      expect([seq, ...refusal(await s.call('GET', `/v1/ledger/events/${seq}`))]).toEqual([
        seq,
        404,
        'not_found',
      ]);
    }
  });

  test.each([
    ['type', 'decision.made'],
    ['type', 'agent.created,'],
    ['subject', 'somebody'],
    ['from', 'once'],
    ['to', '2026-02-30'],
    ['order', 'up'],
    ['after', '-1'],
  ])('%s=%s is refused by its name', async (name, value) => {
    const reply = await s.call('GET', `/v1/ledger/events?${name}=${value}`);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', name]);
  });
});

test('checkpoints are listed newest first, as they were signed', async () => {
  await until(async () => (await get('/v1/ledger/checkpoints?limit=1')).data[0]?.seq === chain.length);
  const all = await walk('/v1/ledger/checkpoints', { limit: 1 });
  expect(all.map(({ seq }) => seq)).toEqual([...all].map(({ seq }) => seq).sort((a, b) => b - a));
  for (const { seq, hash, note } of all) {
    expect(chain[seq - 1].hash).toBe(hash);
    expect(note).toContain(s.workspace_id);
  }
  const { checkpoint } = await get('/v1/ledger/verify');
  const { checked, ...newest } = checkpoint;
  expect(all[0]).toEqual(newest);
});

describe('GET /v1/audit', () => {
  test('each filter, and several together, let through what a plain filter of the whole list lets through', async () => {
    const admin = audit.find(
      (record) => record.actor.type === 'api_key' && record.actor.key_id !== reviewer.id,
    );
    const agent = audit.find((record) => record.action === 'agent.updated').target.id;
    const values: Record<string, string[]> = {
      action: ['agent.updated', 'api_key.created,agent.created', 'webhook.created'],
      actor: [
        reviewer.id,
        'user:ada',
        admin.actor.key_id,
        `user:ada,${admin.actor.key_id}`,
        'user:nobody',
        'ses_1',
      ],
      target: [agent, `${agent},${s.workspace_id}`, 'agt_nobody'],
      from: [audit[4].created_at, '2026-11-21', '2026-11-22'],
      to: [audit[4].created_at, '2026-11-21', '2026-11-20'],
    };
    const holds: Record<string, (record: Shown, value: string) => boolean> = {
      action: (record, value) => value.split(',').includes(record.action),
      actor: ({ actor }, value) =>
        value.split(',').some((one) => [actor.key_id, actor.session_id, actor.principal_id].includes(one)),
      target: (record, value) => value.split(',').includes(record.target.id),
      from: (record, value) => Date.parse(record.created_at) >= Date.parse(value),
      to: (record, value) =>
        Date.parse(record.created_at) < Date.parse(value) + (value.length === 10 ? 86_400_000 : 0),
    };
    const asked: Record<string, string>[] = Object.entries(values).flatMap(([name, of]) =>
      of.map((value) => ({ [name]: value })),
    );
    for (let i = 0; i < 32; i++) {
      asked.push(
        Object.fromEntries(
          Object.entries(values)
            .filter((_, place) => (i >> place) % 2 === 1)
            .map(([name, of]) => [name, of[i % of.length] as string]),
        ),
      );
    }
    for (const filters of asked) {
      const expected = audit.filter((record) =>
        Object.entries(filters).every(([name, value]) => holds[name]?.(record, value)),
      );
      const query = new URLSearchParams(filters);
      expect([filters, await walk(`/v1/audit?${query}`, { limit: 3 })]).toEqual([filters, expected]);
      const csv = await s.call('GET', `/v1/audit?${query}`, { headers: { accept: 'text/csv' } });
      const ids = csv.text
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0]);
      expect([filters, ids]).toEqual([filters, expected.map(({ id }) => id)]);
    }
    expect(audit.filter((record) => holds.actor?.(record, 'user:ada')).length).toBeGreaterThan(1);
  });

  test('a person is found by the id of their account, whatever principal they act as', async () => {
    await s.sql(
      `insert into members (workspace_id, user_id, role, principal_id, joined_at) values ($1, 'usr_1', 'admin', 'user:ada', now())`,
      [s.workspace_id],
    );
    const by_principal = (await get('/v1/audit?actor=user:ada')).data;
    expect((await get('/v1/audit?actor=usr_1')).data).toEqual(by_principal);
    await s.sql(`delete from members where user_id = 'usr_1'`);
    expect((await get('/v1/audit?actor=usr_1')).data).toEqual([]);
  });

  test('the CSV is all of the list, or a page where one is asked for, with no cell that a spreadsheet would run', async () => {
    await s.call('POST', '/v1/api-keys', { body: { name: '=1+1', scopes: ['read'] } });
    const csv = (query: string) => s.call('GET', `/v1/audit${query}`, { headers: { accept: 'text/csv' } });
    const whole = await csv('');
    expect(whole.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-ws_\w+\.csv"$/);
    expect(whole.text.split('\n')[0]).toBe(
      'id,created_at,action,actor_type,key_id,session_id,principal_id,target_type,target_id,changes,request_id,client_address',
    );
    expect(whole.text.split('\n')).toHaveLength(audit.length + 3);
    expect(whole.text).not.toMatch(/(^|,)[=+@-]/m);
    expect((await csv('?limit=2')).text.split('\n')).toHaveLength(4);
  });

  test.each([
    ['action', 'agent.gone'],
    ['actor', 'a b'],
    ['target', 'agent'],
    ['from', 'x'],
    ['to', ''],
  ])('%s=%s is refused by its name', async (name, value) => {
    const reply = await s.call('GET', `/v1/audit?${new URLSearchParams({ [name]: value })}`);
    expect([...refusal(reply), fieldOf(reply)]).toEqual([400, 'invalid_request', name]);
  });
});

test('exports whose readers go away give back what they held, and the next one is whole', async () => {
  const { port } = new URL(s.url);
  for (const path of [
    '/v1/decisions/export?format=jsonl',
    '/v1/decisions/export?format=csv',
    '/v1/audit',
    '/v1/ledger/events',
  ]) {
    for (let i = 0; i < 24; i++) {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\nx-api-key: ${s.admin_key}\r\n\r\n`,
      );
      // Some go before anything came, some with the first bytes.
      if (i % 2 === 0) await once(socket, 'data');
      socket.destroy();
    }
  }
  const whole = await s.call('GET', '/v1/decisions/export?format=jsonl');
  expect(whole.text.split('\n')).toHaveLength(13);
  await until(async () => {
    const metrics = await (await fetch(`${s.url}/metrics`)).text();
    const in_use = metrics.split('\n').filter((line) => /in_use\{.*"exports"/.test(line));
    expect(in_use).toHaveLength(1);
    return in_use[0]?.endsWith(' 0') === true;
  });
});
