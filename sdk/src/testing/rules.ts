/**
 * The service's own rules, by which the fake decides. The build puts them into this one module, since the package that they
 * come from is not published.
 */
export { ERRORS } from '@purser/contract/errors';
export { counterChanges } from '@purser/rules/counters/counted-in';
export { Counters } from '@purser/rules/counters/counters-in-memory';
export { budgetStatus, NOTHING_SPENT, periodOf } from '@purser/rules/domain/budget';
export {
  capabilityExpiry,
  capabilityIdOf,
  capabilityStatusAt,
  consumptionBody,
  consumptionSummary,
  newCapability,
} from '@purser/rules/domain/capabilities';
export { composeDecision } from '@purser/rules/domain/decision-document';
export {
  apply,
  beginHistory,
  flagsOfExecution,
  issuesCapability,
} from '@purser/rules/domain/decision-history';
export {
  budgetImpact,
  capabilityOf,
  countedByNew,
  effectiveNow,
  isExpired,
  liveFields,
  newHoldExpiresAt,
} from '@purser/rules/domain/decision-states';
export { exactRepeat, judgeOutcome, outcomeBody } from '@purser/rules/domain/outcomes';
export { noReservation, reservationIdOf } from '@purser/rules/domain/reservations';
export { reviewBody, whyFinal, whyUnreviewable } from '@purser/rules/domain/reviews';
export { isLease, judgementOfLease } from '@purser/rules/leases/leases';
export { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
export { countersOf, ofDuplicates, withSlots } from '@purser/rules/policy/counters';
export { decide } from '@purser/rules/policy/decide';
export { knownMerchantKey, makesMerchantKnown } from '@purser/rules/policy/known-merchants';
export { whyNotAllowed, whyNotConsumed, whyNotCovered } from '@purser/rules/policy/may-pay';
export { remediesOf, smallerAmountOf } from '@purser/rules/policy/remedies';
export { countedLimits } from '@purser/rules/policy/shared-budgets';
export { canonicalJson } from '@purser/rules/values/canonical-json';
export { isActiveCurrency } from '@purser/rules/values/money';
