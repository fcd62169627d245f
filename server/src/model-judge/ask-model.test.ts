import { beforeEach, describe, expect, test } from 'vitest';
import type { Authority } from '../domain/authorities.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { makeShares, type Shares } from '../http/shares.ts';
import { makeAskModel } from './ask-model.ts';
import type { ChatAnswer } from './chat-client.ts';
import type { AskModel } from './second-opinion.ts';

const AUTHORITY: Authority = { purpose: { objective: 'Run the staging servers.' }, currency: 'EUR' };
const KEY = 'sk-model-0123456789abcdef';
const spend = (amount_minor: number): SpendRequest => ({
  action: { type: 'purchase', merchant: 'Hetzner', amount_minor, currency: 'EUR' },
});
const GOOD: ChatAnswer = {
  kind: 'answered',
  content: JSON.stringify({ rationale: 'Fits.', evidence: [], assessment: 'PURPOSE_ALIGNED', confidence: 1 }),
};

let now_ms = 0;
let calls: ((answer: ChatAnswer) => void)[] = [];
let logged: string[] = [];
let observed: string[] = [];
let hits = 0;
let ask: AskModel;
let places: Shares;
const ASKER = { workspace_id: 'ws_1', agent_id: 'agt_1' };
const OTHER = { workspace_id: 'ws_2', agent_id: 'agt_2' };
beforeEach(() => {
  now_ms = 1_000;
  calls = [];
  logged = [];
  observed = [];
  hits = 0;
  // Six for one workspace.
  places = makeShares({ resource: 'calls', total: 8, workspace_share: 0.75 });
  ask = makeAskModel({
    client: { ask: () => new Promise((resolve) => calls.push(resolve)) },
    model: 'judge-1',
    parameters: {},
    api_key: KEY,
    takePlace: ({ workspace_id, agent_id }) => places.take({ workspace_id, key_id: agent_id }),
    newNonce: () => 'nonce',
    now_ms: () => now_ms,
    log: {
      warn: (details, message) => logged.push(`${message} ${JSON.stringify(details)}`),
      info: (_details, message) => logged.push(message),
    },
    metrics: {
      observeModelCall: (outcome, duration_ms) => observed.push(`${outcome} ${duration_ms}`),
      countModelCacheHit: () => {
        hits += 1;
      },
    },
  });
});

/** By then a question that found a place has been asked. */
const called = () => new Promise((turn) => setImmediate(turn));

/** Asks about a spend and has the model answer it. */
async function ask1(amount_minor: number, answer: ChatAnswer, hash = 'sha256:1', asker = ASKER) {
  const before = calls.length;
  const asked = ask(asker, hash, AUTHORITY, spend(amount_minor));
  await called();
  if (calls.length > before) calls[before]?.(answer);
  return asked;
}

describe('the cache of opinions', () => {
  test('a cached opinion answers the same question under the same authority for an hour', async () => {
    await ask1(1, GOOD);
    expect(await ask1(1, GOOD)).toMatchObject({ opinion: { assessment: 'PURPOSE_ALIGNED' } });
    expect([calls.length, hits]).toEqual([1, 1]);
    await ask1(2, GOOD);
    await ask1(1, GOOD, 'sha256:2');
    expect(calls).toHaveLength(3);
    now_ms += 3_600_001;
    await ask1(1, GOOD);
    expect(calls).toHaveLength(4);
  });

  test('a failure is never cached: the model is asked again', async () => {
    expect(await ask1(1, { kind: 'not_understood' })).toEqual({ none: 'not_understood' });
    expect(await ask1(1, GOOD)).toHaveProperty('opinion');
    expect(calls).toHaveLength(2);
  });

  test('the cache of opinions is bounded and evicts the least recently used one', async () => {
    await ask1(1, GOOD);
    await ask1(2, GOOD);
    for (let i = 0; i < 4_999; i++) {
      await ask1(10 + i, GOOD);
      await ask1(1, GOOD);
    }
    const asked = calls.length;
    await ask1(1, GOOD);
    expect(calls).toHaveLength(asked);
    await ask1(2, GOOD);
    expect(calls).toHaveLength(asked + 1);
  });
});

describe('concurrent calls', () => {
  test('concurrent questions about the same spend share one call', async () => {
    const all = [1, 2, 3].map(() => ask(ASKER, 'sha256:1', AUTHORITY, spend(1)));
    await called();
    expect(calls).toHaveLength(1);
    calls[0]?.(GOOD);
    const [first, ...others] = await Promise.all(all);
    expect(others).toEqual([first, first]);
  });

  test('concurrent calls are bounded: without a free place there is no opinion, and a released place is used again', async () => {
    const all = Array.from({ length: 6 }, (_, i) => ask(ASKER, 'sha256:1', AUTHORITY, spend(i + 1)));
    expect(await ask(ASKER, 'sha256:1', AUTHORITY, spend(7))).toEqual({ none: 'busy' });
    expect(calls).toHaveLength(6);
    for (const answer of calls) answer(GOOD);
    await Promise.all(all);
    expect(places.inUse()).toBe(0);
    expect(await ask1(7, GOOD)).toHaveProperty('opinion');
  });

  test('concurrent calls of one workspace leave places to the others', async () => {
    const all = Array.from({ length: 6 }, (_, i) => ask(ASKER, 'sha256:1', AUTHORITY, spend(i + 1)));
    expect(await ask(ASKER, 'sha256:1', AUTHORITY, spend(7))).toEqual({ none: 'busy' });
    expect(await ask1(7, GOOD, 'sha256:1', OTHER)).toHaveProperty('opinion');
    for (const answer of calls) answer(GOOD);
    await Promise.all(all);
  });
});

describe('failures', () => {
  test.each([
    { kind: 'timeout' },
    { kind: 'unreachable' },
    { kind: 'http_error', status: 500 },
    { kind: 'http_error', status: 429 },
    { kind: 'http_error', status: 401 },
    { kind: 'http_error', status: 307 },
  ] as ChatAnswer[])('%j five times: the model is left alone for ten seconds', async (failure) => {
    for (let i = 0; i < 5; i++) await ask1(i + 1, failure);
    expect(await ask1(9, GOOD)).toEqual({ none: 'circuit_open' });
    now_ms += 10_000;
    expect(await ask1(9, GOOD)).toHaveProperty('opinion');
    expect(await ask1(10, GOOD)).toHaveProperty('opinion');
    expect(logged.at(-1)).toBe('the purpose model answers again');
  });

  test.each([
    { kind: 'http_error', status: 400 },
    { kind: 'http_error', status: 413 },
    { kind: 'http_error', status: 422 },
    { kind: 'too_large' },
    { kind: 'not_understood' },
    { kind: 'answered', content: 'nonsense' },
  ] as ChatAnswer[])('%j, which one spend alone may cause, takes it from nobody else', async (failure) => {
    for (let i = 0; i < 20; i++) expect(await ask1(i + 1, failure)).toHaveProperty('none');
    expect(await ask1(99, GOOD)).toHaveProperty('opinion');
  });

  test('failures of one workspace do not take the model from the others', async () => {
    for (let i = 0; i < 5; i++) await ask1(i + 1, { kind: 'timeout' });
    expect(await ask1(9, GOOD)).toEqual({ none: 'circuit_open' });
    expect(await ask1(9, GOOD, 'sha256:1', OTHER)).toHaveProperty('opinion');
    expect(await ask1(9, GOOD)).toEqual({ none: 'circuit_open' });
  });

  test('failures are logged once a minute per kind, and never with the key or the question', async () => {
    for (let i = 0; i < 3; i++) await ask1(i + 1, { kind: 'http_error', status: 400 });
    expect(logged).toEqual(['the purpose model gave no opinion {"outcome":"http_error","status":400}']);
    now_ms += 60_000;
    await ask1(4, { kind: 'http_error', status: 400 });
    expect(logged).toHaveLength(2);
    expect(logged.join()).not.toMatch(new RegExp(`${KEY}|Hetzner|staging`));
  });

  test('calls to the model are measured by their result', async () => {
    const asked = ask(ASKER, 'sha256:1', AUTHORITY, spend(1));
    await called();
    now_ms += 250;
    calls[0]?.(GOOD);
    await asked;
    await ask1(2, { kind: 'answered', content: '{}' });
    await ask1(3, { kind: 'timeout' });
    expect(observed).toEqual(['answered 250', 'not_understood 0', 'timeout 0']);
  });
});

test('an answer that repeats the key is no opinion', async () => {
  const content = GOOD.kind === 'answered' ? GOOD.content.replace('Fits.', `Fits ${KEY}.`) : '';
  expect(await ask1(1, { kind: 'answered', content })).toEqual({ none: 'not_understood' });
});
