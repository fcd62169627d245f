import { expect } from 'vitest';
import { fieldOf, makeKey, startTestService } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, ask, makeAgent } = serviceTest();
let reviewer: string;
test.beforeAll(async () => {
  await makeAgent({ review_threshold_minor: 1 }, { slug: 'waiting', mode: 'ENFORCE' });
  reviewer = (await makeKey(s, { scopes: ['review', 'read'], principal_id: 'user:ada' })).key;
});

/** The path of a new decision that waits for a person. */
async function pending(): Promise<string> {
  const made = await ask('waiting', 500);
  expect(made.review_state).toBe('PENDING');
  return `/v1/decisions/${made.decision_id}`;
}
const seconds = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const begun_ms = performance.now();
  return [await work, (performance.now() - begun_ms) / 1000];
};

test('a waiting request is answered when a review or an outcome changes the decision, not before and not at the end', async () => {
  const path = await pending();
  const asked = seconds(s.call('GET', `${path}?wait_seconds=25`));
  const review = { action: 'ALLOW', reason_code: 'VENDOR_CONFIRMED' };
  await s.call('POST', `${path}/reviews`, { body: review, key: reviewer });
  const [allowed, took_s] = await asked;
  expect([allowed.body.review_state, took_s < 20]).toEqual(['ALLOWED', true]);

  const asked_again = seconds(s.call('GET', `${path}?wait_seconds=25`));
  await s.call('POST', `${path}/outcomes`, { body: { type: 'SPEND_FAILED' } });
  const [failed, took_again_s] = await asked_again;
  expect([failed.body.outcome_state, took_again_s < 20]).toEqual(['FAILED', true]);
});

test('a wait may exceed the deadline of other requests, and ends with the unchanged decision', async () => {
  const [reply, took_s] = await seconds(s.call('GET', `${await pending()}?wait_seconds=6`));
  expect([reply.status, reply.body.review_state]).toEqual([200, 'PENDING']);
  expect(took_s).toBeGreaterThan(5.5);
});

test.each(['0', '26', '1.5', 'long'])('wait_seconds=%s is refused', async (text) => {
  const reply = await s.call('GET', `${await pending()}?wait_seconds=${text}`);
  expect([reply.status, fieldOf(reply)]).toEqual([400, 'wait_seconds']);
});

test('a decision that is not there is not waited for', async () => {
  const [reply, took_s] = await seconds(
    s.call('GET', '/v1/decisions/dec_00000000000000000000000000?wait_seconds=25'),
  );
  expect([reply.status, took_s < 20]).toEqual([404, true]);
});

test('a service that stops answers all waiting requests', async () => {
  const beside = await startTestService({ beside: s });
  const asked = seconds(beside.call('GET', `${await pending()}?wait_seconds=25`));
  const running = await beside.call('GET', '/v1/workspace');
  expect(running.status).toBe(200);
  await beside.stop();
  const [reply, took_s] = await asked;
  expect([reply.body.review_state, took_s < 20]).toEqual(['PENDING', true]);
});
