import { ATTENTION_LEVELS, type AttentionLevel } from '@purser/contract/purpose/attention';
import { assessBuiltIn, makeAssessLevels } from '@purser/rules/purpose/built-in-assessor';
import { expect } from 'vitest';
import { PURPOSE_INPUTS } from '../sentences/purpose-inputs.ts';
import { AUTHORITY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const { test, s, get, post, ask, makeAgent } = serviceTest({ plan: 'enterprise' });

const OBJECTIVE = {
  ...AUTHORITY,
  purpose: { objective: 'Buy flour for the bakery.', context: 'Usual seller is Metro.' },
};
const at = (level: AttentionLevel) => ({
  ...OBJECTIVE,
  purpose: { ...OBJECTIVE.purpose, attention: level },
});
const levelsOf = (attention: Shown) =>
  Object.fromEntries(attention.levels.map(({ level, ...counts }: Shown) => [level, Object.values(counts)]));

test('one reading of a spend gives the assessment of every level', () => {
  const assessLevels = makeAssessLevels();
  for (const [authority, request, facts] of PURPOSE_INPUTS) {
    const judged = assessLevels(authority, request, facts);
    for (const attention of ATTENTION_LEVELS) {
      const alone = { ...authority, purpose: { ...authority.purpose, attention } };
      expect(judged[attention]).toEqual(assessBuiltIn(alone, request, facts));
    }
  }
});

/** An agent's requests: a right one, one of another trade, one with a new word, and one at an unknown merchant. */
async function spendAs(level: AttentionLevel): Promise<string> {
  const agent = await makeAgent(at(level));
  const buy = (amount: number, merchant: string, description: string) =>
    ask(agent, amount, { action: { merchant, description } });
  await buy(101, 'Metro', 'flour');
  const handbag = await buy(102, 'Metro', 'a leather handbag');
  await buy(103, 'Metro', 'flour zirqon');
  await buy(104, 'Zinnober', 'flour');
  await post(`/v1/decisions/${handbag.decision_id}/labels`, { label: 'PURPOSE_MISALIGNED' });
  return agent;
}

test.each(ATTENTION_LEVELS)(
  'decisions made at %s show what each level would have asked and missed, in one simulation and in the report',
  async (own) => {
    const agent = await spendAs(own);
    const expected: Record<AttentionLevel, number[]> = {
      LOW: [1, 0, 1, 1],
      NORMAL: [2, 1, 0, 2],
      HIGH: [4, 1, 0, 6],
    };
    for (const draft of ATTENTION_LEVELS) {
      const path = `/v1/agents/${agent}/authority/simulate`;
      const { status, body } = await s.call('POST', path, { body: at(draft) });
      expect(status).toBe(200);
      expect(body.attention).toMatchObject({ evaluated: 4, wrong: 1 });
      const found = levelsOf(body.attention);
      expect(found).toEqual(expected);
      // The row of the draft's own level is what the simulation decides.
      expect(found[draft][0]).toBe(body.draft.review);
      const report = await get(`/v1/reports/shadow?agent=${agent}`);
      expect(report.attention).toEqual(body.attention);
    }
  },
);

test('a spend that a limit denies asks nothing, and one that a limit sends to a reviewer is not missed', async () => {
  const agent = await makeAgent({
    ...at('LOW'),
    review_threshold_minor: 100,
    per_transaction_limit_minor: 200,
  });
  const made = [];
  for (const amount of [50, 150, 250])
    made.push(await ask(agent, amount, { action: { merchant: 'Metro', description: 'a leather handbag' } }));
  for (const { decision_id } of made)
    await post(`/v1/decisions/${decision_id}/labels`, { label: 'PURPOSE_MISALIGNED' });
  const { attention } = await get(`/v1/reports/shadow?agent=${agent}`);
  expect(attention).toMatchObject({ evaluated: 3, wrong: 3 });
  const found = levelsOf(attention);
  expect([found.LOW.slice(0, 3), found.NORMAL.slice(0, 3)]).toEqual([
    [0, 0, 1],
    [2, 2, 0],
  ]);
});
