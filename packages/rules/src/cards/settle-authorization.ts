import type { Outcome } from '../domain/outcomes.ts';
import type { LineRow } from '../history/lines.ts';
import { amountsOf } from './asked-first.ts';
import type { AuthorizationFact } from './authorizations.ts';

/** A report that is due for a decision. Minor units. */
export interface DueReport {
  type: 'SPEND_EXECUTED' | 'SPEND_FAILED' | 'SPEND_CANCELLED' | 'PARTIALLY_REFUNDED';
  amount_minor: number | null;
  external_reference: string;
  /** Null: the time of the record. */
  occurred_at: string | null;
}

/** All that is known of an authorization. `currency`: that of its decision. */
export interface WatchedAuthorization {
  authorization: string;
  currency: string;
  facts: ReadonlySet<AuthorizationFact>;
  lines: readonly Pick<
    LineRow,
    | 'kind'
    | 'amount_minor'
    | 'currency'
    | 'merchant_amount_minor'
    | 'merchant_currency'
    | 'external_reference'
    | 'occurred_at'
    | 'identity'
  >[];
}

type Reported = Pick<Outcome, 'type' | 'amount_minor' | 'external_reference' | 'source'>;

const ENDS: readonly AuthorizationFact[] = ['CLOSED', 'DECLINED', 'REVERSED', 'EXPIRED'];
const latest = (times: readonly string[]) => [...times].sort().at(-1) ?? null;

/** The report of an authorization under which nothing was captured. */
function withoutCapture({ authorization, facts }: WatchedAuthorization): DueReport | null {
  const type = facts.has('DECLINED')
    ? 'SPEND_FAILED'
    : facts.has('REVERSED') || facts.has('EXPIRED')
      ? 'SPEND_CANCELLED'
      : null;
  return type === null
    ? null
    : { type, amount_minor: null, external_reference: authorization, occurred_at: null };
}

/**
 * The next report that is due for the decision of an authorization, after those that were recorded; null: none. It depends on what
 * is known alone, not on the order in which it came: captures are one sum once the rail expects no more, a later one raises it, and
 * each refund is reported by its own name as soon as it fits what was executed.
 */
export function dueReport(known: WatchedAuthorization, outcomes: readonly Reported[]): DueReport | null {
  const { authorization, facts, currency } = known;
  const lines = known.lines.flatMap(({ kind, external_reference, occurred_at, identity, ...money }) => {
    const in_currency = amountsOf(money).find((each) => each.currency === currency);
    if (in_currency === undefined) return [];
    const { amount_minor } = in_currency;
    return { kind, external_reference, occurred_at, identity, amount_minor };
  });
  const captures = lines.filter(({ kind }) => kind === 'SPEND');
  const captured = captures.reduce((sum, { amount_minor }) => sum + amount_minor, 0);
  const by_rail = outcomes.filter(({ source }) => source === 'PAYMENT_RAIL');
  if (captured === 0) {
    const is_settled = by_rail.some(({ type }) => /^SPEND_/.test(type));
    return is_settled ? null : withoutCapture(known);
  }
  if (!ENDS.some((fact) => facts.has(fact)) || !Number.isSafeInteger(captured)) return null;
  const executed = by_rail.flatMap(({ type, amount_minor }) =>
    type === 'SPEND_EXECUTED' && amount_minor !== null ? [amount_minor] : [],
  );
  const executed_minor = Math.max(0, ...executed);
  if (captured > executed_minor) {
    const occurred_at = latest(captures.map((line) => line.occurred_at));
    return { type: 'SPEND_EXECUTED', amount_minor: captured, external_reference: authorization, occurred_at };
  }
  const refunds = by_rail.filter(({ type }) => type === 'REFUNDED' || type === 'PARTIALLY_REFUNDED');
  const left = executed_minor - refunds.reduce((sum, { amount_minor }) => sum + (amount_minor ?? 0), 0);
  const reported = new Set(refunds.map(({ external_reference }) => external_reference));
  const due = lines
    .filter(
      ({ kind, amount_minor, ...line }) =>
        kind === 'REFUND' && amount_minor <= left && !reported.has(nameOf(line)),
    )
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))[0];
  if (due === undefined) return null;
  const { amount_minor, occurred_at } = due;
  return { type: 'PARTIALLY_REFUNDED', amount_minor, external_reference: nameOf(due), occurred_at };
}

const nameOf = ({ external_reference, identity }: Pick<LineRow, 'external_reference' | 'identity'>) =>
  external_reference ?? identity;
