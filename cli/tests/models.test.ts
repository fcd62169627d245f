import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { makeKey, spend } from '../../server/tests/support/running-service.ts';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { AUTHORITY, lines, programTest } from './world.ts';

takesMinutes(5);

const { test, s, run, makeAgent } = programTest();

const LEASE = { type: 'model_usage', merchant: 'OpenAI', payee_id: 'model:openai' };
async function lease(agent: string, amount_minor: number): Promise<string> {
  const reply = await s.call('POST', '/v1/decisions', {
    idempotency_key: `lease-${agent}-${amount_minor}`,
    body: spend(agent, amount_minor, { action: LEASE, context: { lease: { gateway: 'gw_1' } } }),
  });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.decision_id;
}

test('models leases lists those that are open, oldest first, and settle ends one of a lost gateway', async () => {
  const agent = await makeAgent({ authority: { ...AUTHORITY, model_usage: {} } });
  const ids = [await lease(agent, 300), await lease(agent, 200)] as const;
  await s.call('POST', '/v1/decisions', { idempotency_key: 'no-lease', body: spend(agent, 100) });
  const listed = await run(['models', 'leases']);
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(lines(listed.out).map((line) => line.split('  ').slice(0, 5))).toEqual([
    [ids[0], 'EUR 3.00', agent, 'OpenAI', 'gw_1'],
    [ids[1], 'EUR 2.00', agent, 'OpenAI', 'gw_1'],
  ]);
  const adapter = { env: { PURSER_API_KEY: (await makeKey(s, { scopes: ['consume'] })).key } };
  const settle = ['models', 'settle', ids[0], '--spent', '0.431', '--currency', 'EUR'];
  const early = await run(settle, adapter);
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('--gateway-is-gone')]);
  const dollars = await run(['models', 'settle', ids[0], '--spent', '0.431', '--gateway-is-gone'], adapter);
  expect([dollars.code, dollars.err]).toEqual([1, expect.stringContaining('EUR')]);
  expect(await run([...settle, '--gateway-is-gone'], adapter)).toMatchObject({
    code: 0,
    out: `${ids[0]} counts EUR 0.44 from now on.\n`,
  });
  const more = ['models', 'settle', ids[0], '--spent', '0.50', '--currency', 'EUR', '--gateway-is-gone'];
  expect((await run(more, adapter)).out).toBe(`${ids[0]} counts EUR 0.50 from now on.\n`);
  expect((await run([...settle, '--gateway-is-gone'], adapter)).out).toContain('EUR 0.44 before');
  const nothing = ['models', 'settle', ids[1], '--spent', '0', '--currency', 'EUR', '--gateway-is-gone'];
  expect(await run(nothing, adapter)).toMatchObject({
    code: 0,
    out: `${ids[1]} counts EUR 0.00 from now on.\n`,
  });
  const { body } = await s.call('GET', `/v1/decisions/${ids[0]}`);
  expect([body.reservation.amount_minor, body.verified]).toEqual([50, true]);
  expect(await run(['models', 'leases'])).toMatchObject({ code: 0, out: 'No open leases.\n' });
  const wrong = await run(['models', 'settle', ids[0], '--spent', '1e3', '--gateway-is-gone'], adapter);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('--spent')]);
});

test('models prices shows the table of a gateway with its sources, and says where it looked', async () => {
  const table = {
    hash: 'sha256:00',
    models: [
      {
        provider: 'openai',
        model: 'gpt-5-mini',
        currency: 'USD',
        per_million: { input: '0.25', cached_input: '0.025', output: '2' },
        from: 'built-in',
        source: 'https://openai.com/api/pricing',
        as_of: '2026-11-20',
      },
    ],
    rates: [{ from: 'USD', to: 'EUR', rate: '0.93', source: 'our bank', as_of: '2026-11-20' }],
  };
  const gateway = createServer((request, response) => {
    response.writeHead(request.url === '/gateway/prices' ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(table));
  });
  await new Promise<void>((listening) => gateway.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const prices = (...more: string[]) =>
    run(['models', 'prices', '--gateway', address, ...more], { env: { PURSER_API_KEY: '' } });
  expect(lines((await prices()).out)).toEqual([
    'openai  gpt-5-mini   USD  input 0.25, cached 0.025, cache write 0.25, output 2',
    '  built-in, as of 2026-11-20: https://openai.com/api/pricing',
    'Per million tokens. sha256:00',
  ]);
  expect(JSON.parse((await prices('--json')).out)).toEqual(table);
  await new Promise((closed) => gateway.close(closed));
  expect(await prices()).toMatchObject({ code: 1, err: expect.stringContaining(address) });
});
