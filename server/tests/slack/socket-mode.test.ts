import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeSlackApi, type SlackApi } from '../../src/service/slack/slack-api.ts';
import { openSlackSocket, type SlackSocket, type SocketTimes } from '../../src/service/slack/socket-mode.ts';
import { type SlackServer, startSlack } from '../support/slack-server.ts';
import { until } from '../support/until.ts';

const TIMES: SocketTimes = { ping_ms: 60_000, pause_ms: 5, max_pause_ms: 20, ack_ms: 2_000, overlap_ms: 50 };

let slack: SlackServer;
let api: SlackApi;
let socket: SlackSocket | null = null;
let taken: unknown[] = [];

beforeEach(async () => {
  slack = await startSlack();
  api = makeSlackApi(slack.url);
  taken = [];
});
afterEach(async () => {
  await socket?.stop();
  socket = null;
  await api.close();
  await slack.stop();
});

const open = (
  onInteraction = async (payload: unknown): Promise<void> => void taken.push(payload),
  times: Partial<SocketTimes> = {},
) => {
  const log = pino({ level: 'silent' });
  socket = openSlackSocket({ api, app_token: 'xapp-1', onInteraction, log, times: { ...TIMES, ...times } });
  return socket;
};
const nth = (i: number) => until(() => slack.connections[i] ?? null);

test('a connection on which nothing comes any more is replaced', async () => {
  open(undefined, { ping_ms: 20 });
  const first = await nth(0);
  first.freeze();
  const newest = () => slack.connections.findLast(({ is_closed }) => !is_closed) ?? null;
  const second = await until(() => (newest() === first ? null : newest()));
  second.send({ n: 1 });
  await until(() => taken.length > 0);
});

test('an envelope is handled once, however often and wherever it comes, and is acknowledged each time', async () => {
  open();
  const first = await nth(0);
  for (let i = 0; i < 3; i++) first.send({ n: 1 }, 'same');
  await until(() => first.acks.length === 3);
  first.disconnect('warning');
  const second = await nth(1);
  second.send({ n: 1 }, 'same');
  await until(() => second.acks.includes('same'));
  expect(taken).toHaveLength(1);
});

test('an envelope is acknowledged in time, also while its review takes longer', async () => {
  let finish = () => {};
  const handled = new Promise<void>((resolve) => {
    finish = resolve;
  });
  open(() => handled, { ack_ms: 10 });
  const first = await nth(0);
  const id = first.send({ n: 1 });
  await until(() => first.acks.includes(id));
  const stopped = socket?.stop();
  socket = null;
  let is_over = false;
  void stopped?.then(() => {
    is_over = true;
  });
  await new Promise((wait) => setTimeout(wait, 20));
  expect(is_over, 'a stop waits for what was received').toBe(false);
  finish();
  await stopped;
});

test('nothing that is not of Slack’s form ends or confuses a connection', async () => {
  open();
  const first = await nth(0);
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '7',
    '{"type":{}}',
    '{"envelope_id":{}}',
    `"${'x'.repeat(70_000)}"`,
  ])
    first.sendText(text);
  first.sendText(JSON.stringify({ envelope_id: 'other', type: 'events_api', payload: { n: 1 } }));
  const id = first.send({ n: 2 });
  await until(() => first.acks.includes(id) && first.acks.includes('other'));
  expect(taken).toEqual([{ n: 2 }]);
  expect(slack.connections).toHaveLength(1);
});

test.each([
  ['what is no URL', { ok: true, url: 7 }],
  ['a host elsewhere without encryption', { ok: true, url: 'ws://slack.example/link' }],
  ['a page', { ok: true, url: 'http://127.0.0.1:1/' }],
  ['a refusal', { ok: false, error: 'invalid_auth' }],
  ['another answer', { hello: 1 }],
])('after %s it asks again', async (_what, body) => {
  slack.answerNext('apps.connections.open', { body });
  open();
  const first = await nth(0);
  expect(slack.calls.filter(({ method }) => method === 'apps.connections.open')).toHaveLength(2);
  expect(first.app_token).toBe('xapp-1');
});

test('a stop ends everything at once', async () => {
  open();
  await nth(0);
  await until(() => socket?.isOpen());
  await socket?.stop();
  socket = null;
  await until(() => slack.connections[0]?.is_closed);
  expect(slack.connections).toHaveLength(1);
});
