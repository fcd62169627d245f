import type { Authority } from '@purser/sdk';

/** Corrections of how the rules read a purpose, as the policy stores them. */
export type Corrections = NonNullable<Authority['purpose']['reading']>;
export type Correction = NonNullable<Corrections['not']>[number];
export type Addition = NonNullable<Corrections['also']>[number];

/** The kinds that can be added, with their names. */
export const ADDITIONS: readonly (readonly [Addition['kind'], string])[] = [
  ['wanted', 'Wanted'],
  ['forbidden', 'Forbidden'],
  ['condition', 'Condition'],
  ['merchant', 'Merchant'],
  ['person', 'Person'],
];

const isSame = (one: Correction, other: Correction) =>
  one.kind === other.kind && one.words.toLowerCase() === other.words.toLowerCase();

function pruned({ not = [], also = [] }: Corrections): Corrections | null {
  if (not.length === 0 && also.length === 0) return null;
  return { ...(not.length > 0 && { not }), ...(also.length > 0 && { also }) };
}

/** Says that a reading is wrong, once. */
export const withNot = (of: Corrections | null, chip: Correction): Corrections | null =>
  pruned({ ...of, not: [...(of?.not ?? []).filter((one) => !isSame(one, chip)), chip] });

/** Takes back that a reading is wrong. */
export const withoutNot = (of: Corrections | null, chip: Correction): Corrections | null =>
  pruned({ ...of, not: (of?.not ?? []).filter((one) => !isSame(one, chip)) });

/** Adds a reading, once. */
export const withAlso = (of: Corrections | null, added: Addition): Corrections | null =>
  pruned({ ...of, also: [...(of?.also ?? []).filter((one) => !isSame(one, added)), added] });

/** Removes the reading that was added at a place. */
export const withoutAlso = (of: Corrections | null, index: number): Corrections | null =>
  pruned({ ...of, also: (of?.also ?? []).filter((_, i) => i !== index) });
