import type { Action } from '@purser/contract/decisions';
import { isNear } from '../matching/spends.ts';
import { isDescriptorOf } from '../merchants/descriptors.ts';
import { contradicts, payeeKey } from '../merchants/keys.ts';

/** A spend that a card was asked for. Minor units. */
export interface PaidByCard {
  /** The card. */
  instrument: string;
  merchant: string;
  amount_minor: number;
  currency: string;
  occurred_at: string;
}

/** A decision that an agent asked for. */
export interface AskedDecision {
  decision_id: string;
  created_at: string;
  action: Action;
  /** 0: none of it. */
  authorized_amount_minor: number;
}

/** A request may come this long before the payment, and this long after it. */
export const ASKED_BEFORE_MS = 7 * 86_400_000;
export const ASKED_AFTER_MS = 60_000;
/** How far amounts may be apart, as for a fee or another rate. */
export const TOLERANCE_PERCENT = 2;

/** How well a decision fits a payment: the smaller the better; null: not at all. */
export function fitOf(asked: AskedDecision, paid: PaidByCard): { rank: number; apart_minor: number } | null {
  const { action, authorized_amount_minor, created_at } = asked;
  const expected_minor = authorized_amount_minor || action.amount_minor;
  const apart_minor = Math.abs(paid.amount_minor - expected_minor);
  const is_near = isNear(paid.amount_minor, expected_minor, {
    tolerance_minor: 0,
    tolerance_percent: TOLERANCE_PERCENT,
  });
  const before_ms = Date.parse(paid.occurred_at) - Date.parse(created_at);
  const is_in_time = before_ms <= ASKED_BEFORE_MS && before_ms >= -ASKED_AFTER_MS;
  if (!is_near || !is_in_time || action.currency !== paid.currency) return null;
  const { payee_id = null } = action;
  if (payee_id !== null && payeeKey(payee_id) === payeeKey(paid.instrument)) return { rank: 0, apart_minor };
  if (contradicts(payee_id, paid.instrument)) return null;
  return isDescriptorOf(paid.merchant, action.merchant) ? { rank: 1, apart_minor } : null;
}

/** The decision among those that were asked for that a payment is of: by payee or merchant, amount, and the newest; null: none. */
export function askedFirst<Asked extends AskedDecision>(
  asked: readonly Asked[],
  paid: PaidByCard,
): Asked | null {
  let best: { asked: Asked; rank: number; apart_minor: number } | null = null;
  for (const each of asked) {
    const fit = fitOf(each, paid);
    if (fit === null) continue;
    const is_better =
      best === null ||
      fit.rank < best.rank ||
      (fit.rank === best.rank &&
        (fit.apart_minor < best.apart_minor ||
          (fit.apart_minor === best.apart_minor && each.decision_id > best.asked.decision_id)));
    if (is_better) best = { asked: each, ...fit };
  }
  return best?.asked ?? null;
}
