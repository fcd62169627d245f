import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, startTestService } from '../support/running-service.ts';
import { makeTeam } from '../support/team.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** How often the race is run. RACES=10000 is what the design asks for. */
const ROUNDS = Number(process.env.RACES);
const AT_ONCE = 50;

let nodes: [RunningService, RunningService];
let team: Awaited<ReturnType<typeof makeTeam>>;
let agent: { slug: string; key: string };
/** Keys of three people who may review. */
let keys: [string, string, string];

beforeAll(async () => {
  const first = await startTestService({ plan: 'enterprise' });
  nodes = [first, await startTestService({ beside: first })];
  team = await makeTeam(first);
  const people = [await team.join('bo', 'admin'), await team.join('cy', 'admin'), team.ada];
  const made = [];
  for (const person of people)
    made.push(
      (await team.keyOf(person, { scopes: ['review', 'read'], principal_id: person.principal_id })).key,
    );
  keys = made as typeof keys;
  agent = await team.agent({ monthly_budget_minor: 1_000_000_000 });
  const policy = { tiers: [{ currency: 'EUR', from_minor: 0, approvals: 2 }] };
  expect((await team.put(policy)).status).toBe(200);
});
afterAll(async () => {
  await nodes[1].stop();
  await nodes[0].stop();
});

test(`of two last approvals on two nodes one completes, and the request has one capability, ${ROUNDS} times`, async () => {
  const body = { action: 'ALLOW', reason_code: 'RACE' };
  const approve = (node: RunningService, key: string, decision_id: string) =>
    node.call('POST', `/v1/decisions/${decision_id}/reviews`, { key, body });
  const raced: string[] = [];
  async function race(round: number): Promise<void> {
    const { decision_id } = await team.request(agent, 200);
    const [first, ...last] = keys;
    expect((await approve(nodes[0], first, decision_id)).body.effective_decision).toBe('REVIEW');
    const [one, two] = round % 2 === 0 ? [0, 1] : [1, 0];
    const replies = await Promise.all([
      approve(nodes[one] as RunningService, last[0] as string, decision_id),
      approve(nodes[two] as RunningService, last[1] as string, decision_id),
    ]);
    const shown = replies.map((reply) => reply.body.effective_decision ?? reply.body.error.code).sort();
    expect(shown).toEqual(['ALLOW', 'review_final']);
    raced.push(decision_id);
  }
  for (let done = 0; done < ROUNDS; done += AT_ONCE) {
    const count = Math.min(AT_ONCE, ROUNDS - done);
    await Promise.all(Array.from({ length: count }, (_, i) => race(done + i)));
  }
  // A review that issues a capability stores when it expires.
  const { rows } = await nodes[0].sql(
    `select count(*)::int as approvals, count(capability_expires_at)::int as capabilities,
      count(distinct decision_id) filter (where capability_expires_at is not null)::int as decisions from reviews`,
  );
  expect(rows).toEqual([{ capabilities: ROUNDS, decisions: ROUNDS, approvals: 2 * ROUNDS }]);
  expect(new Set(raced).size).toBe(ROUNDS);
  const { body: verified } = await nodes[1].call('GET', '/v1/ledger/verify');
  expect(verified).toMatchObject({ valid: true });
});
