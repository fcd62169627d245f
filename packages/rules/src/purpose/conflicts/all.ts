import { cashLike } from './cash-like.ts';
import { conditionDenied } from './condition-denied.ts';
import type { Conflict } from './conflict.ts';
import { disguise } from './disguise.ts';
import { otherGoods } from './other-goods.ts';
import { otherPayee } from './other-payee.ts';
import { otherSource } from './other-source.ts';
import { otherUnit } from './other-unit.ts';
import { overMark } from './over-mark.ts';
import { paidAlready } from './paid-already.ts';
import { plantedText } from './planted-text.ts';
import { privateUse } from './private-use.ts';
import { prohibited } from './prohibited.ts';
import { prohibitedAttribute } from './prohibited-attribute.ts';
import { refundElsewhere } from './refund-elsewhere.ts';
import { refusedBefore } from './refused-before.ts';
import { splitSum } from './split-sum.ts';
import { switchedPayee } from './switched-payee.ts';
import { unusualAmount } from './unusual-amount.ts';

/** All conflicts, in the order in which they are told: the surest first. */
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
  refundElsewhere,
  disguise,
  otherPayee,
  refusedBefore,
  splitSum,
  unusualAmount,
  overMark,
  otherGoods,
];
