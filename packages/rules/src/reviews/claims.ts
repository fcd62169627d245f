import { type Claim, MAX_CLAIM } from '@purser/contract/reviews/sheet';

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const CONTROL_OR_SPACE = /[\p{Cc}\p{White_Space}]+/gu;

/**
 * Returns the beginning of a text that an agent wrote, at most `MAX_CLAIM` code points, without control, format and invisible
 * characters, white space folded. `length` is of the whole text in code points. Null where there is no text.
 */
export function claimOf(text: string | null | undefined): Claim | null {
  if (text === null || text === undefined || text === '') return null;
  const characters = [...text.replaceAll(INVISIBLE, '').replaceAll(CONTROL_OR_SPACE, ' ').trim()];
  const clamped = characters.length > MAX_CLAIM;
  return {
    text: characters.slice(0, MAX_CLAIM).join(''),
    length: [...text].length,
    clamped,
  };
}
