import { normaliseMerchant } from '../domain/merchants.ts';
import type { SpendRequest } from '../domain/spends.ts';
import type { Assessment, PurposeEvidence } from './assessment.ts';

/** What happened before between an agent and one merchant or one payee, under the purpose that holds now. */
export interface Dealings {
  /** Reviews of earlier spends there. */
  reviews: { allowed: number; denied: number };
  /** People's labels of earlier spends there. Only the labels that stand count, not those that were replaced. */
  labels: { aligned: number; misaligned: number };
  /** Spends that were executed. */
  paid_count: number;
  /** Lowest and highest amount that was executed or labelled aligned, by currency, in minor units. */
  usual_minor: ReadonlyMap<string, { low: number; high: number }>;
  /** `payee_id`s that the money went to. Empty for a payee. */
  payee_ids: ReadonlySet<string>;
}

/**
 * Facts about an agent's past, read by the caller, so that judging stays pure. They must be facts of this agent under
 * this purpose: what another purpose allowed says nothing here.
 */
export interface PurposeHistory {
  /** By `historyKey` of the merchant's name. */
  merchants: ReadonlyMap<string, Dealings>;
  /** By `payee_id` as it was sent. */
  payees: ReadonlyMap<string, Dealings>;
}

/** The name by which `PurposeHistory.merchants` keeps a merchant. */
export const historyKey = (merchant: string): string => normaliseMerchant(merchant);

/** What the past says of a spend. */
export interface Past {
  /** People found spends there to fit, and none that did not. */
  confirmed: PurposeEvidence | undefined;
  /** People found spends there not to fit, and none that did. */
  rejected: PurposeEvidence | undefined;
  /** Something is unlike before. `sentence` is what a person reads. */
  unusual: { evidence: PurposeEvidence; sentence: string } | undefined;
}

/** Nothing is known. */
export const NO_PAST: Past = { confirmed: undefined, rejected: undefined, unusual: undefined };

/** An amount beyond this multiple of the highest before is unusual. */
const UNUSUAL_FACTOR = 3;
/** So many payments make a habit that can be broken. */
const HABIT = 2;

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Reads the facts that concern a spend. Constant time. */
export function pastOf(request: SpendRequest, history: PurposeHistory | undefined): Past {
  if (history === undefined) return NO_PAST;
  const { merchant, payee_id, amount_minor, currency } = request.action;
  const known = history.merchants.get(historyKey(merchant));
  const payee = payee_id === undefined ? undefined : history.payees.get(payee_id);
  const good = (known?.labels.aligned ?? 0) + (known?.reviews.allowed ?? 0);
  const bad =
    (known?.labels.misaligned ?? 0) +
    (known?.reviews.denied ?? 0) +
    (payee?.labels.misaligned ?? 0) +
    (payee?.reviews.denied ?? 0);
  const evidence = (text: string, effect: PurposeEvidence['effect']): PurposeEvidence => ({
    field: 'history',
    text,
    effect,
  });
  const isOtherPayee =
    payee_id !== undefined &&
    known !== undefined &&
    known.payee_ids.size > 0 &&
    !known.payee_ids.has(payee_id);
  const usual = known?.usual_minor.get(currency);
  const isHigh =
    usual !== undefined &&
    known !== undefined &&
    known.paid_count + known.labels.aligned >= HABIT &&
    amount_minor > usual.high * UNUSUAL_FACTOR;
  return {
    confirmed:
      good > 0 && bad === 0
        ? evidence(`people found spends at this merchant to fit ${times(good)}`, 'supports')
        : undefined,
    rejected:
      bad > 0 && good === 0
        ? evidence(`people found spends at this merchant or payee not to fit ${times(bad)}`, 'conflicts')
        : undefined,
    unusual: isOtherPayee
      ? {
          evidence: evidence('the merchant was paid before, to another payee', 'suspicious'),
          sentence: 'The merchant was paid before, to another payee than this one.',
        }
      : isHigh
        ? {
            evidence: evidence(`the highest amount before was ${usual.high} minor units`, 'suspicious'),
            sentence: `The amount is more than ${UNUSUAL_FACTOR} times what this merchant was paid before.`,
          }
        : undefined,
  };
}

/**
 * What the past makes of an assessment. It never turns a conflict of this spend into anything better: a person's
 * "fits" settles only what is unclear for want of words (`is_settleable`), a person's "does not fit" lowers, and
 * what is unlike before asks for a person.
 */
export function inLightOf(past: Past, present: Assessment, is_settleable: boolean): Assessment {
  const { confirmed, rejected, unusual } = past;
  if (present.assessment === 'PURPOSE_MISALIGNED') return present;
  if (rejected !== undefined) {
    const evidence = [rejected, ...present.evidence];
    return present.assessment === 'PURPOSE_ALIGNED'
      ? {
          ...present,
          assessment: 'PURPOSE_UNCLEAR',
          confidence: 0.55,
          rationale: 'The words fit, but people found earlier spends there not to fit.',
          evidence,
        }
      : {
          ...present,
          assessment: 'PURPOSE_MISALIGNED',
          confidence: 0.65,
          rationale: `Nothing shows that this is wanted, and people found earlier spends there not to fit.`,
          evidence,
        };
  }
  if (unusual !== undefined && present.assessment === 'PURPOSE_ALIGNED') {
    return {
      ...present,
      assessment: 'PURPOSE_UNCLEAR',
      confidence: 0.55,
      rationale: unusual.sentence,
      evidence: [unusual.evidence, ...present.evidence],
    };
  }
  if (
    present.assessment === 'PURPOSE_UNCLEAR' &&
    is_settleable &&
    confirmed !== undefined &&
    unusual === undefined
  ) {
    return {
      ...present,
      assessment: 'PURPOSE_ALIGNED',
      confidence: 0.7,
      rationale:
        'People found earlier spends at this merchant to fit, and nothing in this one speaks against it.',
      evidence: [confirmed, ...present.evidence],
    };
  }
  return present;
}
