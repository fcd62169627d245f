import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { twoNodes } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

/** Two nodes of one installation. */
const { s, beside, get, post, makeAgent } = twoNodes({ plan: 'enterprise' });

const OPEN = { ...AUTHORITY, on_purpose_unclear: 'ALLOW', monthly_budget_minor: 10_000_000 };
const RUNS = Number(process.env.BUDGETS_RUNS);

/** An allowance of the model: its amount, its parent, and what its spends count for. */
interface Modelled {
  id: string;
  amount_minor: number;
  above: number[];
  is_revoked: boolean;
}

/** A spend of the model: what it counts for in its allowance and in all above. */
interface Spent {
  decision_id: string;
  under: number;
  minor: number;
}

const TYPES: Record<string, string> = { less: 'SPEND_EXECUTED', fail: 'SPEND_FAILED', refund: 'REFUNDED' };

const anyOp = fc.record({
  what: fc.constantFrom('spend', 'spend', 'spend', 'less', 'fail', 'refund', 'revoke'),
  which: fc.nat(5),
  minor: fc.integer({ min: 1, max: 400 }),
});

test('what children hold and have spent never exceeds the parent, whatever their amounts; what comes back comes back everywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      // The parent of each of five below the first; amounts in hundreds.
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 12 })), { minLength: 5, maxLength: 5 }),
      fc.array(fc.array(anyOp, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 4 }),
      async (below, rounds) => {
        const agent = await makeAgent(OPEN, { mode: 'ENFORCE' });
        const expires_at = new Date(Date.now() + 86_400_000).toISOString();
        const root = { agent, currency: 'EUR', amount_minor: 1_000, expires_at };
        const tree: Modelled[] = [];
        tree.push({
          id: (await post('/v1/allowances', root)).id,
          amount_minor: 1_000,
          above: [],
          is_revoked: false,
        });
        for (const [place, hundreds] of below) {
          const parent = tree[Math.min(place, tree.length - 1)] as Modelled;
          if (parent.above.length === 3) continue;
          const amount_minor = Math.min(hundreds * 100, parent.amount_minor);
          const { id } = await post('/v1/allowances', { parent: parent.id, amount_minor });
          tree.push({ id, amount_minor, above: [tree.indexOf(parent), ...parent.above], is_revoked: false });
        }
        const spent: Spent[] = [];
        const usedIn = (at: number) =>
          spent
            .filter(({ under }) => under === at || tree[under]?.above.includes(at))
            .reduce((sum, { minor }) => sum + minor, 0);
        for (const ops of rounds) {
          // The spends of a round race over both nodes; everything else comes one after the other.
          const racing = ops.filter(({ what }) => what === 'spend');
          await Promise.all(
            racing.map(async ({ which, minor }, i) => {
              const under = which % tree.length;
              const body = { ...spend(agent, minor), allowance: tree[under]?.id };
              const reply = await (i % 2 ? s : beside).call('POST', '/v1/decisions', {
                body,
                idempotency_key: freshKey(),
              });
              expect(reply.status, reply.text).toBe(201);
              const chain = [under, ...(tree[under]?.above ?? [])];
              if (reply.body.decision === 'ALLOW') {
                expect(chain.some((at) => tree[at]?.is_revoked)).toBe(false);
                spent.push({ decision_id: reply.body.decision_id, under, minor });
              }
            }),
          );
          for (const { what, which, minor } of ops) {
            const one = spent[which % Math.max(1, spent.length)];
            if (what === 'revoke' && which % tree.length > 0) {
              const at = which % tree.length;
              expect(
                (await s.call('POST', `/v1/allowances/${tree[at]?.id}/revoke`, { body: {} })).status,
              ).toBe(200);
              (tree[at] as Modelled).is_revoked = true;
            } else if (one !== undefined && ['less', 'fail', 'refund'].includes(what)) {
              const type = TYPES[what];
              const amount = Math.min(minor, one.minor);
              const body = { type, ...(what === 'less' && amount > 0 ? { amount_minor: amount } : {}) };
              const reply = await s.call('POST', `/v1/decisions/${one.decision_id}/outcomes`, { body });
              // What contradicts an earlier report is refused, and changes nothing.
              if (reply.status === 201) one.minor = what === 'less' ? amount : 0;
            }
          }
          for (const [at, { id, amount_minor }] of tree.entries()) {
            const { standing, total } = await get(`/v1/allowances/${id}`);
            expect(standing.used_minor).toBe(usedIn(at));
            expect(total.used_minor).toBe(usedIn(at));
            expect(standing.used_minor).toBeLessThanOrEqual(amount_minor);
          }
        }
      },
    ),
    { seed: 20_261_127, numRuns: Math.max(3, RUNS || 3), endOnFailure: true },
  );
  expect((await get('/v1/ledger/verify')).breaks).toEqual([]);
});
