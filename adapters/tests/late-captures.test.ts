import { Purser } from '@purser/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUTHORITY, type RunningService, startTestService } from '../../sdk/tests/service.ts';
import { memoryStore } from '../src/cards.ts';
import { RAILS } from './card-rails.ts';

let s: RunningService;
beforeAll(async () => {
  s = await startTestService();
});
afterAll(() => s.stop());

test.each(RAILS)(
  '%s on the real service: an increment of another sum or merchant is declined, and a late capture counts',
  async (_, makeRail) => {
    const admin = new Purser({ apiKey: s.admin_key, baseURL: s.url });
    const { id } = await admin.agents.create({
      mode: 'ENFORCE',
      slug: `late-${_.length}`,
      authority: AUTHORITY,
    });
    const keyOf = async (more: object) => (await admin.apiKeys.create({ name: 'of the test', ...more })).key;
    const client = (apiKey: string) => new Purser({ apiKey, baseURL: s.url });
    const agent = client(await keyOf({ agent_id: id }));
    const rail = makeRail({
      agent,
      adapter: client(await keyOf({ scopes: ['consume'] })),
      store: memoryStore(),
      secret: 'a secret of the tests with 32 characters',
      answerWithin: 60_000,
      log: () => {},
    });
    const payee_id = `${rail.rail}:card_1`;
    const action = {
      type: 'purchase',
      merchant: 'Hetzner Online',
      amount_minor: 1_000,
      currency: 'EUR',
      payee_id,
    };
    const { decision_id } = await agent.decisions.create({ action });
    await rail.arm({ card: 'card_1', decision_id });
    const ask = (event: string, amount: number, merchant?: string | null) =>
      rail.ask({
        event,
        authorization: 'auth_1',
        card: 'card_1',
        amount,
        ...(merchant === undefined ? {} : { merchant }),
      });
    expect(await ask('evt_0', 600, null)).toBe(false);
    expect(await ask('evt_1', 600, 'CASINO ROYALE')).toBe(false);
    expect(await ask('evt_2', 600)).toBe(true);
    expect(await ask('evt_2', 900_000)).toBe(false);
    expect(await ask('evt_3', 400, 'CASINO ROYALE')).toBe(false);
    expect(await ask('evt_4', 400)).toBe(true);
    const of = { authorization: 'auth_1', currency: 'EUR' };
    await rail.move({ ...of, type: 'captured', amount_minor: 500, reference: 'tx_1' });
    await rail.move({ ...of, type: 'closed' });
    await rail.move({ ...of, type: 'captured', amount_minor: 9_000, reference: 'tx_2' });
    const { reservation, outcome_state, verified } = await agent.decisions.retrieve(decision_id);
    expect([reservation.status, reservation.amount_minor, outcome_state, verified]).toEqual([
      'COMMITTED',
      9_500,
      'EXECUTED',
      true,
    ]);
    const outcomes = await agent.decisions.listOutcomes(decision_id);
    expect(outcomes.data.flatMap(({ flags }) => flags)).toContain('ADJUSTED');
  },
);
