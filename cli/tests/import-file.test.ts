import { copyFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { programTest } from './world.ts';

takesMinutes(5);

const { test, s, run, makeAgent, pathOf } = programTest();
const FIXTURES = new URL('../../server/tests/history/fixtures/', import.meta.url);

test('import shows the columns, asks, sends the file and names the bad lines', async () => {
  const agent = await makeAgent();
  const file = pathOf('bank.csv');
  const rows = ['Date,Payee,Amount,Currency', '2026-03-02,Hetzner,54.40,EUR', '2026-03-03,Ozols,12.00,EUR'];
  await writeFile(file, `${rows.join('\n')}\n`);
  const asked = await run(['import', file, '--feed', 'bank']);
  expect(asked.code).toBe(1);
  expect(asked.out).toMatch(/occurred_at +Date +2026-03-02/);
  expect(asked.err).toContain('--yes');
  const done = await run(['import', file, '--feed', 'bank', '--agent', agent, '--yes']);
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(done.out).toContain('2 lines: 2 taken, 0 known already, 0 left out, 0 bad');
  expect((await s.call('GET', `/v1/lines?agent=${agent}`)).body.data).toHaveLength(2);

  await writeFile(file, `${[...rows, '2026-03-04,Ozols,x,EUR'].join('\n')}\n`);
  const bad = await run(['import', file, '--yes']);
  expect(bad.code).toBe(2);
  expect(bad.out).toContain('3 lines: 0 taken, 2 known already, 0 left out, 1 bad');
  expect(bad.out).toContain('line 4: AMOUNT: Amount is no amount');
});

test('import says what a file leaves open, and takes it from a mapping', async () => {
  const file = pathOf('open.csv');
  await writeFile(file, 'Date,Payee,Amount\n03/04/2026,Hetzner,54.40\n');
  const open = await run(['import', file, '--yes']);
  expect(open.code).toBe(1);
  expect(open.err).toContain('date_format, currency are open');
  const found = JSON.parse((await run(['import', file, '--json'])).out);
  const mapping = pathOf('mapping.json');
  await writeFile(mapping, JSON.stringify({ ...found.mapping, date_format: 'DD/MM/YYYY', currency: 'EUR' }));
  const done = await run(['import', file, '--mapping', mapping, '--yes', '--json']);
  expect(done.code).toBe(0);
  expect(JSON.parse(done.out)).toMatchObject({ status: 'DONE', lines: { taken: 1 } });

  // The command shows what it would import, not what an earlier import made of this header.
  const other = { ...found.mapping.columns, merchant: undefined, description: 'Payee', category: 'Date' };
  await writeFile(mapping, JSON.stringify({ ...found.mapping, columns: { ...other, merchant: 'Amount' } }));
  const shown = await run(['import', file, '--mapping', mapping, '--feed', 'elsewhere']);
  expect(shown.out).toContain('Source: csv, feed elsewhere');
  expect(shown.out).toMatch(/description +Payee/);
  expect(shown.out).not.toContain('read as in');
  await writeFile(mapping, '{');
  const broken = await run(['import', file, '--mapping', mapping, '--yes']);
  expect(broken).toMatchObject({ code: 1, out: '' });
  expect(broken.err).toMatch(/^purser: .*mapping\.json is no JSON: .+\n$/);
});

test.each([
  ['allowances', 'present'],
  ['review-policy', 'put'],
  ['import', '--yes', '--mapping'],
])('a file that is not there is said to be in one line: %s %s', async (...command) => {
  const missing = pathOf('missing.json');
  const file = command[0] === 'import' ? [pathOf('open.csv')] : [];
  const { code, err } = await run([...command, missing, ...file]);
  expect([code, err]).toEqual([1, `purser: ${missing} cannot be read (ENOENT).\n`]);
});

test('history propose writes a file that authority diff reads and apply puts in force', async () => {
  const agent = await makeAgent();
  const rows = Array.from(
    { length: 40 },
    (_, i) => `2026-03-${String(1 + (i % 28)).padStart(2, '0')},Hetzner Online,${20 + (i % 7)}.00,EUR`,
  );
  const file = pathOf('year.csv');
  await writeFile(file, `Date,Payee,Amount,Currency\n${rows.join('\n')}\n`);
  expect((await run(['import', file, '--feed', 'year', '--agent', agent, '--yes'])).code).toBe(0);
  const policy = pathOf('policy.yaml');
  const proposed = await run(['history', 'propose', agent, '-f', policy]);
  expect(proposed).toMatchObject({ code: 0, err: '' });
  expect(proposed.out).toMatch(/per_transaction_limit_minor: Your largest of 40 purchases was EUR 26\.00/);
  expect((await run(['history', 'propose', agent, '-f', policy])).err).toContain('--force');
  const nowhere = await run(['history', 'propose', agent, '-f', pathOf('nowhere/policy.yaml')]);
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/^purser: ENOENT: [^\n]+\n$/) });
  expect((await run(['authority', 'diff', '-f', policy])).code).toBe(2);
  expect(await run(['authority', 'apply', '-f', policy, '--yes'])).toMatchObject({ code: 0 });
  const { authority } = (await s.call('GET', `/v1/agents/${agent}/authority`)).body;
  expect(authority).toMatchObject({ allowed_merchants: ['Hetzner Online'], currency: 'EUR' });
});

test('import knows the files of vendors, and refuses what is none', async () => {
  for (const name of ['stripe_issuing.json', 'camt053-08.xml', 'lines.ndjson', 'openai_costs.csv']) {
    await copyFile(new URL(name, FIXTURES), pathOf(name));
    expect(await run(['import', pathOf(name), '--yes'])).toMatchObject({ code: 0, err: '' });
  }
  await writeFile(pathOf('no.json'), '{"a": 1}');
  expect((await run(['import', pathOf('no.json'), '--yes'])).code).toBe(1);
  expect((await run(['import', pathOf('missing.csv'), '--yes'])).err).toContain('cannot be read');
});
