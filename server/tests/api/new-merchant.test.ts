import { describe, expect } from 'vitest';
import { makeKnownMerchantsBackfill } from '../../src/service/workers/fill-known-merchants.ts';
import { AUTHORITY, makeTestCore } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s, get, post, ask, makeAgent, keyWith } = serviceTest({ plan: 'team' });
let reviewer: string;
let rail: string;
test.beforeAll(async () => {
  reviewer = await keyWith('review', 'read');
  rail = await keyWith('consume');
});

const FIRST_TIME = { on_purpose_unclear: 'ALLOW', on_new_merchant: 'REVIEW' };
const enforced = (authority: object = {}) => makeAgent({ ...FIRST_TIME, ...authority }, { mode: 'ENFORCE' });
const at = (merchant: string, payee_id?: string) => ({
  action: { merchant, ...(payee_id === undefined ? {} : { payee_id }) },
});
const review = (decision_id: string, action: string, extra: object = {}) =>
  post(`/v1/decisions/${decision_id}/reviews`, { action, reason_code: 'CHECKED', ...extra }, reviewer);
const executed = (decision_id: string, amount_minor: number, by_rail: boolean) =>
  post(
    `/v1/decisions/${decision_id}/outcomes`,
    { type: 'SPEND_EXECUTED', amount_minor, ...(by_rail ? { source: 'PAYMENT_RAIL' } : {}) },
    by_rail ? rail : undefined,
  );
// biome-ignore lint/suspicious/noExplicitAny: a decision as the service answers it.
const reasons = (made: any) => [made.decision, made.reason_codes];
const stageOf = async (decision_id: string) =>
  (await get(`/v1/decisions/${decision_id}`)).policy_trace.find(
    (each: { stage: string }) => each.stage === 'new_merchant',
  );
const isValid = async () => (await get('/v1/ledger/verify')).breaks;

describe('a spend with someone the agent is not known to have paid', () => {
  test('goes to a person over the threshold, and passes once a person allowed one', async () => {
    const agent = await enforced({ new_merchant_threshold_minor: 2_000 });
    expect(reasons(await ask(agent, 2_000, at('Acme Paper')))).toEqual(['ALLOW', ['WITHIN_AUTHORITY']]);
    const first = await ask(agent, 2_001, at('Acme Paper'));
    expect(reasons(first)).toEqual(['REVIEW', ['NEW_MERCHANT']]);
    expect(first.explanation).toBe(
      'EUR 20.01 is over the limit of EUR 20.00 for a first payment to "Acme Paper".',
    );
    await review(first.decision_id, 'ALLOW');
    expect(reasons(await ask(agent, 2_002, at('ACME Paper GmbH')))).toEqual(['ALLOW', ['WITHIN_AUTHORITY']]);
    // A known name with a new payee is new, and a payee that is known is so under any name.
    const other = await ask(agent, 2_003, at('Acme Paper', 'iban:DE1'));
    expect(reasons(other)).toEqual(['REVIEW', ['NEW_MERCHANT']]);
    await review(other.decision_id, 'ALLOW');
    expect((await ask(agent, 2_004, at('Acme Paper', 'iban:DE1'))).decision).toBe('ALLOW');
    expect(reasons(await ask(agent, 2_005, at('Acme Paper', 'iban:DE2')))).toEqual([
      'REVIEW',
      ['NEW_MERCHANT'],
    ]);
    expect((await ask(agent, 2_006, at('Acme Stationery', 'iban:DE1'))).decision).toBe('ALLOW');
  });

  test('is denied where the authority says so, and another agent’s merchants are not known', async () => {
    const one = await enforced();
    const other = await enforced({ on_new_merchant: 'DENY' });
    await review((await ask(one, 3_001, at('Acme Ink'))).decision_id, 'ALLOW');
    expect((await ask(one, 3_002, at('Acme Ink'))).decision).toBe('ALLOW');
    expect(reasons(await ask(other, 3_003, at('Acme Ink')))).toEqual(['DENY', ['NEW_MERCHANT']]);
  });

  test('stays new by an execution that was not authorized, by a denial, and by a spend that was allowed but not executed', async () => {
    const agent = await enforced({ new_merchant_threshold_minor: 100 });
    const pending = await ask(agent, 4_001, at('Acme Glue'));
    const { flags } = await executed(pending.decision_id, 4_001, true);
    expect(flags).toContain('UNAUTHORIZED_EXECUTION');
    const denied = await ask(agent, 4_002, at('Acme Glue'));
    expect(reasons(denied)).toEqual(['REVIEW', ['NEW_MERCHANT']]);
    await review(denied.decision_id, 'DENY');
    expect((await ask(agent, 90, at('Acme Tape'))).decision).toBe('ALLOW');
    expect((await ask(agent, 4_003, at('Acme Tape'))).decision).toBe('REVIEW');
  });

  test('stays new by what the agent reports of a small spend that passed, and is known once the rail reports it', async () => {
    const agent = await enforced({ new_merchant_threshold_minor: 100 });
    const claimed = await ask(agent, 91, at('Acme Tape'));
    await executed(claimed.decision_id, 91, false);
    expect(reasons(await ask(agent, 4_004, at('Acme Tape')))).toEqual(['REVIEW', ['NEW_MERCHANT']]);
    const small = await ask(agent, 92, at('Acme Tape'));
    await executed(small.decision_id, 92, true);
    expect((await ask(agent, 4_005, at('Acme Tape'))).decision).toBe('ALLOW');
  });

  test('is known where a person listed the merchant as allowed', async () => {
    const agent = await enforced();
    await post(`/v1/agents/${agent}/merchants`, {
      entries: [{ merchant: 'Acme Clips', payee_ids: ['iban:DE5'], verdict: 'ALLOWED' }],
    });
    const listed = await ask(agent, 5_001, at('Acme Clips', 'iban:DE5'));
    expect(listed.decision).toBe('ALLOW');
    expect((await stageOf(listed.decision_id)).detail).toMatch(/^\S+ listed "Acme Clips" on /);
    expect((await ask(agent, 5_002, at('Acme Clips', 'iban:DE6'))).decision).toBe('REVIEW');
  });

  test('in SHADOW becomes known by an execution only where the decision was ALLOW, or a person allowed it', async () => {
    const agent = await makeAgent(FIRST_TIME);
    const first = await ask(agent, 6_001, at('Acme Pens'));
    await executed(first.decision_id, 6_001, true);
    const second = await ask(agent, 6_002, at('Acme Pens'));
    expect(reasons(second)).toEqual(['REVIEW', ['NEW_MERCHANT']]);
    await review(second.decision_id, 'ALLOW');
    expect((await ask(agent, 6_003, at('Acme Pens'))).decision).toBe('ALLOW');
  });
});

test('a simulation begins with whom the agent had paid, and goes on with what its own decisions make known', async () => {
  const agent = await makeAgent({ on_purpose_unclear: 'ALLOW' });
  for (const [i, merchant] of ['Acme Old', 'Acme Old', 'Acme New', 'Acme New'].entries()) {
    const made = await ask(agent, 9_001 + i, at(merchant));
    expect(made.decision).toBe('ALLOW');
    if (i % 2 === 0) await executed(made.decision_id, 9_001 + i, true);
  }
  const drafted = async (limit: number, draft: object = {}) => {
    const path = `/v1/agents/${agent}/authority/simulate?limit=${limit}`;
    const { status, body } = await s.call('POST', path, { body: { ...AUTHORITY, ...FIRST_TIME, ...draft } });
    expect([status, body.evaluated]).toEqual([200, limit]);
    return body.changed.map((each: { amount_minor: number }) => each.amount_minor);
  };
  // What the draft sends to a person was executed without one, so its merchant stays new.
  expect(await drafted(3)).toEqual([9_004, 9_003]);
  expect(await drafted(4)).toEqual([9_004, 9_003, 9_002, 9_001]);
  expect(await drafted(3, { new_merchant_threshold_minor: 9_003 })).toEqual([]);
});

test('an authority that does not ask whom the agent paid has no such stage', async () => {
  for (const authority of [{}, { on_new_merchant: 'ALLOW' }]) {
    const { decision_id } = await ask(await makeAgent(authority), 7_001);
    expect(await stageOf(decision_id)).toBeUndefined();
  }
});

test('what was paid before merchants were kept is found in the history, a page at a time, and the first is kept', async () => {
  const agent = await enforced();
  for (const [i, merchant] of ['Acme A', 'Acme B', 'Acme A', 'Acme C'].entries())
    await review(
      (await ask(agent, 8_001 + i, at(merchant, `iban:${merchant.at(-1)}${i}`))).decision_id,
      'ALLOW',
    );
  const { workspace_id } = s;
  const rows = async () =>
    (
      await s.sql('select * from known_merchants where workspace_id = $1 order by agent_id, key', [
        workspace_id,
      ])
    ).rows;
  const kept = await rows();
  expect(kept.length).toBeGreaterThanOrEqual(8);
  // As after the migration of an installation in which one of them was already paid again.
  await s.sql('delete from known_merchants where workspace_id = $1 and decision_id <> $2', [
    workspace_id,
    kept[0].decision_id,
  ]);
  const later = new Date(new Date(kept[0].since).getTime() + 3_600_000);
  await s.sql("update known_merchants set since = $1, decision_id = 'dec_later'", [later]);
  expect((await get('/v1/ledger/verify')).valid).toBe(false);
  await s.sql("insert into known_merchants_to_fill values ($1, '')", [workspace_id]);
  const core = makeTestCore(s.database.connection, s.checkpoint_dir);
  try {
    const round = makeKnownMerchantsBackfill({
      pool: core.followers_db,
      log: core.log,
      decisions_at_once: 3,
    });
    while ((await s.sql('select from known_merchants_to_fill')).rowCount) await round();
  } finally {
    await core.close();
  }
  expect(await rows()).toEqual(kept);
  expect(await isValid()).toEqual([]);
});
