import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';
import { until } from '../support/until.ts';
import { makeSender } from './sender.ts';

const { test, s, get, post, walk, makeAgent, keyWith } = serviceTest({ plan: 'enterprise' });
const { send, importFile, linesOf } = makeSender(s);

const FIXTURES = new URL('./fixtures/', import.meta.url);
// biome-ignore lint/suspicious/noExplicitAny: expectations of every shape.
const EXPECTED = JSON.parse(readFileSync(new URL('expected.json', FIXTURES), 'utf8')) as Record<string, any>;
const MAPPING = EXPECTED['ramp.csv'].mapping;
const HEADER = readFileSync(new URL('ramp.csv', FIXTURES), 'utf8').split('\n', 1)[0] as string;
const row = (id: string, amount = '29.00', merchant = 'Superhuman') =>
  `05/11/26,2026-05-11 22:18:02,${amount},${merchant},SUPERHUMAN,4034,${id},,SaaS`;
const csv = (...rows: string[]) => `${[HEADER, ...rows].join('\n')}\n`;

describe('a file', () => {
  test('sent again takes nothing twice, and counts as the first time', async () => {
    const file = { feed: 'again', mapping: MAPPING, body: csv(row('a'), row('b'), row('a')) };
    const first = await importFile(file);
    expect(first.lines).toMatchObject({ read: 3, taken: 2, present: 1 });
    const again = await send(first.id, file.body, 'text/csv');
    expect(again.body).toMatchObject({ status: 'DONE', lines: first.lines });
    const other = await importFile(file);
    expect(other.lines).toMatchObject({ read: 3, taken: 0, present: 3 });
  });

  test('says in its metric what became of each line', async () => {
    const counted = async () => {
      const { text } = await s.call('GET', '/metrics', { key: null });
      return ['taken', 'present', 'skipped', 'bad'].map((result) =>
        Number(new RegExp(`purser_import_lines_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0),
      );
    };
    const before = await counted();
    const body = csv(row('m'), row('n'), row('m'), row('o', '0.00'), row('p', 'abc'));
    await importFile({ feed: 'metric', mapping: MAPPING, body });
    const more = [2, 1, 1, 1];
    // The text is made at most once a second.
    await until(async () => {
      const now = await counted();
      return more.every((count, i) => now[i] === (before[i] ?? 0) + count);
    });
  });

  test('without ids keeps equal rows apart, and overlaps give their union', async () => {
    const { external_reference, ...columns } = MAPPING.columns;
    const mapping = { ...MAPPING, columns };
    const coffee = row('');
    const feed = 'coffee';
    const first = await importFile({ feed, mapping, body: csv(coffee, coffee) });
    expect(first.lines).toMatchObject({ taken: 2, present: 0 });
    const second = await importFile({ feed, mapping, body: csv(coffee, coffee, coffee, row('', '4.10')) });
    expect(second.lines).toMatchObject({ taken: 2, present: 2 });
  });

  test('with bad lines keeps the good ones, and names each bad one', async () => {
    const body = csv(
      row('1'),
      row('2', 'abc'),
      row('3', '1.234'),
      row('4', '0.00'),
      row('5', '5.00', ''),
      '05/11/26,2026-05-11 22:18:02,"29.00,Open,SUPERHUMAN,4034,6,,SaaS',
      'too,few',
      row('7').replace('2026-05-11 22', '2026-13-11 22'),
      row('8').replace('2026-05-11', '2096-05-11'),
      row('9', '5.00', 'x'.repeat(70_000)),
      row('1', '30.00'),
      row('10'),
    );
    const done = await importFile({ feed: 'bad', mapping: MAPPING, body });
    expect(done.lines).toEqual({ read: 12, taken: 2, present: 0, skipped: 1, bad: 9 });
    const problems = await walk(`/v1/imports/${done.id}/problems`);
    expect(problems.map(({ line_number, code }) => [line_number, code])).toEqual([
      [3, 'AMOUNT'],
      [4, 'PRECISION'],
      [6, 'MERCHANT'],
      [7, 'QUOTE'],
      [8, 'COLUMNS'],
      [9, 'DATE'],
      [10, 'FUTURE'],
      [11, 'TOO_LONG'],
      [12, 'LINE_CHANGED'],
    ]);
    expect(problems[0]).toMatchObject({ column: 'Amount', text: row('2', 'abc') });
    const table = await s.call('GET', `/v1/imports/${done.id}/problems`, { headers: { accept: 'text/csv' } });
    expect(table.text.split('\n')[0]).toBe(HEADER);
    expect(table.text).toContain(row('2', 'abc'));
  });

  test('is given up after a thousand bad lines, and what it had stays', async () => {
    const bad = Array.from({ length: 1_200 }, (_, i) => row(`bad${i}`, 'x'));
    const done = await importFile({ feed: 'hopeless', mapping: MAPPING, body: csv(row('good'), ...bad) });
    expect(done).toMatchObject({ status: 'FAILED', failure: { code: 'too_many_problems' } });
    expect(done.lines).toMatchObject({ taken: 1, bad: 1_000 });
    expect(await linesOf(done.id)).toHaveLength(1);
  });

  test('masks card numbers wherever they stand', async () => {
    const numbered = row('4111 1111 1111 1111', '29.00', 'Shop 4111-1111-1111-1111').replace(
      '4034',
      '4111111111111111',
    );
    const done = await importFile({
      feed: 'cards',
      mapping: MAPPING,
      body: csv(numbered, row('x', 'no 4111111111111111')),
    });
    const [line] = await linesOf(done.id);
    expect(line).toMatchObject({
      merchant: 'Shop ****1111',
      instrument: 'cards:****1111',
      external_reference: '****1111',
    });
    for (const table of ['lines', 'import_problems', 'imports']) {
      const stored = await s.sql(`select * from ${table}`);
      expect(JSON.stringify(stored.rows)).not.toContain('4111111111111111');
    }
  });

  test('with hostile content ends as a failure that says why', async () => {
    const doctype =
      '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x "y">]><Document><BkToCstmrStmt/></Document>';
    for (const [source, content_type, body, code] of [
      ['camt053', 'text/xml', doctype, 'doctype_refused'],
      ['camt053', 'text/xml', '<Document><Ntry>&x;</Ntry></Document>', 'unreadable'],
      ['camt053', 'text/xml', '<a/>', 'unreadable'],
      ['camt053', 'text/xml', '<a>'.repeat(100), 'unreadable'],
      ['lithic', 'application/json', '['.repeat(100), 'unreadable'],
      ['lithic', 'application/json', '{"data":[', 'unreadable'],
      ['csv', 'text/csv', 'Other,Columns\n1,2\n', 'header_not_found'],
      ['csv', 'text/csv', '\n', 'header_not_found'],
      ['csv', 'text/csv', `${HEADER},Amount\n`, 'column_repeated'],
      [
        'openai_costs',
        'text/csv',
        'start_time_iso,amount_value,project_id,amount_value\n',
        'column_repeated',
      ],
    ] as const) {
      const mapping = source === 'csv' ? MAPPING : null;
      const done = await importFile({ source, content_type, mapping, body });
      expect([body.slice(0, 20), done.status, done.failure?.code]).toEqual([
        body.slice(0, 20),
        'FAILED',
        code,
      ]);
    }
  });

  test('that is too long, or of another type, is refused', async () => {
    const bounded = await post('/v1/imports', { file_name: 'x', source: 'lithic', bytes: 64 * 1_048_576 });
    expect(bounded.bytes).toBe(67_108_864);
    const over = { file_name: 'x', source: 'lithic', bytes: 67_108_865 };
    const refused = await s.call('POST', '/v1/imports', { body: over });
    expect([refused.status, refused.body.error.message]).toEqual([400, 'bytes: must be at most 67108864']);
    const { id } = await post('/v1/imports', { file_name: 'x', source: 'lithic' });
    expect((await send(id, 'a,b', 'text/csv')).status).toBe(400);
    expect((await send(id, '{}', 'text/plain')).body.error.message).toContain('content-type');
  });

  test('is not read twice at once', async () => {
    const { id } = await post('/v1/imports', { file_name: 'x', source: 'lines' });
    await s.sql(
      `update import_progress set status = 'READING', run_id = 'other', alive_until = now() + interval '1 hour' where import_id = $1`,
      [id],
    );
    const refused = await send(id, '{}', 'application/x-ndjson');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'import_in_progress']);
    await s.sql(`update import_progress set alive_until = now() - interval '1 second' where import_id = $1`, [
      id,
    ]);
    expect(await get(`/v1/imports/${id}`)).toMatchObject({ status: 'INTERRUPTED' });
    expect((await send(id, '', 'application/x-ndjson')).status).toBe(400);
    expect((await send(id, '\n', 'application/x-ndjson')).body.status).toBe('DONE');
  });

  test('that breaks off stays interrupted, and is whole when it is sent again', async () => {
    const rows = Array.from({ length: 1_500 }, (_, i) => row(`r${i}`));
    const body = csv(...rows);
    const { id } = await post('/v1/imports', {
      file_name: 'x',
      source: 'csv',
      feed: 'cut',
      mapping: MAPPING,
      bytes: body.length,
    });
    const cut = await send(id, body.slice(0, 100_000), 'text/csv');
    expect(cut.body).toMatchObject({ status: 'INTERRUPTED' });
    expect(cut.body.lines.taken).toBeGreaterThan(500);
    const whole = await send(id, body, 'text/csv');
    expect(whole.body).toMatchObject({ status: 'DONE', lines: { read: 1_500, taken: 1_500, present: 0 } });
  });
});

describe('an import', () => {
  test('of csv needs a mapping in which nothing is open', async () => {
    const refusal = async (body: object) => {
      const reply = await s.call('POST', '/v1/imports', { body: { file_name: 'x', source: 'csv', ...body } });
      return [reply.status, reply.body.error.message];
    };
    expect(await refusal({})).toEqual([400, expect.stringContaining('mapping')]);
    for (const field of ['date_format', 'decimal', 'spend_sign', 'currency'])
      expect(await refusal({ mapping: { ...MAPPING, [field]: null } })).toEqual([
        400,
        expect.stringContaining(`mapping.${field}`),
      ]);
    expect(await refusal({ feed: 'stripe_issuing', mapping: MAPPING })).toEqual([
      400,
      expect.stringContaining('feed'),
    ]);
  });

  test('of csv leaves nothing open because of some lines that cannot be read', async () => {
    const detect = async (...rows: string[]) =>
      (
        await s.call('POST', '/v1/imports/detect', {
          raw: `Approved Date,Supplier,Amount,Currency\n${rows.map((each) => `${each}\n`).join('')}`,
          headers: { 'content-type': 'text/csv' },
        })
      ).body;
    const good = ['12/20/2017 10:15:20,Acme,2860,USD', '12/15/2017 07:50:02,Acme,4141.5,USD'];
    const bad = ['12/13/2017 07:50:02,Acme,37.130000000000003,USD', 'unknown,Acme,n/a,USD'];
    expect(await detect(...good, ...bad, '12/11/2017 07:50:02,Acme,1.10,USD')).toMatchObject({
      needs: [],
      mapping: {
        date_format: 'MM/DD/YYYY HH:mm:ss',
        decimal: '.',
        columns: { occurred_at: 'Approved Date' },
      },
    });
    expect((await detect('unknown,Acme,n/a,USD', 'unknown,Acme,n/a,USD', ...good.slice(0, 1))).needs).toEqual(
      ['date_format', 'decimal'],
    );
  });

  test('finds a confirmed mapping again by its header', async () => {
    const header = HEADER.replace('Memo', 'Our memo');
    const columns = { ...MAPPING.columns, description: 'Our memo' };
    const body = `${[header, row('a')].join('\n')}\n`;
    const made = await importFile({ feed: 'found', mapping: { ...MAPPING, columns }, body });
    const found = await s.call('POST', '/v1/imports/detect', {
      raw: body,
      headers: { 'content-type': 'text/csv' },
    });
    expect(found.body).toMatchObject({
      source: 'csv',
      feed: 'found',
      found_in: made.id,
      needs: [],
      mapping: { columns },
    });
    const from = await post('/v1/imports', {
      file_name: 'x',
      source: 'csv',
      feed: 'found',
      mapping_from: made.id,
    });
    expect(from.mapping).toEqual(made.mapping);
  });

  test('that is deleted leaves nothing but its traces in the ledger, and its lines can be taken again', async () => {
    const file = { feed: 'deleted', mapping: MAPPING, body: csv(row('1'), row('2', 'x')) };
    const done = await importFile(file);
    const [line] = await linesOf(done.id);
    expect((await s.call('DELETE', `/v1/imports/${done.id}`)).status).toBe(204);
    for (const path of [
      `/v1/imports/${done.id}`,
      `/v1/imports/${done.id}/problems`,
      `/v1/lines/${line.line_id}`,
    ])
      expect((await s.call('GET', path)).status).toBe(404);
    for (const table of ['lines', 'imports', 'import_progress', 'import_problems'])
      expect((await s.sql(`select from ${table} where import_id = $1`, [done.id])).rowCount).toBe(0);
    expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
    expect((await importFile(file)).lines).toMatchObject({ taken: 1 });
    expect((await s.call('DELETE', `/v1/imports/${done.id}`)).status).toBe(404);
  });
});

describe('lines', () => {
  test('are found by each filter', async () => {
    const agent = await makeAgent();
    const done = await importFile({
      feed: 'filters',
      mapping: MAPPING,
      agent,
      body: csv(row('1', '10.00', 'Alpha'), row('2', '-20.00', 'Beta 50%'), row('3', '30.00', 'Gamma')),
    });
    const found = async (query: string) =>
      (await walk(`/v1/lines?import=${done.id}&${query}`)).map(({ merchant }) => merchant);
    expect(await found('feed=filters')).toEqual(['Gamma', 'Beta 50%', 'Alpha']);
    expect(await found('kind=REFUND')).toEqual(['Beta 50%']);
    expect(await found('q=50%25')).toEqual(['Beta 50%']);
    expect(await found('q=al')).toEqual(['Alpha']);
    expect(await found('merchant=Gamma')).toEqual(['Gamma']);
    expect(await found('min_amount=1000&max_amount=2000')).toEqual(['Beta 50%', 'Alpha']);
    expect(await found(`agent=${agent}`)).toHaveLength(3);
    expect(await found('agent=none')).toEqual([]);
    expect(await found('instrument=filters:4034')).toHaveLength(3);
    expect(await found('currency=EUR')).toEqual([]);
    expect(await found('from=2026-05-12')).toEqual([]);
    expect(await found('from=2026-05-11&to=2026-05-11')).toHaveLength(3);
  });

  test('belong to the agent that their instrument is assigned to from its time on, or to that of the import', async () => {
    const [one, two] = [await makeAgent(), await makeAgent()];
    const later = row('2').replace('2026-05-11', '2026-06-11');
    const done = await importFile({
      feed: 'assigned',
      mapping: MAPPING,
      agent: one,
      body: csv(row('1'), later),
    });
    const owners = async () => (await linesOf(done.id)).map(({ agent }) => agent?.slug ?? null);
    expect(await owners()).toEqual([one, one]);
    const assign = async (body: object) => {
      const reply = await s.call('PUT', '/v1/instruments/assigned:4034', { body });
      expect(reply.status, reply.text).toBe(200);
      return reply.body;
    };
    expect(await assign({ agent: two, from: '2026-06-01T00:00:00Z' })).toMatchObject({
      instrument: 'assigned:4034',
      agent: { slug: two },
      from: '2026-06-01T00:00:00.000Z',
      lines: 2,
    });
    expect(await owners()).toEqual([one, two]);
    await assign({ agent: two });
    expect(await owners()).toEqual([two, two]);
    await assign({ agent: null });
    expect(await owners()).toEqual([one, one]);
    const all = await walk('/v1/instruments');
    expect(all.find(({ instrument }) => instrument === 'assigned:4034')).toMatchObject({
      agent: null,
      lines: 2,
    });
  });

  test('are no business of an agent key', async () => {
    const agent = await makeAgent();
    const { id } = await get(`/v1/agents/${agent}`);
    const { key } = await post('/v1/api-keys', { name: 'k', agent_id: id });
    for (const path of ['/v1/lines', '/v1/imports', '/v1/instruments'])
      expect((await s.call('GET', path, { key })).status).toBe(403);
    const consume = await keyWith('consume');
    expect((await s.call('GET', '/v1/lines', { key: consume })).status).toBe(403);
  });
});
