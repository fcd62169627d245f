import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { until } from '../../server/tests/support/until.ts';
import { ask, calling, send } from './support/gateway.ts';
import { gatewayTest } from './support/gateway-test.ts';

const t = gatewayTest({ monthly_budget_minor: 1_000 }, { LEASE_IDLE_SECONDS: '600' });

afterEach(() => void vi.useRealTimers());

/** That an answer came whole, or that it was cut off. */
const endOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'whole',
    () => 'cut off',
  );

test('calls that are open 8 s after the stop are cut off, count at their worst case and are reported', async () => {
  const { gateway, provider, purser } = t;
  const bounded = { max_tokens: 3_000 };
  const whole = endOf(ask(gateway.url, '/v1/chat/completions', calling({ holds: true }, bounded)));
  // Its head does not say that the connection ends. Where it does, clients take a cut for the end of the answer.
  const stream = await send(
    gateway.url,
    '/v1/messages',
    calling({ holds: true }, { ...bounded, stream: true }),
  );
  const streamed = endOf(stream.text());
  await until(() => provider.holding === 2);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const began_ms = Date.now();
  const stopped = gateway.stop();
  await vi.advanceTimersByTimeAsync(7_999);
  const still_open = new Promise((resolve) => setImmediate(() => resolve('open')));
  expect(await Promise.race([whole, streamed, still_open])).toBe('open');
  await vi.advanceTimersByTimeAsync(1);
  expect([await whole, await streamed]).toEqual(['cut off', 'cut off']);
  await stopped;
  expect(Date.now() - began_ms).toBe(8_000);
  vi.useRealTimers();
  // The stream lacked only its end: its usage had arrived.
  const settled = t.records('settle').map(({ purse, uncertain }) => `${purse.split('/')[1]} ${uncertain}`);
  expect(settled.sort()).toEqual(['anthropic false', 'openai true']);
  expect(purser.isSettled()).toBe(true);
  expect(purser.counted()).toBe(5);
  expect(gateway.lines.map((line) => JSON.parse(line).level)).toEqual(['info', 'info']);
  provider.release();
});

test('a call that comes on an open connection during the drain is made whole, and is the last one on it', async () => {
  const { gateway, provider } = t;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = (more: { agent: Agent | false }) => {
    const headers = { authorization: 'Bearer sk_agent', 'content-type': 'application/json' };
    const sent = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, ...more });
    const head = once(sent, 'response');
    const answered = head.then(async ([response]) => ({
      status: response.statusCode,
      connection: response.headers.connection,
      body: await textOf(response),
    }));
    return { sent, head, answered };
  };
  const bodyOf = (wish: object) =>
    JSON.stringify(calling(wish, { max_tokens: 9, stream: true, stream_options: { include_usage: true } }));
  const call = (wish: object) => {
    const { sent, ...answer } = open({ agent });
    sent.end(bodyOf(wish));
    return answer;
  };
  // The drain lasts until this one has sent its body.
  const slow = open({ agent: false });
  slow.sent.flushHeaders();
  const [socket] = await once(slow.sent, 'socket');
  if (socket.connecting) await once(socket, 'connect');
  const first = call({ holds: true, cuts: [9] });
  const second = call({});
  // The head of the first answer cannot say any more that the connection ends.
  await first.head;
  await until(() => provider.holding === 1);
  const stopped = gateway.stop();
  provider.release();
  expect((await first.answered).status).toBe(200);
  expect(await second.answered).toMatchObject({
    status: 200,
    connection: 'close',
    body: provider.calls[1]?.answer,
  });
  slow.sent.end(bodyOf({}));
  expect(await slow.answered).toMatchObject({
    status: 200,
    connection: 'close',
    body: provider.calls[2]?.answer,
  });
  await stopped;
  expect(t.purser.isSettled()).toBe(true);
  agent.destroy();
});
