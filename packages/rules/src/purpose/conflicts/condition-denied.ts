import { PURPOSE } from '../../sentences/purpose.ts';
import { DENIED, SAYS_PENDING } from '../data/spend-language.ts';
import { attributesIn } from '../language/attributes.ts';
import { stemWord } from '../language/text.ts';
import type { Requirement } from '../reading/authority-terms.ts';
import type { SpendReading } from '../reading/spend-reading.ts';
import {
  type Conflict,
  conflictsWith,
  type Inquiry,
  saidOutright,
  subjectOf,
  subjectOfSaid,
  subjectWords,
} from './conflict.ts';

interface Denial {
  field: string;
  text: string;
  stem: string;
}

/** All that the texts of a request deny, in their order; found once, however many conditions there are. */
function denialsIn({ spend }: Inquiry): Denial[] {
  return spend.said.flatMap((said) =>
    said.matches(DENIED).map((match) => ({
      field: said.field,
      text: match[0],
      stem: stemWord(match[1] ?? match[2] ?? ''),
    })),
  );
}

const isAbout = ({ subject }: Requirement, { goods_stems }: SpendReading): boolean =>
  subject.size === 0 || [...subject].some((stem) => goods_stems.has(stem));

/** The request itself shows that a condition of the purpose does not hold. */
export const conditionDenied: Conflict = {
  kind: 'condition_denied',
  severity: 'weak',
  applies: ({ purpose }) => purpose.requirements.length > 0,
  *find(inquiry) {
    const { purpose, spend } = inquiry;
    const pending = purpose.requirements.find((one) => isAbout(one, spend)) ?? purpose.requirements[0];
    for (const said of saidOutright(spend, SAYS_PENDING)) {
      if (pending === undefined) return;
      yield {
        sentence: PURPOSE.condition_denied(said.text, pending.text),
        evidence: [conflictsWith(said.field, said.text), conflictsWith(pending.field, pending.text)],
        about: subjectOfSaid(pending, said),
        severity: 'unclear',
      };
    }
    const denials = denialsIn(inquiry);
    for (const rule of purpose.requirements) {
      const { stems, kinds } = rule;
      const is_about = isAbout(rule, spend);
      const found: Omit<Denial, 'stem'>[] = denials.filter((one) => stems.has(one.stem));
      if (kinds.size > 0 && is_about) {
        for (const [scale, { texts }] of attributesIn(spend.description.tokens, new Set(kinds.keys()))) {
          for (const [value, text] of texts) {
            if (kinds.get(scale)?.has(value) !== true) found.push({ field: 'action.description', text });
          }
        }
      }
      for (const { field, text } of found) {
        yield {
          sentence: PURPOSE.condition_denied(text, rule.text),
          evidence: [conflictsWith(field, text), conflictsWith(rule.field, rule.text)],
          about: subjectOf(rule, subjectWords(text)),
          ...(is_about ? {} : { severity: 'unclear' as const }),
        };
      }
    }
  },
};
