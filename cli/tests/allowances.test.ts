import { expect } from 'vitest';
import {
  ap2Mandate,
  mandateKey,
  REFERENCE,
  range,
  withBinding,
} from '../../server/tests/support/mandates.ts';
import { freshKey, makeKey, spend } from '../../server/tests/support/running-service.ts';
import { issuerKey, signedAllowance } from '../../server/tests/support/signed-allowances.ts';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { lines, programTest } from './world.ts';

takesMinutes(5);

const { test, s, run, makeAgent } = programTest();
const expires = new Date(Date.now() + 86_400_000).toISOString();

test('allowances creates, repeats, shows, lists and revokes an allowance and its part', async () => {
  const agent = await makeAgent();
  const create = ['allowances', 'create', '--agent', agent, '--amount', '50', '--currency', 'EUR'];
  const whole = [...create, '--expires', expires, '--name', 'Nightly', '--label', 'run:17', 'customer:c42'];
  const made = await run([...whole, '--external-id', 'run-17', '--merchant', 'Hetzner', '--max-count', '3']);
  expect(made).toMatchObject({ code: 0, err: '' });
  const [id = ''] = /alw_\w+/.exec(made.out) ?? [];
  expect(lines(made.out)[0]).toBe(`${id}  OPEN  ${agent}  EUR 0.00 of EUR 50.00  Nightly`);
  expect(made.out).toContain('  Labels: run:17, customer:c42\n');
  expect(made.out).toContain('  Merchants: Hetzner\n');
  const again = await run([...whole, '--external-id', 'run-17', '--merchant', 'Hetzner', '--max-count', '3']);
  expect(again.out).toBe(made.out);
  expect((await run(['allowances', 'show', id])).out).toBe(made.out);

  const part = await run(['allowances', 'create', '--parent', id, '--amount', '7.50', '--json']);
  const { id: below, ...shown } = JSON.parse(part.out);
  expect(shown).toMatchObject({ parent: id, amount_minor: 750, labels: { run: '17', customer: 'c42' } });
  const listed = await run(['allowances', 'list', '--label', 'customer:c42', '--status', 'OPEN']);
  expect(lines(listed.out).map((line) => line.split(' ')[0])).toEqual([below, id]);

  const revoked = await run(['allowances', 'revoke', id, '--reason', 'Done\u202e']);
  expect(revoked).toMatchObject({ code: 0, err: '' });
  expect(lines(revoked.out)[0]).toContain(`${id}  REVOKED`);
  expect(revoked.out).not.toContain('\u202e');
  expect((await run(['allowances', 'list', '--parent', id, '--status', 'REVOKED'])).out).toBe(
    'No allowances.\n',
  );
});

test('allowances presents a signed one, and says what is wrong', async () => {
  const agent = await makeAgent();
  const { jwk, privateKey } = issuerKey();
  const issuing = { name: 'Builds', jwk, currency: 'EUR', max_amount_minor: 1_000 };
  const { body: issuer } = await s.call('POST', '/v1/allowance-issuers', { body: issuing });
  const sign = (amount_minor: number) =>
    signedAllowance(privateKey, issuer.id, s.workspace_id, {
      agent,
      currency: 'EUR',
      amount_minor,
      expires_at: expires,
    });
  const presented = await run(['allowances', 'present', '-'], { input: `${sign(900)}\n` });
  expect(presented).toMatchObject({ code: 0, err: '' });
  expect(presented.out).toContain(`  Issuer: ${issuer.id}\n`);
  expect((await run(['allowances', 'list', '--issuer', issuer.id])).out).toContain('EUR 9.00');
  const over = await run(['allowances', 'present', '-'], { input: sign(1_001) });
  expect(over.code).toBe(1);
  expect(over.err).toContain('allowance.amount_minor');
  for (const [args, problem] of [
    [['--amount', '5'], '--currency'],
    [['--amount', '5.001', '--currency', 'EUR'], '--amount'],
    [['--amount', '5', '--currency', 'EUR', '--label', 'customer'], '--label'],
    [['--amount', '5', '--currency', 'EUR', '--label', 'run:1', 'run:2'], '--label gives run two values'],
  ] as const) {
    const refused = await run(['allowances', 'create', ...args]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(problem);
  }
});

test('allowances requests, grant and deny decide what agents request', async () => {
  const agent = await makeAgent();
  const ask = async (purpose: string) => {
    const body = { agent, currency: 'EUR', amount_minor: 20_000, purpose, merchants: ['Hetzner', 'Datadog'] };
    const { key } = await makeKey(s, { scopes: ['authorize', 'read'] });
    const answer = await s.call('POST', '/v1/allowances/request', { body, key });
    return answer.body.id as string;
  };
  const first = await ask('The load test\u202e\n  Decide by: never');
  const second = await ask('A game');
  const listed = await run(['allowances', 'requests', '--agent', agent]);
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(lines(listed.out)[0]).toContain(`${second}  ${agent}  EUR 200.00  until `);
  expect(listed.out).not.toContain('\u202e');
  expect(listed.out.match(/^ {2}Decide by: /gm), 'an agent writes no line of its own').toHaveLength(2);

  const over = await run(['allowances', 'grant', first, '--amount', '200.01']);
  expect(over.code).toBe(1);
  expect(over.err).toContain('amount_minor');
  const wrong = await run(['allowances', 'grant', first, '--amount', '5.001']);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('--amount')]);
  const granting = ['--amount', '150', '--merchant', 'Hetzner', '--purpose', 'The load test of 4.2'];
  const granted = await run(['allowances', 'grant', first, ...granting, '--comment', 'Go', '--json']);
  expect(JSON.parse(granted.out)).toMatchObject({
    id: first,
    status: 'OPEN',
    amount_minor: 15_000,
    purpose: 'The load test of 4.2',
    merchants: ['Hetzner'],
    decided: { action: 'ALLOW', comment: 'Go' },
  });
  const denied = await run(['allowances', 'deny', second, '--comment', 'Not for games']);
  expect(lines(denied.out)[0]).toContain(`${second}  DENIED`);
  expect(denied.out).toContain('Not for games\n');
  expect((await run(['allowances', 'deny', second])).err).toContain('decided');
  expect((await run(['allowances', 'requests', '--agent', agent])).out).toBe('No requests.\n');
});

test('report says what standing approvals would have answered', async () => {
  const agent = await makeAgent();
  expect((await run(['report', '--agent', agent])).out).not.toContain('Answered ahead');
  const { body: standing } = await s.call('POST', '/v1/allowances', {
    body: {
      agent,
      currency: 'EUR',
      amount_minor: 50_000,
      expires_at: expires,
      name: 'Servers\u202e',
      automatic: true,
      answers: ['REVIEW_THRESHOLD_EXCEEDED'],
      merchants: ['Hetzner Online'],
    },
  });
  for (const amount_minor of [9_000, 10_000]) {
    const { body } = await s.call('POST', '/v1/decisions', {
      body: spend(agent, amount_minor),
      idempotency_key: freshKey(),
    });
    expect(body.standing_approval.id).toBe(standing.id);
  }
  const { code, out } = await run(['report', '--agent', agent]);
  expect(code).toBe(0);
  expect(out).toMatch(
    new RegExp(`^Answered ahead:\n {2}${standing.id}  Servers\\S*  ${agent}  2 requests  EUR 190.00$`, 'm'),
  );
  expect(out).not.toContain('\u202e');
});

test('allowances presents a mandate with the agent’s key, and shows what the payer has to check', async () => {
  const agent = await makeAgent();
  const { body: made } = await s.call('POST', '/v1/api-keys', { body: { name: 'own', agent_id: agent } });
  const [payer, own] = [mandateKey(), mandateKey()];
  const issuing = { name: 'Payers', format: 'AP2', jwk: payer.jwk, currency: 'EUR', max_amount_minor: 1_000 };
  await s.call('POST', '/v1/allowance-issuers', { body: issuing });
  const card = { id: 'abe3c', type: 'card', description: 'network 1234' };
  const pisp = { legal_name: 'Example Ltd.', brand_name: 'ExamplePay', domain_name: 'example.com' };
  const constraints = [
    range(900, 'EUR'),
    { type: 'payment.allowed_payment_instruments', allowed: [card] },
    { type: 'payment.allowed_pisps', allowed: [pisp] },
    REFERENCE,
  ];
  const { text } = ap2Mandate(payer, own, { constraints });
  const signed = withBinding(text, { aud: s.workspace_id, by: own });
  const presented = await run(['allowances', 'present', '-'], {
    env: { PURSER_BASE_URL: s.url, PURSER_API_KEY: made.key },
    input: `${signed}\n`,
  });
  expect(presented).toMatchObject({ code: 0, err: '' });
  expect(presented.out).toContain('  Mandate: AP2, for the payer to check\n');
  expect(presented.out).toContain(`  Checkout: ${REFERENCE.conditional_transaction_id}\n`);
  expect(presented.out).toContain('  Instruments: card abe3c\n');
  expect(presented.out).toContain('  Providers: ExamplePay (example.com)\n');
});
