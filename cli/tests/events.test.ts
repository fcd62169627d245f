import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENT_TYPES } from '@purser/contract/values/webhooks';
import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { webhooks } from '@purser/sdk';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { takesMinutes, until } from '../../server/tests/support/until.ts';
import { programTest } from './world.ts';

takesMinutes(5);

const { test, s, start, run, makeAgent, decide } = programTest();

async function receiver() {
  const got: { headers: Headers; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({ headers: new Headers(request.headers as Record<string, string>), body });
    response.statusCode = request.url === '/no' ? 500 : 204;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { got, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
const PURSER_WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test.each(WEBHOOK_EVENT_TYPES)('trigger %s sends a signed sample', async (type) => {
  const { got, server, url } = await receiver();
  try {
    const env = { PURSER_WEBHOOK_SECRET, PURSER_API_KEY: '' };
    expect((await run(['trigger', type, '--forward-to', url], { env })).code).toBe(0);
    const event = await webhooks.unwrap(
      got[0]?.body as string,
      got[0]?.headers as Headers,
      PURSER_WEBHOOK_SECRET,
    );
    expect(event.type).toBe(type);
    // What concerns no decision names none.
    if ('decision_id' in event.data) expect(event.data.decision_id).toMatch(/^dec_/);
    expect(got[0]?.body).not.toContain('"token"');
    const isDocumented = new Ajv({ strict: false, validateFormats: false }).compile(
      WEBHOOK_EVENTS[type].body,
    );
    isDocumented(event);
    expect(isDocumented.errors).toBeNull();
  } finally {
    server.close();
  }
});

test('trigger tells a receiver that refuses', async () => {
  const { server, url } = await receiver();
  const refused = await run(['trigger', 'decision.created', '--forward-to', `${url}/no`]);
  expect([refused.code, refused.out]).toEqual([2, expect.stringMatching(/→ 500\n$/)]);
  expect(refused.err).toMatch(/^Signed with whsec_/);
  server.close();
});

test('listen hands on what happens from now on; without an endpoint it says why there is nothing', async () => {
  const listen = (url: string) => ['listen', '--forward-to', url];
  expect(await run([...listen('http://127.0.0.1:1'), '--no-follow'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no webhook endpoint'),
  });
  await s.call('POST', '/v1/webhooks', { body: { url: 'https://receiver.invalid/events' } });
  const agent = await makeAgent();
  await decide(agent, 1_000);
  const { got, server, url } = await receiver();
  const { child, told, ended } = start(listen(url), { env: { PURSER_WEBHOOK_SECRET } });
  try {
    // The first that is handed on shows that it listens; what was before it is left out.
    await until(async () => {
      if (got.length === 0) await decide(agent, 1_100);
      return got.length > 0;
    }, 200);
    const event = await webhooks.unwrap(
      got[0]?.body as string,
      got[0]?.headers as Headers,
      PURSER_WEBHOOK_SECRET,
    );
    expect(event).toMatchObject({ type: 'decision.created', data: { requested_amount_minor: 1_100 } });
    await until(() => told.out.includes('→ 204'));
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  } finally {
    child.kill('SIGKILL');
    server.close();
  }
});
