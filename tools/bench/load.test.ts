import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { requestText } from './bench.ts';
import { readAnswer, runLoad } from './load.ts';
import { makeSpendBody } from './spend-bodies.ts';

test('an answer is read once all of it is there, and what follows is kept', () => {
  const whole = Buffer.from('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP');
  expect(readAnswer(whole.subarray(0, 20))).toBeNull();
  expect(readAnswer(whole.subarray(0, whole.length - 5))).toBeNull();
  const answer = readAnswer(whole);
  expect([answer?.status, answer?.body.toString(), answer?.rest.toString()]).toEqual([201, '{}', 'HTTP']);
});

test('an answer without a content-length is not guessed at', () => {
  expect(() => readAnswer(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow('without a content-length');
});

test('bodies are ASCII of 450 to 650 bytes, and no two are the same', () => {
  const bodies = Array.from({ length: 1_000 }, (_, n) => makeSpendBody(n));
  expect(new Set(bodies).size).toBe(bodies.length);
  for (const body of bodies) {
    expect(body).toMatch(/^[\x20-\x7e]{450,650}$/);
  }
});

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    requests += 1;
    const is_refused = requests % 10 === 0;
    const text = is_refused ? '{"error":{"code":"unavailable"}}' : '{"decision":"REVIEW"}';
    response.writeHead(is_refused ? 503 : 201, { 'content-length': text.length }).end(text);
  });
});
let requests = 0;
afterAll(() => server.close());

async function listening(): Promise<string> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const makeRequest = (n: number) => requestText('POST', '/v1/decisions', 'sk_a', { text: makeSpendBody(n) });

test('every good answer is counted once and every other is reported, at exactly the asked number of requests', async () => {
  const base_url = await listening();
  const answered: number[] = [];
  const result = await runLoad({
    base_url,
    clients: 7,
    requests: { good_status: 201, make: makeRequest, onGood: (n) => answered.push(n) },
    warm_up_ms: 0,
    measured_ms: Number.POSITIVE_INFINITY,
    max_requests: 100,
    signal: new AbortController().signal,
  });
  expect(requests).toBe(100);
  expect([result.good, result.measured]).toEqual([90, 90]);
  expect(result.errors).toEqual(new Map([['503 unavailable', 10]]));
  expect(new Set(answered).size).toBe(90);
});

test('the warm-up counts from when each client was answered, where that is asked for', async () => {
  const firsts: (() => void)[] = [];
  const gate = createServer((request, response) => {
    request.resume().on('end', () => {
      const answer = () => response.writeHead(201, { 'content-length': 2 }).end('{}');
      // The third connection is answered only when the others have had many answers.
      if (request.socket.remotePort === firsts_port) firsts.push(answer);
      else answer();
      answers += 1;
      if (answers > 50) for (const first of firsts.splice(0)) first();
    });
  });
  let answers = 0;
  let connections = 0;
  let firsts_port = 0;
  gate.on('connection', (socket) => {
    connections += 1;
    if (connections === 3) firsts_port = socket.remotePort as number;
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  let answered_before = 0;
  const result = await runLoad({
    base_url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    clients: 3,
    requests: { good_status: 201, make: makeRequest },
    warm_up_ms: 0,
    measured_ms: Number.POSITIVE_INFINITY,
    max_requests: 100,
    onAllAnswered: () => {
      answered_before = answers;
    },
    signal: new AbortController().signal,
  }).finally(() => gate.close());
  expect(answered_before).toBeGreaterThan(50);
  expect(result.good).toBe(100);
  expect(result.measured).toBeLessThanOrEqual(100 - 49);
});

test('a paced load sends what was due, whoever answers slowly, and counts the time from then on', async () => {
  const slow = createServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => response.writeHead(201, { 'content-length': 2 }).end('{}'), 100);
    });
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const result = await runLoad({
    base_url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
    clients: 1,
    requests: { good_status: 201, make: makeRequest },
    warm_up_ms: 0,
    measured_ms: 500,
    per_second: 100,
    signal: new AbortController().signal,
  }).finally(() => slow.close());
  // One connection can carry 5 of the 50 that are due; none of the others is forgotten.
  expect(result.good).toBeLessThan(10);
  expect(result.latencies_ms.length).toBeGreaterThanOrEqual(45);
  expect(result.errors.size).toBe(0);
});

test('what was asked to end rejects with the reason', async () => {
  const asked = AbortSignal.abort(new Error('enough'));
  const base_url = await listening();
  const options = { clients: 1, requests: { good_status: 201, make: makeRequest }, warm_up_ms: 0 };
  await expect(runLoad({ base_url, ...options, measured_ms: 1_000, signal: asked })).rejects.toThrow(
    'enough',
  );
});
