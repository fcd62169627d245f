import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
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

test('every 201 is counted once and every other answer is reported, at exactly the asked number of requests', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const result = await runLoad({
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clients: 7,
    targets: [
      { workspace_id: 'ws_a', agent_key: 'sk_a' },
      { workspace_id: 'ws_b', agent_key: 'sk_b' },
    ],
    makeBody: makeSpendBody,
    counter: { requests: 0 },
    run_id: 'test',
    warm_up_ms: 0,
    measured_ms: Number.POSITIVE_INFINITY,
    max_requests: 100,
    signal: new AbortController().signal,
  });
  expect(requests).toBe(100);
  expect([result.created, result.measured, result.decisions.REVIEW]).toEqual([90, 90, 90]);
  expect(result.errors).toEqual(new Map([['503 unavailable', 10]]));
  expect([...result.created_by_workspace.values()].reduce((a, b) => a + b)).toBe(90);
});
