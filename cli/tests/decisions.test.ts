import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { makeKey } from '../../server/tests/support/running-service.ts';
import { takesMinutes, until } from '../../server/tests/support/until.ts';
import { AUTHORITY, lines, programTest } from './world.ts';

takesMinutes(5);

const { test, s, start, run, pathOf, makeAgent, decide } = programTest();

test('ask: an agent in SHADOW is asked for, one in ENFORCE only for real; 2 where it is not allowed', async () => {
  const shadow = await makeAgent();
  const enforce = await makeAgent({ mode: 'ENFORCE' });
  const of = (agent: string, amount: string, ...more: string[]) =>
    run([
      'ask',
      '--agent',
      agent,
      '--merchant',
      'Hetzner Online',
      '--amount',
      amount,
      '--currency',
      'EUR',
      '--description',
      'A server for staging',
      ...more,
    ]);
  expect(await of(shadow, '54.40')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ALLOW, EUR 54\.40 {2}\(WITHIN_AUTHORITY\)\n/),
  });
  expect(await of(shadow, '250')).toMatchObject({ code: 2, out: expect.stringMatching(/^DENY/) });
  expect(await of(enforce, '54.40')).toMatchObject({ code: 1, err: expect.stringContaining('--for-real') });
  const named = ['--for-real', '--name', 'order-1', '--json'];
  const [one, two] = [await of(enforce, '54.40', ...named), await of(enforce, '54.40', ...named)];
  expect(JSON.parse(one.out).decision_id).toBe(JSON.parse(two.out).decision_id);
  expect(await of(shadow, '1,5')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--amount must be'),
  });
});

test('simulate tells what a draft would have changed', async () => {
  const agent = await makeAgent();
  await decide(agent, 5_440);
  const file = pathOf(`${agent}.json`);
  await writeFile(
    file,
    JSON.stringify({ agent, authority: { ...AUTHORITY, blocked_merchants: ['Hetzner Online'] } }),
  );
  expect((await run(['simulate', '-f', file, '--limit', '5'])).out).toContain('1 ALLOW → DENY (EUR 54.40)');
  expect(JSON.parse((await run(['simulate', '-f', file, '--json'])).out).evaluated).toBe(1);
});

test('decisions tail shows the newest, then each that is made, and ends with Ctrl-C', async () => {
  const agent = await makeAgent();
  const first = await decide(agent, 1_000);
  const { child, told, ended } = start(['decisions', 'tail', '--agent', agent]);
  await until(() => told.out.includes(first.decision_id));
  const next = await decide(agent, 2_000, 'Bad\u202e Merchant');
  await until(() => told.out.includes(next.decision_id));
  child.kill('SIGINT');
  expect((await ended).code).toBe(0);
  const shown = lines(told.out);
  expect(shown.map((line) => /dec_\w+/.exec(line)?.[0])).toEqual([first.decision_id, next.decision_id]);
  expect(shown[0]).toContain('EUR 10.00  Hetzner Online');
  expect(told.out).not.toContain('\u202e');
  expect(await run(['decisions', 'tail', '--agent', 'nobody'])).toMatchObject({
    code: 1,
    out: '',
    err: 'purser: No such agent. (not_found)\n',
  });
  const data = await run(['decisions', 'tail', '--agent', agent, '--no-follow', '-n', '1', '--json']);
  expect(JSON.parse(data.out).decision_id).toBe(next.decision_id);
});

test('review: walks through what waits, or reviews one; a reviewer’s key is enough', async () => {
  const agent = await makeAgent({ mode: 'ENFORCE' });
  const env = {
    PURSER_API_KEY: (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key,
  };
  const [one, two, three] = [
    await decide(agent, 9_000),
    await decide(agent, 9_100),
    await decide(agent, 9_200),
  ];
  const walked = await run(['review'], { env, input: 's\nn\nnot needed\nq\n' });
  expect(walked.code).toBe(0);
  expect(walked.out).toContain('EUR 90.00 to Hetzner Online');
  const headings = ['What this agent is for', 'Why it waits', 'Limits', 'History with this merchant'];
  const places = [...headings, 'What the agent says'].map((each) => walked.out.indexOf(each));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
  expect(walked.out).toContain('EUR 90.00 is over the review threshold of EUR 80.00.');
  expect(walked.out).toContain('DENY is recorded; in effect: DENY.');
  const stateOf = async (id: string) => (await s.call('GET', `/v1/decisions/${id}`)).body;
  expect((await stateOf(two.decision_id)).review).toMatchObject({
    action: 'DENY',
    comment: 'not needed',
    principal_id: 'user:ada',
  });
  expect((await stateOf(one.decision_id)).review_state).toBe('PENDING');
  const allow = ['review', one.decision_id, '--allow', '--reason', 'WITHIN_TASK'];
  expect((await run(allow, { env })).out).toContain('ALLOW is recorded; in effect: ALLOW.');
  expect(await run(allow, { env })).toMatchObject({
    code: 1,
    err: expect.stringContaining('(review_final)'),
  });
  const listed = lines((await run(['review', '--json'], { env })).out).map(
    (line) => JSON.parse(line).decision_id,
  );
  expect(listed).toContain(three.decision_id);
  for (const { decision_id } of [one, two]) expect(listed).not.toContain(decision_id);
});

test('review: --always and --never list the merchant as well, each for a decision where that is offered', async () => {
  const agent = await makeAgent({
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, on_new_merchant: 'REVIEW', reviewer_may_list: true },
  });
  const env = {
    PURSER_API_KEY: (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bo' })).key,
  };
  const [good, bad] = [await decide(agent, 900, 'Fresh Paper'), await decide(agent, 900, 'Shady Paper')];
  expect((await run(['review', good.decision_id], { env })).out).toContain('--always: ');
  const always = await run(['review', good.decision_id, '--always'], { env });
  expect(always).toMatchObject({ code: 0, out: expect.stringContaining('ALLOW is recorded') });
  const never = await run(['review', bad.decision_id, '--never'], { env });
  expect(never).toMatchObject({ code: 0, out: expect.stringContaining('DENY is recorded') });
  const { data } = (await s.call('GET', `/v1/agents/${agent}/merchants`)).body;
  expect(
    data.map(({ merchant, verdict }: { merchant: string; verdict: string }) => [merchant, verdict]).sort(),
  ).toEqual([
    ['Fresh Paper', 'ALLOWED'],
    ['Shady Paper', 'BLOCKED'],
  ]);
});

test('review: --up-to answers later requests like it ahead, as far as the reviewer may grant', async () => {
  const agent = await makeAgent({
    mode: 'ENFORCE',
    authority: { ...AUTHORITY, review_threshold_minor: 1_000, reviewer_allowance_limit_minor: 50_000 },
  });
  const env = {
    PURSER_API_KEY: (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:bo' })).key,
  };
  const { decision_id } = await decide(agent, 1_900);
  expect((await run(['review', decision_id], { env })).out).toMatch(
    /--up-to: Up to this amount, .* no longer need a review because they are over the review threshold\. You may grant up to EUR 500\.00\./,
  );
  for (const [wrong, message] of [
    [['--deny', '--up-to', '50.00'], 'cannot be used with'],
    [['--period', 'WEEK'], 'go with --up-to'],
    [['--up-to', '50 euros'], '--up-to must be a decimal amount'],
    [['--up-to', '500.01'], 'EUR 500.00'],
  ] as const) {
    const refused = await run(['review', decision_id, ...wrong], { env });
    expect([refused.code === 0, refused.err], wrong.join(' ')).toEqual([
      false,
      expect.stringContaining(message),
    ]);
  }
  const done = await run(['review', decision_id, '--up-to', '500', '--period', 'WEEK'], { env });
  expect(done, done.err).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ALLOW is recorded.* alw_\w+ answers later requests like it until /),
  });
  expect((await decide(agent, 1_900)).decision).toBe('ALLOW');

  const other = await decide(agent, 1_900, 'Fresh Paper');
  const pending = lines((await run(['review', '--json'], { env })).out);
  const earlier = pending.findIndex((line) => JSON.parse(line).decision_id === other.decision_id);
  const walked = await run(['review'], { env, input: `${'s\n'.repeat(earlier)}u\n100\n\nq\n` });
  expect(walked.err + walked.out).toContain('Up to how much a month, in EUR');
  expect((await s.call('GET', `/v1/decisions/${other.decision_id}`)).body.review_state).toBe('ALLOWED');
});

test('inbox: lists what is pending, by any filter, and counts it in groups', async () => {
  const agent = await makeAgent({ mode: 'ENFORCE' });
  const { decision_id } = await decide(agent, 9_000);
  await decide(agent, 9_100);
  const listed = lines((await run(['inbox', '--agent', agent])).out);
  expect(listed).toHaveLength(2);
  expect(listed[0]).toContain(
    `EUR 90.00  Hetzner Online  ${agent}  REVIEW_THRESHOLD_EXCEEDED  ${decision_id}`,
  );
  const groups = lines((await run(['inbox', '--agent', agent, '--group', 'merchant'])).out);
  expect(groups).toEqual(['2 pending  Hetzner Online  EUR 181.00', '2 pending.']);
  expect((await run(['inbox', '--search', 'no such text'])).out).toBe('No pending reviews.\n');
});
