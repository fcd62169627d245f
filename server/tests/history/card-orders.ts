import type { RailKind } from '@purser/contract/values/history';
import fc from 'fast-check';
import {
  lithicMovement,
  lithicUpdated,
  stripeAuthorization,
  stripeEvent,
  stripeTransaction,
} from '../../../packages/rail-events/tests/vendor-objects.ts';

/** One authorization, and what became of it. */
export interface Story {
  end: 'CLOSED' | 'DECLINED' | 'REVERSED' | 'EXPIRED' | 'OPEN' | 'ALONE';
  amount: number;
  captures: number[];
  /** Each is at most what was captured, all together. */
  refunds: number[];
  /** True if the closing event lists the transactions. */
  lists: boolean;
}

const amounts = (max: number) => fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: max });

/** Stories of every kind. Some captures come after an authorization was given back, as they do where a shop is offline. */
export const stories: fc.Arbitrary<Story> = fc
  .record({
    end: fc.constantFrom<Story['end']>(
      'CLOSED',
      'CLOSED',
      'DECLINED',
      'REVERSED',
      'EXPIRED',
      'OPEN',
      'ALONE',
    ),
    amount: fc.integer({ min: 1, max: 9_000 }),
    captures: amounts(3),
    shares: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 2 }),
    lists: fc.boolean(),
  })
  .map(({ end, amount, captures, shares, lists }) => {
    const captured = end === 'ALONE' ? [amount] : end === 'DECLINED' ? [] : captures;
    const total = captured.reduce((sum, each) => sum + each, 0);
    const refunds = end === 'ALONE' ? [] : shares.map((share) => Math.floor((total * share) / 100));
    return { end, amount, captures: captured, refunds: refunds.filter((each) => each > 0), lists };
  });

/** The outcome that the decision must have in the end: by the story alone. */
export function expectedOf({ end, captures, refunds }: Story) {
  const executed = captures.reduce((sum, each) => sum + each, 0);
  const refunded = refunds.reduce((sum, each) => sum + each, 0);
  if (executed > 0) {
    if (end === 'OPEN') return { outcome_state: 'NONE', spent: null };
    const state = refunded === 0 ? 'EXECUTED' : refunded < executed ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
    return { outcome_state: state, spent: executed - refunded };
  }
  if (end === 'DECLINED') return { outcome_state: 'FAILED', spent: null };
  return { outcome_state: end === 'REVERSED' || end === 'EXPIRED' ? 'CANCELLED' : 'NONE', spent: null };
}

function stripeEvents(story: Story, id: string): object[] {
  const { end, amount, captures, refunds, lists } = story;
  const transactions = [
    ...captures.map((each, i) => ({ id: `ipi_${id}_${i}`, amount: -each, type: 'capture' as const })),
    ...refunds.map((each, i) => ({ id: `ipi_${id}_r${i}`, amount: each, type: 'refund' as const })),
  ].map((fields) => stripeTransaction({ ...fields, authorization: end === 'ALONE' ? null : `iauth_${id}` }));
  const moved = transactions.map((each) => stripeEvent('issuing_transaction.created', each));
  if (end === 'ALONE') return moved;
  const of = { id: `iauth_${id}`, amount };
  const created = stripeEvent('issuing_authorization.created', stripeAuthorization(of));
  if (end === 'OPEN') return [created, ...moved];
  const over = {
    CLOSED: { status: 'closed' as const },
    DECLINED: { status: 'closed' as const, approved: false },
    REVERSED: { status: 'reversed' as const, amount: 0 },
    EXPIRED: { status: 'expired' as const },
  }[end];
  const listed = lists ? { transactions } : {};
  const updated = stripeEvent(
    'issuing_authorization.updated',
    stripeAuthorization({ ...of, ...over, ...listed }),
  );
  return [created, ...moved, updated];
}

function lithicEvents(story: Story, token: string): object[] {
  const { end, amount, captures, refunds } = story;
  const result = end === 'DECLINED' ? ('DECLINED' as const) : ('APPROVED' as const);
  const asked = lithicMovement({ token: `${token}_a`, type: 'AUTHORIZATION', amount, result });
  const cleared = captures.map((each, i) =>
    lithicMovement({ token: `${token}_c${i}`, type: 'CLEARING', amount: each, minute: i + 1 }),
  );
  const returned = refunds.map((each, i) =>
    lithicMovement({ token: `${token}_r${i}`, type: 'RETURN', amount: each, minute: i + 10 }),
  );
  const all = end === 'ALONE' ? cleared : [asked, ...cleared, ...returned];
  const status = {
    CLOSED: 'SETTLED' as const,
    ALONE: 'SETTLED' as const,
    DECLINED: 'DECLINED' as const,
    REVERSED: 'VOIDED' as const,
    EXPIRED: 'EXPIRED' as const,
    OPEN: 'PENDING' as const,
  }[end];
  const steps = all.slice(1).map((_, i) => lithicUpdated({ token }, all.slice(0, i + 1)));
  return [...steps, lithicUpdated({ token, status }, all)];
}

/** The name of a story's authorization at its rail. */
export const authorizationOf = (kind: RailKind, { end }: Story, id: string): string =>
  kind === 'lithic' ? id : end === 'ALONE' ? `ipi_${id}_0` : `iauth_${id}`;

/** The events of a story, in their natural order. */
export const eventsOf = (kind: RailKind, story: Story, id: string): object[] =>
  kind === 'lithic' ? lithicEvents(story, id) : stripeEvents(story, id);

/** A shuffled copy, in which some items come twice. */
export function disordered<T>(items: readonly T[], next: () => number): T[] {
  const copy = [...items, ...items.filter(() => next() < 0.3)];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
