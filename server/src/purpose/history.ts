import type { Assessment, PurposeEvidence, PurposeHistory } from '../domain/assessment.ts';
import type { SpendNames } from '../domain/feedback.ts';
import { sha256, shownHash } from '../domain/ledger.ts';
import type { SpendRequest } from '../domain/spends.ts';
import { normaliseMerchant } from '../merchants/blocklist.ts';
import { carriesMeaning, LOOSE_STEMS } from './language/everyday-words.ts';
import { tokenize } from './language/text.ts';

/** Names and words are keys of an index, whose entries are limited to some 2,700 bytes. */
const MAX_NAME_LENGTH = 200;
const MAX_WORD_LENGTH = 64;

/** The key of a merchant in `PurposeHistory.merchants`: its normalised name, or a hash of it if it is very long. */
export function historyKey(merchant: string): string {
  const name = normaliseMerchant(merchant);
  return name.length > MAX_NAME_LENGTH ? shownHash(sha256(name)) : name;
}

/** The keys of a description in `PurposeHistory.words`, each once; longer than any real word is left out. */
export function historyWords(description: string): string[] {
  return [
    ...new Set(
      tokenize(description)
        .filter(carriesMeaning)
        .map((token) => token.stem),
    ),
  ].filter((stem) => stem.length <= MAX_WORD_LENGTH && !LOOSE_STEMS.has(stem) && !/\d/.test(stem));
}

/** Both, for the aggregation of feedback. */
export const HISTORY_NAMES: SpendNames = { merchant: historyKey, words: historyWords };

/** What the agent's history says about a spend. */
export interface Past {
  /** People confirmed spends at this merchant with all of these words, and rejected none. */
  confirmed: PurposeEvidence | undefined;
  /** People rejected spends at this merchant or payee, and confirmed none. */
  rejected: PurposeEvidence | undefined;
  /** Something differs from earlier spends. `sentence` is what a person reads. */
  unusual: { evidence: PurposeEvidence; sentence: string } | undefined;
  /** Most words of the description occur in rejected spends and in no confirmed one. */
  is_rejected_again: boolean;
}

/** The past of a spend without history. */
export const NO_PAST: Past = {
  confirmed: undefined,
  rejected: undefined,
  unusual: undefined,
  is_rejected_again: false,
};

/** An amount over this multiple of the highest earlier one is unusual. */
const UNUSUAL_FACTOR = 5;
/** Confirmed spends vouch for amounts up to this multiple of the highest earlier one. */
const CONFIRMED_FACTOR = 1.5;
/** With fewer earlier payments, no amount counts as unusual. */
const MIN_PAYMENTS = 3;
/** One rejected spend says little about a merchant who sells many things. */
const MIN_REJECTIONS = 2;

/** The payee of a refund differs from case to case, since money returns to where it came from. */
const RETURNS = /refund|reversal|chargeback|reimburse|payout/;

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Looks up what the history says about a spend, in time independent of the history's size. */
export function pastOf(request: SpendRequest, history: PurposeHistory | undefined): Past {
  if (history === undefined) return NO_PAST;
  const { merchant, payee_id, amount_minor, currency } = request.action;
  const known = history.merchants.get(historyKey(merchant));
  const payee = payee_id === undefined ? undefined : history.payees.get(payee_id);
  const good = (known?.labels.aligned ?? 0) + (known?.reviews.allowed ?? 0);
  const bad = (known?.labels.misaligned ?? 0) + (known?.reviews.denied ?? 0);
  const badPayee = (payee?.labels.misaligned ?? 0) + (payee?.reviews.denied ?? 0);
  const goodPayee = (payee?.labels.aligned ?? 0) + (payee?.reviews.allowed ?? 0);
  const evidence = (text: string, effect: PurposeEvidence['effect']): PurposeEvidence => ({
    field: 'history',
    text,
    effect,
  });
  const words = historyWords(request.action.description ?? '');
  const isOnly = (word: string, label: 'aligned' | 'misaligned', other: 'aligned' | 'misaligned') => {
    const labelled = history.words.get(word);
    return labelled !== undefined && labelled[label] > 0 && labelled[other] === 0;
  };
  const usual = known?.usual_minor.get(currency);
  const fitting_words = words.filter((word) => isOnly(word, 'aligned', 'misaligned'));
  // All words must be confirmed: measured on spends by other authors, requiring half of them let nearly as many spends
  // through that did not fit as that did.
  const isLike = words.length > 0 && fitting_words.length === words.length;
  const rail = payee_id?.slice(0, payee_id.indexOf(':') + 1) ?? '';
  const isOtherPayee =
    payee_id !== undefined &&
    known !== undefined &&
    !RETURNS.test(request.action.type.toLowerCase()) &&
    !known.payee_ids.has(payee_id) &&
    [...known.payee_ids].some((one) => one.startsWith(rail));
  // Spends were confirmed only for their payee and for about their amount.
  const isSamePayee =
    payee_id === undefined ? known?.payee_ids.size === 0 : known?.payee_ids.has(payee_id) === true;
  const isInRange =
    usual === undefined
      ? (known?.usual_minor.size ?? 0) === 0
      : amount_minor <= usual.high * CONFIRMED_FACTOR;
  const isHigh =
    usual !== undefined &&
    known !== undefined &&
    known.paid_count + known.labels.aligned >= MIN_PAYMENTS &&
    amount_minor > usual.high * UNUSUAL_FACTOR;
  return {
    confirmed:
      good > 0 && isLike && isSamePayee && isInRange && bad === 0 && badPayee === 0
        ? evidence(`people found spends at this merchant to fit ${times(good)}`, 'supports')
        : undefined,
    rejected:
      (bad >= MIN_REJECTIONS && good === 0) || (badPayee >= MIN_REJECTIONS && goodPayee === 0)
        ? evidence(
            `people found spends at this merchant or payee not to fit ${times(Math.max(bad, badPayee))}`,
            'conflicts',
          )
        : undefined,
    is_rejected_again:
      words.length > 0 &&
      words.filter((word) => isOnly(word, 'misaligned', 'aligned')).length * 2 > words.length,
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
 * Adjusts an assessment by the past. A misaligned spend stays misaligned. Confirmation raises only what is unclear for
 * want of words (`is_settleable`). Rejection lowers unless the operator named the payee (`is_named`). What is unusual
 * needs a person and becomes unclear.
 */
export function inLightOf(
  past: Past,
  present: Assessment,
  { is_settleable, is_named }: { is_settleable: boolean; is_named: boolean },
): Assessment {
  const { confirmed, rejected, unusual, is_rejected_again } = past;
  const changed = (
    assessment: Assessment['assessment'],
    confidence: number,
    rationale: string,
    evidence: PurposeEvidence,
  ): Assessment => ({
    ...present,
    assessment,
    confidence,
    rationale,
    evidence: [evidence, ...present.evidence],
  });
  switch (present.assessment) {
    case 'PURPOSE_MISALIGNED':
      return present;
    case 'PURPOSE_ALIGNED':
      if (rejected !== undefined && !is_named)
        return changed(
          'PURPOSE_UNCLEAR',
          0.55,
          'The words fit, but people found earlier spends there not to fit.',
          rejected,
        );
      return unusual === undefined
        ? present
        : changed('PURPOSE_UNCLEAR', 0.55, unusual.sentence, unusual.evidence);
    case 'PURPOSE_UNCLEAR':
      if (rejected !== undefined && !is_named && is_rejected_again)
        return changed(
          'PURPOSE_MISALIGNED',
          0.65,
          'Nothing shows that this is wanted, and people found the like of it there not to fit.',
          rejected,
        );
      return is_settleable && confirmed !== undefined && unusual === undefined
        ? changed(
            'PURPOSE_ALIGNED',
            0.7,
            'People found earlier spends at this merchant to fit, and nothing in this one speaks against it.',
            confirmed,
          )
        : present;
  }
}
