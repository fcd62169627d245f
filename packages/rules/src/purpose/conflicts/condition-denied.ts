import { DENIED } from '../data/spend-language.ts';
import { attributesIn } from '../language/attributes.ts';
import { stemWord } from '../language/text.ts';
import { type Conflict, conflictsWith, type Inquiry, MAX_QUOTE_LENGTH } from './conflict.ts';

interface Denial {
  field: string;
  text: string;
  stem: string;
}

/** All that the texts of a request deny, in their order; found once, however many conditions there are. */
function denialsIn({ spend }: Inquiry): Denial[] {
  return [spend.description, spend.task, ...spend.trace].flatMap(({ field, folded }) =>
    Array.from(folded.matchAll(DENIED), (match) => ({
      field,
      text: match[0],
      stem: stemWord(match[1] ?? match[2] ?? ''),
    })),
  );
}

/** The request itself shows that a condition of the purpose does not hold. */
export const conditionDenied: Conflict = {
  id: 'condition-denied',
  severity: 'weak',
  applies: ({ purpose }) => purpose.requirements.length > 0,
  find(inquiry) {
    const { purpose, spend } = inquiry;
    const denials = denialsIn(inquiry);
    for (const { stems, kinds, subject, field, text } of purpose.requirements) {
      const said = denials.find((one) => stems.has(one.stem));
      const is_about = subject.size === 0 || [...subject].some((stem) => spend.goods_stems.has(stem));
      const named =
        kinds.size > 0 && is_about
          ? attributesIn(spend.description.tokens, new Set(kinds.keys()))
          : new Map<string, never>();
      const other = [...named].find(([scale, { values }]) =>
        [...values].some((value) => kinds.get(scale)?.has(value) !== true),
      )?.[1];
      const found =
        said ?? (other === undefined ? undefined : { field: 'action.description', text: other.text });
      if (found === undefined) continue;
      return {
        sentence: `"${found.text}" shows that the spend does not meet a condition of the purpose: "${text.slice(0, MAX_QUOTE_LENGTH)}".`,
        evidence: [conflictsWith(found.field, found.text), conflictsWith(field, text)],
        ...(is_about ? {} : { severity: 'unclear' as const }),
      };
    }
    return undefined;
  },
};
