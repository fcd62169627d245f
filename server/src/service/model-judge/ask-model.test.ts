import type { Authority } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import { beforeEach, describe, expect, test } from 'vitest';
import { Places } from '../scheduling/places.ts';
import { makeAskModel } from './ask-model.ts';
import { makeHedge } from './hedge.ts';
import type { ModelAnswer } from './model-client.ts';
import type { Question } from './protocols.ts';
import type { AskModel } from './second-opinion.ts';

const AUTHORITY: Authority = { purpose: { objective: 'Run the staging servers.' }, currency: 'EUR' };
const KEY = 'sk-model-0123456789abcdef';
const spend = (amount_minor: number): SpendRequest => ({
  action: { type: 'purchase', merchant: 'Hetzner', amount_minor, currency: 'EUR' },
});
const GOOD: ModelAnswer = {
  kind: 'answered',
  usage: null,
  content: JSON.stringify({ rationale: 'Fits.', evidence: [], assessment: 'PURPOSE_ALIGNED', confidence: 1 }),
};

let now_ms = 0;
let calls: ((answer: ModelAnswer) => void)[] = [];
let questions: Question[] = [];
let waits: { wait_ms: number; end: () => void }[] = [];
let limit_reached: boolean;
let used: number[] = [];
let logged: string[] = [];
let observed: string[] = [];
let hits = 0;
let ask: AskModel;
let places: Places;
const ASKER = { workspace_id: 'ws_1', agent_id: 'agt_1' };
const OTHER = { workspace_id: 'ws_2', agent_id: 'agt_2' };
beforeEach(() => {
  now_ms = 1_000;
  calls = [];
  questions = [];
  waits = [];
  limit_reached = false;
  used = [];
  logged = [];
  observed = [];
  hits = 0;
  // Six for one workspace, four for one of its agents.
  places = new Places({ resource: 'purpose_model_calls', total: 8, share: 0.75, key_share: 0.5 });
  ask = makeAskModel({
    client: {
      ask: (question) => {
        questions.push(question);
        return new Promise((resolve) => calls.push(resolve));
      },
    },
    // A second attempt has tests of its own.
    hedge: makeHedge({ now_ms: () => now_ms, wait: () => new Promise(() => {}) }),
    model: 'judge-1',
    parameters: {},
    form: () => ({ output: 'schema', is_lean: false }),
    onFormRefused: () => {},
    api_key: KEY,
    termsOf: () => ({ timeout_ms: 1_000, wait_ms: 1_000, may_repeat: true, one_at_a_time: false }),
    takePlace: ({ workspace_id, agent_id }) => places.take({ workspace_id, key_id: agent_id }),
    tryPlace: () => null,
    usage: {
      begin: () => (limit_reached ? null : ({ input_tokens }) => used.push(input_tokens)),
    },
    newNonce: () => 'nonce',
    codeOf: (hash) => `code of ${hash}`,
    now_ms: () => now_ms,
    wait: (wait_ms) => new Promise((end) => waits.push({ wait_ms, end })),
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

const about = (request: SpendRequest, authority_hash = 'sha256:1', authority = AUTHORITY) => ({
  authority_hash,
  authority,
  request,
  suspicious: [],
  examples: [],
  is_review_anyway: true,
});

/** By then a question that found a place has been asked. */
const called = () => new Promise((turn) => setImmediate(turn));

/** Asks about a spend and has the model answer it. */
async function ask1(amount_minor: number, answer: ModelAnswer, hash = 'sha256:1', asker = ASKER) {
  const before = calls.length;
  const asked = ask(asker, about(spend(amount_minor), hash));
  await called();
  if (calls.length > before) calls[before]?.(answer);
  return asked;
}

describe('the cache of opinions', () => {
  test('a cached opinion answers the same question under the same authority for an hour', async () => {
    await ask1(1, GOOD);
    expect(await ask1(1, GOOD)).toMatchObject({ opinion: { assessment: 'PURPOSE_ALIGNED' } });
    expect([calls.length, hits]).toEqual([1, 1]);
    await ask1(20, GOOD);
    await ask1(1, GOOD, 'sha256:2');
    expect(calls).toHaveLength(3);
    now_ms += 3_600_001;
    await ask1(1, GOOD);
    expect(calls).toHaveLength(4);
  });

  test('a failure is never cached: the model is asked again', async () => {
    expect(await ask1(1, { kind: 'not_understood', usage: null })).toEqual({ none: 'not_understood' });
    expect(await ask1(1, GOOD)).toHaveProperty('opinion');
    expect(calls).toHaveLength(2);
  });

  test('the cache of opinions is bounded and evicts the least recently used one', async () => {
    await ask1(1, GOOD);
    await ask1(2, GOOD);
    for (let i = 0; i < 4_999; i++) {
      await ask1(1, GOOD, `sha256:other ${i}`);
      await ask1(1, GOOD);
    }
    const asked = calls.length;
    await ask1(1, GOOD);
    expect(calls).toHaveLength(asked);
    await ask1(2, GOOD);
    expect(calls).toHaveLength(asked + 1);
  });
});

describe('an opinion is known again', () => {
  const twice = async (first: SpendRequest, second: SpendRequest, authority = AUTHORITY) => {
    for (const request of [first, second]) {
      const asked = ask(ASKER, about(request, 'sha256:1', authority));
      await called();
      calls.at(-1)?.(GOOD);
      await asked;
    }
    return calls.length;
  };
  const with_words = (amount_minor: number, description: string): SpendRequest => ({
    action: { ...spend(amount_minor).action, description },
  });

  test('for an amount that differs little, where nothing speaks of numbers', async () => {
    expect(await twice(with_words(5_440, 'A server'), with_words(5_399, 'A server'))).toBe(1);
    expect(await twice(with_words(5_440, 'A server'), with_words(6_440, 'A server'))).toBe(2);
  });

  test.each([
    ['the operator speaks of a sum', 'Keep the price low.', 'A server'],
    ['the operator names a number', 'At most 54 for each.', 'A server'],
    ['the agent names a number', 'Run the servers.', 'A server for 54.40'],
  ])('for that very amount alone where %s', async (_, objective, description) => {
    const authority = { ...AUTHORITY, purpose: { objective } };
    expect(await twice(with_words(5_440, description), with_words(5_439, description), authority)).toBe(2);
  });

  test('under the same labels alone', async () => {
    for (const label of ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED'] as const) {
      const asked = ask(ASKER, { ...about(spend(1)), examples: [{ spend: { task: 'x' }, label }] });
      await called();
      calls.at(-1)?.(GOOD);
      await asked;
    }
    expect(calls).toHaveLength(2);
    expect(questions[1]?.prompt.examples).toContain('code of sha256:1');
  });
});

describe('an endpoint that asks for patience', () => {
  const patience = (retry_after_ms: number | null): ModelAnswer => ({
    kind: 'http_error',
    status: 429,
    retry_after_ms,
  });

  test('is not taken for one that fails, however often', async () => {
    for (let i = 0; i < 20; i++) expect(await ask1(i + 1, patience(null))).toEqual({ none: 'rate_limited' });
    expect(await ask1(99, GOOD)).toHaveProperty('opinion');
  });

  test('is asked nothing until then, by no workspace; spends wait where their time allows', async () => {
    await ask1(1, patience(5_000));
    expect(await ask1(2, GOOD)).toEqual({ none: 'rate_limited' });
    expect(await ask1(2, GOOD, 'sha256:1', OTHER)).toEqual({ none: 'rate_limited' });
    expect(calls).toHaveLength(1);
    now_ms += 4_400;
    const asked = ask(ASKER, about(spend(3)));
    await called();
    expect([calls.length, waits.map(({ wait_ms }) => wait_ms)]).toEqual([1, [600]]);
    now_ms += 600;
    waits[0]?.end();
    await called();
    calls[1]?.(GOOD);
    expect(await asked).toHaveProperty('opinion');
  });

  test('for a day is left alone for a minute', async () => {
    await ask1(1, patience(86_400_000));
    now_ms += 59_000;
    expect(await ask1(2, GOOD)).toEqual({ none: 'rate_limited' });
    now_ms += 1_000;
    expect(await ask1(2, GOOD)).toHaveProperty('opinion');
  });
});

describe('what a call costs', () => {
  test('is what the endpoint tells, an estimate where it tells nothing, and nothing where it refused', async () => {
    await ask1(1, { ...GOOD, usage: { input_tokens: 7, cached_tokens: 0, output_tokens: 1 } } as ModelAnswer);
    await ask1(2, GOOD);
    await ask1(3, { kind: 'timeout' });
    await ask1(4, { kind: 'http_error', status: 400, retry_after_ms: null });
    expect([used[0], used[3]]).toEqual([7, 0]);
    expect(used[1]).toBeGreaterThan(300);
    expect(used[2]).toBe(used[1]);
  });

  test('beyond the limit of the day is not asked for', async () => {
    limit_reached = true;
    expect(await ask1(1, GOOD)).toEqual({ none: 'daily_limit' });
    expect([calls.length, places.inUse()]).toEqual([0, 0]);
  });
});

describe('concurrent calls', () => {
  test('concurrent questions about the same spend share one call', async () => {
    const all = [1, 2, 3].map(() => ask(ASKER, about(spend(1))));
    await called();
    expect(calls).toHaveLength(1);
    calls[0]?.(GOOD);
    const [first, ...others] = await Promise.all(all);
    expect(others).toEqual([first, first]);
  });

  test('concurrent calls are bounded: without a free place there is no opinion, and a released place is used again', async () => {
    const all = Array.from({ length: 4 }, (_, i) => ask(ASKER, about(spend(i + 1))));
    expect(await ask(ASKER, about(spend(7)))).toEqual({ none: 'busy' });
    expect(calls).toHaveLength(4);
    for (const answer of calls) answer(GOOD);
    await Promise.all(all);
    expect(places.inUse()).toBe(0);
    expect(await ask1(7, GOOD)).toHaveProperty('opinion');
  });

  test('concurrent calls of one agent leave places to others of its workspace, and those of a workspace to others', async () => {
    const all = Array.from({ length: 4 }, (_, i) => ask(ASKER, about(spend(i + 1))));
    const second = { ...ASKER, agent_id: 'agt_3' };
    all.push(ask(second, about(spend(1), 'sha256:2')));
    await called();
    expect(calls).toHaveLength(5);
    expect(await ask1(7, GOOD, 'sha256:1', OTHER)).toHaveProperty('opinion');
    for (const answer of calls) answer(GOOD);
    await Promise.all(all);
  });
});

describe('failures', () => {
  test.each([
    { kind: 'timeout' },
    { kind: 'unreachable' },
    { kind: 'http_error', status: 500, retry_after_ms: null },
    { kind: 'http_error', status: 401, retry_after_ms: null },
    { kind: 'http_error', status: 307, retry_after_ms: null },
  ] as ModelAnswer[])('%j five times: the model is left alone for ten seconds', async (failure) => {
    for (let i = 0; i < 5; i++) await ask1(i + 1, failure);
    expect(await ask1(9, GOOD)).toEqual({ none: 'circuit_open' });
    now_ms += 10_000;
    expect(await ask1(9, GOOD)).toHaveProperty('opinion');
    expect(await ask1(10, GOOD)).toHaveProperty('opinion');
    expect(logged.at(-1)).toBe('the purpose model responds again');
  });

  test.each([
    { kind: 'http_error', status: 400, retry_after_ms: null },
    { kind: 'http_error', status: 413, retry_after_ms: null },
    { kind: 'http_error', status: 422, retry_after_ms: null },
    { kind: 'too_large' },
    { kind: 'not_understood', usage: null },
    { kind: 'answered', content: 'nonsense', usage: null },
  ] as ModelAnswer[])('%j, which one spend alone may cause, takes it from nobody else', async (failure) => {
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
    for (let i = 0; i < 3; i++) await ask1(i + 1, { kind: 'http_error', status: 400, retry_after_ms: null });
    expect(logged).toEqual(['the purpose model gave no opinion {"outcome":"http_error","status":400}']);
    now_ms += 60_000;
    await ask1(4, { kind: 'http_error', status: 400, retry_after_ms: null });
    expect(logged).toHaveLength(2);
    expect(logged.join()).not.toMatch(new RegExp(`${KEY}|Hetzner|staging`));
  });

  test('calls to the model are measured by their result', async () => {
    const asked = ask(ASKER, about(spend(1)));
    await called();
    now_ms += 250;
    calls[0]?.(GOOD);
    await asked;
    await ask1(2, { kind: 'answered', content: '{}', usage: null });
    await ask1(3, { kind: 'timeout' });
    expect(observed).toEqual(['answered 250', 'not_understood 0', 'timeout 0']);
  });
});

test('an answer that repeats the key is no opinion', async () => {
  const content = GOOD.kind === 'answered' ? String(GOOD.content).replace('Fits.', `Fits ${KEY}.`) : '';
  expect(await ask1(1, { kind: 'answered', content, usage: null })).toEqual({ none: 'not_understood' });
});
