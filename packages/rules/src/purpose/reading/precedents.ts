import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import type { SpendNames } from '../../domain/feedback.ts';
import { sha256, shownHash } from '../../domain/ledger.ts';
import { type Answer, questionId } from '../../domain/questions.ts';
import type { Precedent, SpendFacts } from '../../domain/spend-facts.ts';
import { payeeKey } from '../../merchants/keys.ts';
import { normaliseMerchant } from '../../merchants/names.ts';
import { remembered } from '../../values/remembered.ts';
import { carriesMeaning, LOOSE_STEMS } from '../language/everyday-words.ts';
import { tokenize } from '../language/text.ts';

/** Names and words are keys of an index, whose entries are limited to some 2,700 bytes. */
const MAX_NAME_LENGTH = 200;
const MAX_WORD_LENGTH = 64;

/** The key of a merchant in history: its normalised name, or a hash of it if it is very long. */
export const historyKey: (merchant: string) => string = remembered((merchant) => {
  const name = normaliseMerchant(merchant);
  return name.length > MAX_NAME_LENGTH ? shownHash(sha256(name)) : name;
});

/** The keys of a description in history, each once; longer than any real word is left out. */
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

/**
 * Precedents at the merchant of an action, or to its payee. For payees that only differ in spelling, only refusals
 * count.
 */
export function precedentsAt(
  { precedents }: SpendFacts,
  { merchant, payee_id }: Pick<Action, 'merchant' | 'payee_id'>,
): readonly Precedent[] {
  const { by_merchant, by_payee } = precedents;
  if (by_merchant.size === 0 && by_payee.size === 0) return NONE;
  const there = by_merchant.get(historyKey(merchant)) ?? NONE;
  const to = payee_id === undefined ? NONE : (by_payee.get(payeeKey(payee_id)) ?? NONE);
  const others = to.filter((one) => !there.includes(one));
  if (others.length === 0) return there;
  return [
    ...there,
    ...others.flatMap((one) => {
      if (one.payee_id === payee_id) return one;
      return one.said_by_people.refused > 0 ? refusedOnly(one) : [];
    }),
  ];
}

function refusedOnly(one: Precedent): Precedent {
  return {
    ...one,
    said_by_people: { allowed: 0, refused: one.said_by_people.refused },
    settled_by_rail: 0,
    words: new Map([...one.words].map(([word, { refused }]) => [word, { allowed: 0, refused }])),
    usual_minor: new Map(),
  };
}

const NONE: readonly Precedent[] = [];

/** The answer of people to the question whether the agent may buy at the merchant of an action. */
export function answerAtMerchant(
  { answers }: SpendFacts,
  { purpose }: Authority,
  { merchant }: Pick<Action, 'merchant'>,
): Answer | undefined {
  if (answers.size === 0) return undefined;
  const merchant_key = historyKey(merchant);
  return answers.get(questionId(purpose.objective, { kind: 'new_merchant', merchant_key, about: null }));
}
