import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CardStore, memoryStore } from '../src/cards.ts';
import { RAILS } from './card-rails.ts';
import { decide, type Fault, purserBehindFaults } from './purser-away.ts';

const RUNS = Number(process.env.CARD_RUNS);
const AMOUNT = 5_440;

type Step =
  | { do: 'arm'; card: number }
  | { do: 'ask'; authorization: number; event: number; amount: number }
  | { do: 'ask at once'; authorizations: number[] }
  | { do: 'fault'; fault: Fault }
  | { do: 'crash'; writes: number };

const index = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('arm' as const), card: fc.nat({ max: 1 }) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      authorization: index,
      event: index,
      amount: fc.constantFrom(0, 1, 2_000, AMOUNT, AMOUNT + 1),
    }),
  },
  fc.record({
    do: fc.constant('ask at once' as const),
    authorizations: fc.array(index, { minLength: 2, maxLength: 4 }),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom<Fault>('none', 'none', 'request lost', 'answer lost'),
    }),
  },
  fc.record({ do: fc.constant('crash' as const), writes: fc.nat({ max: 3 }) }),
);

interface Life {
  writes_left: number;
  has_ended: boolean;
}

/** A store whose process dies before one of the next writes, and from then on reads and writes nothing. */
function mortal(kept: CardStore, life: Life): CardStore {
  const live = () => {
    if (life.has_ended) throw new Error('the process died');
  };
  return {
    async get(key) {
      live();
      return kept.get(key);
    },
    async replace(key, expected, value) {
      life.has_ended ||= life.writes_left-- <= 0;
      live();
      return kept.replace(key, expected, value);
    },
  };
}

describe.each(RAILS)('%s', (_, makeRail) => {
  test('in any order, with repeats, crashes and Purser away: one capability lets one authorization through, and none goes through without', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 30 }), async (steps) => {
        const { agent, adapter, state, consumed_by } = purserBehindFaults();
        const kept = memoryStore();
        const start = () => {
          const life = { writes_left: Number.POSITIVE_INFINITY, has_ended: false };
          const rail = makeRail({
            agent,
            adapter,
            store: mortal(kept, life),
            secret: 'a secret of the tests with 32 characters',
            answerWithin: 600_000,
            log: () => {},
          });
          return { life, rail };
        };
        let { life, rail } = start();
        const answers = new Map<string, boolean>();
        const approved = new Map<string, Map<string, number>>();
        const ask = async (authorization: number, event: number, amount: number) => {
          const name = `${rail.rail}-auth_${authorization}`;
          // What an event asks for is part of it.
          const id = `evt_${authorization}_${event}_${amount}`;
          const question = {
            event: id,
            authorization: `auth_${authorization}`,
            card: `card_${authorization % 2}`,
            amount,
          };
          const answer = await rail.ask(question);
          if (life.has_ended) {
            // It died over this question, and nobody heard an answer.
            expect(answer).toBe(false);
            return;
          }
          expect(answers.get(id) ?? answer).toBe(answer);
          answers.set(id, answer);
          if (!answer || amount === 0) return;
          approved.set(name, (approved.get(name) ?? new Map()).set(id, amount));
        };
        for (const each of steps) {
          if (each.do === 'fault') state.fault = each.fault;
          else if (each.do === 'crash') life.writes_left = each.writes;
          else if (each.do === 'ask') await ask(each.authorization, each.event, each.amount);
          else if (each.do === 'ask at once') {
            life.writes_left = Number.POSITIVE_INFINITY;
            await Promise.all(each.authorizations.map((authorization) => ask(authorization, 0, AMOUNT)));
          } else {
            const { fault } = state;
            state.fault = 'none';
            const { decision_id } = await decide(agent, `${rail.rail}:card_${each.card}`, AMOUNT);
            await rail.arm({ card: `card_${each.card}`, decision_id }).catch(() => {});
            state.fault = fault;
          }
          // Whatever it died over, the next process starts.
          if (life.has_ended) ({ life, rail } = start());
        }
        const decisions = [...approved.keys()].map((name) => consumed_by.get(name));
        expect(decisions).not.toContain(undefined);
        expect(new Set(decisions).size).toBe(decisions.length);
        for (const amounts of approved.values()) {
          expect([...amounts.values()].reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(AMOUNT);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
