import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import { causesOf } from '@purser/contract/reviews/choices';
import { REVIEW_CAUSES } from '@purser/contract/reviews/reasons';
import type { RememberOffer } from '@purser/contract/reviews/sheet';
import { formatMoney } from '../values/money.ts';
import { claimOf } from './claims.ts';

const NOT_OFFERED: RememberOffer = { offered: false, effect: null };

const named = ({ action }: Pick<Decision, 'action'>) => `“${claimOf(action.merchant)?.text ?? ''}”`;

/** The merchant's name in quotation marks, as a claim is shown, and that the payee counts where the request names one. */
export const namedMerchant = (decision: Pick<Decision, 'action'>): string =>
  decision.action.payee_id === undefined ? named(decision) : `${named(decision)}, paid at this payee,`;

function effectOfAlways(decision: Decision, authority: Authority): string {
  const { review_threshold_minor: threshold, currency } = authority;
  const above =
    threshold === undefined ? '' : ` Above ${formatMoney(threshold, currency)} it still needs a review.`;
  return `${namedMerchant(decision)} counts as a merchant that fits the purpose of this agent, unless a request contradicts the purpose.${above}`;
}

function effectOfNever(decision: Decision): string {
  return decision.mode === 'ENFORCE'
    ? `Every request of this agent for ${named(decision)} is denied, whatever payee it names.`
    : `Every request of this agent for ${named(decision)} is decided DENY, whatever payee it names. In SHADOW nothing is stopped.`;
}

/**
 * Returns the offers to list a decision's merchant with its review, as far as the reasons for the review are about the
 * merchant or the purpose. `authority` is in force now; `mayList` says whether the caller may list the merchant so.
 */
export function rememberOffers(
  decision: Decision,
  authority: Authority | null,
  mayList: (remember: 'ALWAYS' | 'NEVER') => boolean,
): Record<'ALWAYS' | 'NEVER', RememberOffer> {
  const causes = causesOf(decision).map((code) => REVIEW_CAUSES[code]);
  const offer = (remember: 'ALWAYS' | 'NEVER', effect: (in_force: Authority) => string): RememberOffer => {
    const fits = causes.some((cause) => cause?.remember.includes(remember) === true);
    if (authority === null || !fits || !mayList(remember)) return NOT_OFFERED;
    return { offered: true, effect: effect(authority) };
  };
  return {
    ALWAYS: offer('ALWAYS', (in_force) => effectOfAlways(decision, in_force)),
    NEVER: offer('NEVER', () => effectOfNever(decision)),
  };
}
