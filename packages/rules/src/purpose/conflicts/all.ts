import type { AttentionLevel } from '@purser/contract/purpose/attention';
import type { QuestionKind } from '@purser/contract/purpose/questions';
import { cashLike } from './cash-like.ts';
import { clauseWords } from './clause-words.ts';
import { condition } from './condition.ts';
import { conditionDenied } from './condition-denied.ts';
import type { Conflict } from './conflict.ts';
import { disguise } from './disguise.ts';
import { missingDescription } from './missing-description.ts';
import { newPayee } from './new-payee.ts';
import { newWords } from './new-words.ts';
import { otherBeneficiary } from './other-beneficiary.ts';
import { otherGoods } from './other-goods.ts';
import { otherSource } from './other-source.ts';
import { otherUnit } from './other-unit.ts';
import { overMark } from './over-mark.ts';
import { paidAlready } from './paid-already.ts';
import { plantedText } from './planted-text.ts';
import { privateUse } from './private-use.ts';
import { prohibited } from './prohibited.ts';
import { prohibitedAttribute } from './prohibited-attribute.ts';
import { refundElsewhere } from './refund-elsewhere.ts';
import { rejectedBefore } from './rejected-before.ts';
import { splitSum } from './split-sum.ts';
import { switchedPayee } from './switched-payee.ts';
import { unusualAmount } from './unusual-amount.ts';

/** All conflicts, in the order in which they are named: the surest first. */
export const CONFLICTS: readonly Conflict[] = [
  plantedText,
  prohibited,
  switchedPayee,
  cashLike,
  paidAlready,
  prohibitedAttribute,
  conditionDenied,
  otherSource,
  otherUnit,
  privateUse,
  otherBeneficiary,
  refundElsewhere,
  disguise,
  newPayee,
  rejectedBefore,
  splitSum,
  unusualAmount,
  missingDescription,
  overMark,
  otherGoods,
  condition,
  clauseWords,
  newWords,
];

const FROM_NORMAL: readonly QuestionKind[] = [
  'other_goods',
  'condition',
  'over_mark',
  'other_source',
  'other_unit',
];
const FROM_HIGH: readonly QuestionKind[] = ['new_words'];

/** True if a conflict is asked about at a level of attention; at `LOW` only contradictions are. */
export function isAskedAt(kind: QuestionKind, attention: AttentionLevel): boolean {
  if (FROM_HIGH.includes(kind)) return attention === 'HIGH';
  return attention !== 'LOW' || !FROM_NORMAL.includes(kind);
}
