import { expect, test } from 'vitest';
import { AUTHORITY, freshKey, type RunningService, spend } from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(30);

/** ALLOWANCE_RUNS and ALLOWANCE_END_ROUNDS make a longer run. */
const RUNS = Number(process.env.ALLOWANCE_RUNS);
const ENDS = Number(process.env.ALLOWANCE_END_ROUNDS);
/** The spends of each run, fewer where there are few runs. */
const SPENDS = Math.min(600, RUNS * 100);
const CHILDREN = 12;
const EACH_MINOR = 500;
const BEGIN_MS = Date.UTC(2026, 2, 2, 9);
const HOUR_MS = 3_600_000;

/** Two nodes of one installation, and the clock of its database. */
const { s, beside, get, post, makeAgent } = twoNodes({ plan: 'enterprise', stopped_at_ms: BEGIN_MS });
let now_ms = BEGIN_MS;

const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 100_000_000 };
const agentOf = () => makeAgent(OPEN, { mode: 'ENFORCE' });
const at = (time_ms: number) => new Date(time_ms).toISOString();
/** The answer to a POST; after 503 it is sent again, as clients do. */
async function send(on: RunningService, path: string, body: object) {
  const given = { body, idempotency_key: freshKey() };
  let reply = await on.call('POST', path, given);
  while (reply.status === 503) reply = await on.call('POST', path, given);
  expect([200, 201], reply.text).toContain(reply.status);
  return reply.body;
}
const ask = (on: RunningService, agent: string, amount_minor: number, allowance: string) =>
  send(on, '/v1/decisions', { ...spend(agent, amount_minor), allowance });

test('spends in twelve children at once, on two nodes, add up to exactly what the parent permits, in every run', async () => {
  for (let run = 0; run < RUNS; run += 1) {
    const agent = await agentOf();
    const permitted = SPENDS / 2;
    const amount_minor = permitted * EACH_MINOR + EACH_MINOR - 1;
    const expires_at = at(now_ms + 24 * HOUR_MS);
    const parent = await post('/v1/allowances', { agent, currency: 'EUR', amount_minor, expires_at });
    const { data: children } = await post('/v1/allowances/batch', {
      allowances: Array.from({ length: CHILDREN }, () => ({ parent: parent.id, amount_minor })),
    });
    const decisions = await Promise.all(
      Array.from({ length: SPENDS }, (_, i) =>
        ask(i % 2 === 0 ? s : beside, agent, EACH_MINOR, children[i % CHILDREN].id),
      ),
    );
    expect(decisions.filter(({ decision }) => decision === 'ALLOW')).toHaveLength(permitted);
    const used_minor = permitted * EACH_MINOR;
    const { standing } = await get(`/v1/allowances/${parent.id}`);
    expect(standing).toMatchObject({ used_minor, used_count: permitted });
    const of_children: { standing: { used_minor: number } }[] = await Promise.all(
      children.map(({ id }: { id: string }) => get(`/v1/allowances/${id}`)),
    );
    expect(of_children.reduce((sum, each) => sum + each.standing.used_minor, 0)).toBe(used_minor);
  }
});

test('from its end on, and after its revocation, the other node permits nothing under it, every time', async () => {
  const agent = await agentOf();
  const ended = { decision: 'DENY', reason_code: 'ALLOWANCE_NOT_OPEN' };
  for (let i = 0; i < ENDS; i += 1) {
    // Each node knows the allowance before it ends.
    const [near, far] = i % 2 === 0 ? [s, beside] : [beside, s];
    const make = (expires_at: string) =>
      send(s, '/v1/allowances', {
        agent,
        currency: 'EUR',
        amount_minor: 1_000,
        expires_at,
        external_id: freshKey(),
      });
    const expiring = await make(at(now_ms + HOUR_MS));
    const revoked = await make(at(now_ms + 24 * HOUR_MS));
    for (const { id } of [expiring, revoked])
      for (const on of [near, far]) expect((await ask(on, agent, 1, id)).decision).toBe('ALLOW');
    now_ms += HOUR_MS - 10;
    await s.setClock(now_ms);
    const { decision, explanation } = await ask(far, agent, 1, expiring.id);
    expect(decision, explanation).toBe('ALLOW');
    now_ms += 10;
    await s.setClock(now_ms);
    expect(await ask(far, agent, 1, expiring.id)).toMatchObject(ended);
    expect((await send(near, `/v1/allowances/${revoked.id}/revoke`, {})).status).toBe('REVOKED');
    expect(await ask(far, agent, 1, revoked.id)).toMatchObject(ended);
  }
});
