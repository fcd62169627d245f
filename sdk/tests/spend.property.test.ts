import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import type * as Sdk from '../src/index.ts';
import { fakePurser } from '../src/testing/index.ts';

/** The library as another process has it, with a memory of its own. */
async function startProcess(): Promise<typeof Sdk> {
  vi.resetModules();
  return import('../src/index.ts');
}
afterEach(() => vi.resetModules());

const FAULTS = ['none', 'none', 'none', 'request lost', 'answer lost', 'a list', 'another object'] as const;
const ENDS = ['returns', 'returns', 'throws', 'process dies', 'process dies before it pays'] as const;
const process_index = fc.nat({ max: 2 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      processes: fc.array(process_index, { minLength: 1, maxLength: 3 }),
      fault: fc.constantFrom(...FAULTS),
      end: fc.constantFrom(...ENDS),
    }),
  },
  fc.record({ do: fc.constant('restart' as const), process: process_index }),
  fc.record({ do: fc.constant('review' as const) }),
);

/** Every run tries it first, so that each pays at least once. */
const PAID = { do: 'call' as const, processes: [0], fault: 'none' as const, end: 'returns' as const };

test.each([
  ['ENFORCE', 'without an adapter'],
  ['ENFORCE', 'with an adapter'],
  ['SHADOW', 'without an adapter'],
] as const)(
  'in %s %s, whatever dies, is lost or is answered in another shape: a name is paid at most once',
  async (mode, how) => {
    let names = 0;
    let paid_names = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(step, { minLength: 2, maxLength: 9 }),
        async (reviewed, steps) => {
          const fake = fakePurser({ mode });
          if (reviewed) fake.decide('REVIEW');
          const name = `order-${++names}`;
          const action = {
            type: 'purchase',
            merchant: 'Hetzner Online',
            amount_minor: 5440,
            currency: 'EUR',
          };
          const state: { fault: (typeof FAULTS)[number] } = { fault: 'none' };
          const fetch = (async (url: string, init: RequestInit) => {
            const { fault } = state;
            if (fault === 'request lost') throw new TypeError('fetch failed');
            const answer = await fake.fetch(url, init);
            if (fault === 'answer lost') throw new TypeError('fetch failed');
            if (fault === 'a list') return Response.json([await answer.json()], { status: answer.status });
            if (fault === 'another object') return Response.json({ data: [], next_cursor: null });
            return answer;
          }) as typeof globalThis.fetch;
          const processes = await Promise.all([0, 1, 2].map(startProcess));
          let payments = 0;

          async function call(index: number, end: (typeof ENDS)[number]): Promise<void> {
            const { Purser } = processes[index] as typeof Sdk;
            const client = (apiKey: string) => new Purser({ apiKey, fetch, maxRetries: 0 });
            let die = () => {};
            const death = new Promise<void>((resolve) => {
              die = resolve;
            });
            const pay = async () => {
              if (end !== 'process dies before it pays') payments += 1;
              if (end === 'throws') throw new Error('no answer from the bank');
              if (end === 'returns') return {};
              die();
              return new Promise<never>(() => {});
            };
            const options = how === 'with an adapter' ? { adapter: client('sk_adapter') } : {};
            const ended = client('sk_agent')
              .spend({ idempotencyKey: name, action }, pay, options)
              .then(
                () => false,
                () => false,
              );
            if (await Promise.race([ended, death.then(() => true)])) processes[index] = await startProcess();
          }

          for (const each of steps) {
            if (each.do === 'restart') processes[each.process] = await startProcess();
            else if (each.do === 'review') {
              const pending = fake.decisions.find(({ review_state }) => review_state === 'PENDING');
              if (pending !== undefined && mode === 'ENFORCE') fake.review(pending.decision_id, 'ALLOW');
            } else {
              state.fault = each.fault;
              await Promise.all(each.processes.map((index) => call(index, each.end)));
              state.fault = 'none';
            }
            expect(payments).toBeLessThanOrEqual(1);
          }
          paid_names += payments;
        },
      ),
      { numRuns: Number(process.env.SPEND_RUNS), examples: [[false, [PAID]]] },
    );
    // Else nothing was shown.
    expect(paid_names).toBeGreaterThan(0);
  },
);
