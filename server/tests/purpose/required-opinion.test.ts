import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Behaviour,
  completion,
  hangs,
  type ModelServer,
  opines,
  sends,
  startModelServer,
} from '../support/model-server.ts';
import {
  AUTHORITY,
  freshKey,
  makeKey,
  type Reply,
  type RunningService,
  spend,
  startTestService,
} from '../support/running-service.ts';
import { until } from '../support/until.ts';

/** `PURPOSE_MODEL_REQUIRED=true`: without the model's opinion nothing is aligned that nobody vouches for. */

let model: ModelServer;
/** Few calls at once; waits for the model as long as it takes. One without patience; one whose model is not there. */
let s: RunningService;
let hasty: RunningService;
let alone: RunningService;
beforeAll(async () => {
  model = await startModelServer();
  // For the probes at the start.
  model.behave(opines('PURPOSE_MISALIGNED'));
  const env = {
    PURPOSE_MODEL_URL: `${model.url}/v1`,
    PURPOSE_MODEL: 'judge-1',
    PURPOSE_MODEL_TIMEOUT_MS: '30000',
    PURPOSE_MODEL_MAX_CONCURRENT: '4',
    PURPOSE_MODEL_REQUIRED: 'true',
  };
  s = await startTestService({ env });
  hasty = await startTestService({ beside: s, env: { ...env, PURPOSE_MODEL_TIMEOUT_MS: '100' } });
  alone = await startTestService({ beside: s, env: { ...env, PURPOSE_MODEL_URL: 'http://127.0.0.1:1' } });
});
afterAll(async () => {
  await alone.stop();
  await hasty.stop();
  await s.stop();
  await model.stop();
});
beforeEach(() => {
  model.questions.length = 0;
});

let count = 0;
async function makeAgent(authority: object = {}, at: RunningService = s, as?: string): Promise<string> {
  const slug = `agent-${++count}`;
  const body = { slug, mode: 'ENFORCE', authority: { ...AUTHORITY, ...authority } };
  const made = await at.call('POST', '/v1/agents', { body, ...(as === undefined ? {} : { key: as }) });
  expect(made.status).toBe(201);
  return slug;
}
/** A spend that the built-in assessor calls aligned; no two are the same to a model. */
const aligned = (agent: string, extra: Record<string, unknown> = {}) => spend(agent, ++count, extra);
const decide = (body: unknown, at: RunningService = s, key?: string): Promise<Reply> =>
  at.call('POST', '/v1/decisions', {
    body,
    idempotency_key: freshKey(),
    ...(key === undefined ? {} : { key }),
  });
const verdict = ({ body }: Reply) => [body.decision, body.reason_code, body.capability];
const UNCLEAR = ['REVIEW', 'PURPOSE_UNCLEAR', null];
const LOWERED = /No second opinion: .* The installation requires one, so the purpose counts as unclear\.$/;

describe('an opinion that is required and missing makes an aligned spend unclear', () => {
  const failures: [string, Behaviour][] = [
    ['an error', (response) => response.writeHead(500).end()],
    ['nonsense', sends(completion('Sure! PURPOSE_ALIGNED.'))],
    ['a flood', sends(completion('x'.repeat(1_000_000)))],
    ['a broken connection', (response) => response.destroy()],
  ];
  test.each(failures)('%s', async (_, behaviour) => {
    model.behave(behaviour);
    const agent = await makeAgent();
    const made = await decide(aligned(agent));
    expect(verdict(made)).toEqual(UNCLEAR);
    expect(made.body.purpose.rationale).toMatch(LOWERED);
    expect(made.body.explanation).toContain('installation requires one');
    // An answer in between, so that one case does not open the circuit for the next.
    model.behave(opines('PURPOSE_ALIGNED'));
    expect((await decide(aligned(agent))).body.decision).toBe('ALLOW');
  });

  test('silence', async () => {
    model.behave(hangs);
    expect(verdict(await decide(aligned(await makeAgent()), hasty))).toEqual(UNCLEAR);
  });

  test('a model that is not there, and one that is left alone for that', async () => {
    const agent = await makeAgent();
    for (let i = 0; i < 6; i++) expect(verdict(await decide(aligned(agent), alone))).toEqual(UNCLEAR);
    const left_alone = await decide(aligned(agent), alone);
    expect(verdict(left_alone)).toEqual(UNCLEAR);
    expect(left_alone.body.purpose.rationale).toContain('calls are paused');
  });

  test('nor does an authority that changes each time the model has spoken let one through', async () => {
    const agent = await makeAgent();
    let limit = 1_000_000;
    model.behave(async (response, question) => {
      const body = { ...AUTHORITY, per_transaction_limit_minor: ++limit };
      await s.call('POST', `/v1/agents/${agent}/authority`, { body });
      opines('PURPOSE_ALIGNED')(response, question);
    });
    expect((await decide(aligned(agent))).status).toBe(503);
  });
});

describe('what somebody vouches for needs no model', () => {
  test('a merchant that the operator listed', async () => {
    const listed = await makeAgent({ allowed_merchants: ['Hetzner Online'] });
    const made = await decide(aligned(listed), alone);
    expect([made.body.decision, made.body.purpose.assessment]).toEqual(['ALLOW', 'PURPOSE_ALIGNED']);
    expect(made.body.purpose.rationale).toMatch(/No second opinion: /);
    // A name that merely begins like it is not listed.
    const other = aligned(listed, { action: { merchant: 'Hetzner Online Mallorca' } });
    expect(verdict(await decide(other, alone))).toEqual(UNCLEAR);
  });

  test('spends that a person found to fit', async () => {
    const agent = await makeAgent();
    const payee = { action: { payee_id: 'bank:DE1' } };
    const first = await decide(aligned(agent, payee), alone);
    expect(verdict(first)).toEqual(UNCLEAR);
    const { key } = await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' });
    const about = `/v1/decisions/${first.body.decision_id}`;
    const review = await s.call('POST', `${about}/reviews`, {
      key,
      body: { action: 'ALLOW', reason_code: 'CHECKED' },
    });
    const label = await s.call('POST', `${about}/labels`, { key, body: { label: 'PURPOSE_ALIGNED' } });
    expect([review.status, label.status]).toEqual([201, 201]);
    // What people say reaches the assessor within seconds.
    await expect
      .poll(async () => (await decide(spend(agent, 1, payee), alone)).body.decision, {
        timeout: 30_000,
        interval: 300,
      })
      .toBe('ALLOW');
    const elsewhere = { action: { merchant: 'OVH' } };
    expect((await decide(aligned(agent, elsewhere), alone)).body.decision).toBe('REVIEW');
  });
});

test('twenty spends at once, against a model that answers late and says no, get no capability', async () => {
  const agent = await makeAgent();
  const late: (() => void)[] = [];
  model.behave((response, question) => late.push(() => opines('PURPOSE_MISALIGNED')(response, question)));
  const all = Array.from({ length: 20 }, () => decide(aligned(agent)));
  // The model answers whatever it is asked, one question after another, until all spends are decided.
  let decided = 0;
  for (const each of all) void each.then(() => decided++);
  while (decided < all.length) {
    late.shift()?.();
    await new Promise((turn) => setTimeout(turn, 1));
  }
  const made = await Promise.all(all);
  expect(made.map((each) => each.body.decision)).toEqual(made.map(() => 'REVIEW'));
  expect(made.map((each) => each.body.capability)).toEqual(made.map(() => null));
});

test('the calls that one workspace has under way and waiting leave another one its turn', async () => {
  const agent = await makeAgent();
  const other = await s.addWorkspace({ plan: 'team' });
  const its_agent = await makeAgent({}, s, other.admin_key);
  const late: (() => void)[] = [];
  model.behave((response, question) => {
    if (question.spend['action.merchant'] === 'OVH') opines('PURPOSE_ALIGNED')(response, question);
    else late.push(() => opines('PURPOSE_MISALIGNED')(response, question));
  });
  const flood = Array.from({ length: 12 }, () => decide(aligned(agent)));
  await until(() => late.length === 2);
  const honest = await decide(aligned(its_agent, { action: { merchant: 'OVH' } }), s, other.admin_key);
  expect(honest.body.decision).toBe('ALLOW');
  expect(honest.body.purpose.rationale).toContain('agrees');
  let decided = 0;
  for (const each of flood) void each.then(() => decided++);
  while (decided < flood.length) {
    late.shift()?.();
    await new Promise((turn) => setTimeout(turn, 1));
  }
});
