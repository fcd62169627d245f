import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { AUTHORITY, lines, programTest } from './world.ts';

takesMinutes(5);

const { test, s, run, pathOf, makeAgent, decide } = programTest();

test('pull, edit, diff, apply, and nothing differs any more; comments stay', async () => {
  const agent = await makeAgent();
  await decide(agent, 5_440);
  await decide(agent, 25_000);
  const file = pathOf(`${agent}.yaml`);
  expect(await run(['authority', 'pull', agent, '-f', file])).toMatchObject({ code: 0, err: '' });
  const pulled = await readFile(file, 'utf8');
  expect(parse(pulled)).toMatchObject({
    agent,
    authority: AUTHORITY,
    base: expect.stringMatching(/^sha256:/),
  });
  const [, page = ''] = /^# Fields: (\S+)$/m.exec(pulled) ?? [];
  expect(await (await fetch(page)).text(), 'the reader of the file can open its reference').toContain(
    'per_transaction_limit_minor',
  );
  expect(await run(['authority', 'diff', '-f', file])).toMatchObject({
    code: 0,
    out: `${agent}: no changes against version 1.\n`,
  });
  expect((await run(['authority', 'pull', agent, '-f', file])).err).toContain('--force');

  const edited = pulled
    .replace('per_transaction_limit_minor: 20000', 'per_transaction_limit_minor: 30000 # for the new servers')
    .replace('review_threshold_minor: 8000', 'review_threshold_minor: 5000')
    .replace('Evil Corporation', 'Casino');
  await writeFile(file, edited);
  const differs = await run(['authority', 'diff', '-f', file]);
  expect(differs.code).toBe(2);
  for (const line of [
    '  Per-transaction limit: EUR 200.00 → EUR 300.00 (widens)',
    '  Review threshold: EUR 80.00 → EUR 50.00',
    '  Blocked merchants: added Casino',
    '  Blocked merchants: removed Evil Corporation (widens)',
    'Last 2 decisions:',
    '  1 ALLOW → REVIEW (EUR 54.40)',
    '  1 DENY → REVIEW (EUR 250.00)',
  ])
    expect(lines(differs.out)).toContain(line.trimEnd());

  expect(await run(['authority', 'apply', '-f', file])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--yes'),
  });
  expect((await s.call('GET', `/v1/agents/${agent}/authority`)).body.version).toBe(1);
  const applied = await run(['authority', 'apply', '-f', file, '--yes', '--note', 'New servers']);
  expect([applied.code, lines(applied.out).at(-1)]).toEqual([0, `${agent}: version 2 is now in effect.`]);
  const { body } = await s.call('GET', `/v1/agents/${agent}/authority`);
  expect([body.note, body.authority.blocked_merchants]).toEqual(['New servers', ['Casino']]);
  const kept = await readFile(file, 'utf8');
  expect(kept).toContain('# for the new servers');
  expect(parse(kept).base).toBe(body.hash);
  expect((await run(['authority', 'apply', '-f', file, '--yes'])).out).toContain(
    'no changes against version 2',
  );
});

test('a file that was based on another version is not applied', async () => {
  const agent = await makeAgent();
  const file = pathOf(`${agent}.yaml`);
  await run(['authority', 'pull', agent, '-f', file]);
  await s.call('POST', `/v1/agents/${agent}/authority`, { body: { ...AUTHORITY, currency: 'USD' } });
  expect((await run(['authority', 'diff', '-f', file])).out).toContain('based on another version');
  const { code, err } = await run(['authority', 'apply', '-f', file, '--yes']);
  expect([code, err]).toEqual([1, expect.stringContaining('(authority_changed)')]);
  expect((await s.call('GET', `/v1/agents/${agent}/authority`)).body.version).toBe(2);
});

test('a first authority, as data', async () => {
  const agent = await makeAgent({ authority: undefined });
  const file = pathOf(`${agent}.json`);
  await writeFile(file, JSON.stringify({ agent, authority: AUTHORITY }));
  const told = JSON.parse((await run(['authority', 'diff', '-f', file, '--json'])).out);
  expect(told).toMatchObject({ agent, version: null, simulation: { saved: false } });
  expect(told.changes).toContainEqual(expect.objectContaining({ field: 'purpose.objective', widens: 'yes' }));
  const made = JSON.parse((await run(['authority', 'apply', '-f', file, '--yes', '--json'])).out);
  expect(made).toMatchObject({ agent, version: 1 });
  expect(JSON.parse((await run(['authority', 'pull', agent, '--json'])).out)).toMatchObject({
    base: made.hash,
  });
});

test('tests hold a file against decisions that were made', async () => {
  const agent = await makeAgent();
  const [small, large] = [await decide(agent, 5_440), await decide(agent, 25_000)];
  const file = pathOf(`${agent}.json`);
  const write = (expect: string) =>
    writeFile(
      file,
      JSON.stringify({
        agent,
        authority: { ...AUTHORITY, per_transaction_limit_minor: 30_000 },
        tests: [
          { decision: small.decision_id, expect: 'ALLOW' },
          { decision: large.decision_id, expect, reason: 'REVIEW_THRESHOLD_EXCEEDED' },
        ],
      }),
    );
  await write('REVIEW');
  expect(await run(['authority', 'test', '-f', file])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/2 passed, 0 failed\n$/),
  });
  await write('DENY');
  const failed = await run(['authority', 'test', '-f', file]);
  expect([failed.code, failed.out]).toEqual([
    2,
    expect.stringMatching(
      /FAIL {2}dec_\w+ {2}expected DENY REVIEW_THRESHOLD_EXCEEDED, got REVIEW REVIEW_THRESHOLD_EXCEEDED\n1 passed, 1 failed/,
    ),
  ]);
  expect(JSON.parse((await run(['authority', 'test', '-f', file, '--json'])).out)).toMatchObject({
    passed: 1,
    failed: 1,
  });
});

test('tests hold the files of a directory against spends that are thought up', async () => {
  const policies = pathOf('policies');
  await mkdir(policies);
  const action = { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 25_000, currency: 'EUR' };
  const step = (expect: object) => ({ at: '2026-11-21T08:30:00Z', decide: { action }, expect });
  const write = (name: string, body: object) => writeFile(join(policies, name), JSON.stringify(body));
  await write('a.json', {
    authority: AUTHORITY,
    steps: [
      step({ decision: 'DENY', reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED' }),
      { at: '2026-11-21T08:30:00Z', decide: { action } },
    ],
  });
  await write('b.json', { agent: 'nobody-yet', authority: AUTHORITY });
  const { code, out } = await run(['authority', 'test', policies]);
  expect([code, lines(out)]).toEqual([
    0,
    [
      `${policies}/a.json:`,
      'ok    steps[0]  DENY PER_TRANSACTION_LIMIT_EXCEEDED',
      `${policies}/b.json: no tests`,
      '1 passed, 0 failed',
    ],
  ]);
  await write('c.json', { authority: AUTHORITY, mode: 'SHADOW', steps: [step({ decision: 'ALLOW' })] });
  const failed = await run(['authority', 'test', policies, '--json']);
  expect(failed.code).toBe(2);
  expect(JSON.parse(failed.out)).toMatchObject({
    passed: 1,
    failed: 1,
    files: [
      { results: [{ ok: true }] },
      { results: [] },
      { results: [{ of: 'steps[0]', expect: 'decision ALLOW', got: 'decision DENY', ok: false }] },
    ],
  });
  await write('d.json', { authority: AUTHORITY, steps: [step({ decision: 'PERHAPS' })] });
  const refused = await run(['authority', 'test', policies]);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`${policies}/d.json: steps[0].expect.decision: must be`),
  ]);
  expect((await run(['authority', 'test'])).code).toBe(1);
  expect((await run(['authority', 'test', '-f', join(policies, 'b.json')])).err).toContain('nothing to test');
  expect((await run(['authority', 'test', join(policies, 'none')])).err).toContain('cannot be read (ENOENT)');
});

test.each([
  ['a field that there is none of', 'agent: a\nauthority: {}\nlimits: 1\n', 'limits is not a known field'],
  ['no agent', 'authority: {}\n', 'agent must be'],
  ['no YAML', 'agent: [\n', 'file.yaml: '],
  ['the same field twice', 'agent: a\nagent: b\nauthority: {}\n', 'file.yaml: '],
  [
    'an odd case',
    'agent: a\nauthority: {}\ntests: [{ decision: x, expect: ALLOW }]\n',
    'tests[0].decision must be',
  ],
  ['an agent that is not there', 'agent: nobody\nauthority: { currency: EUR }\n', 'No such agent: nobody'],
])('%s is told with file and field', async (_name, text, words) => {
  const file = pathOf('file.yaml');
  await writeFile(file, text);
  const { code, err } = await run(['authority', 'diff', '-f', file]);
  expect([code, lines(err).length]).toEqual([1, 1]);
  expect(err).toContain(words);
});

test('a mistyped limit is refused by the service in its words', async () => {
  const agent = await makeAgent();
  const file = pathOf('file.yaml');
  await writeFile(file, JSON.stringify({ agent, authority: { ...AUTHORITY, monthly_budjet_minor: 5 } }));
  expect(await run(['authority', 'diff', '-f', file])).toMatchObject({
    code: 1,
    err: expect.stringContaining('monthly_budjet_minor: is not a known field'),
  });
});
