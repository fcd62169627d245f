import { PURPOSE } from '../../sentences/purpose.ts';
import { BELONGINGS, OWN_AFFAIR, SOMEBODYS } from '../data/spend-language.ts';
import { privateCircleWords } from '../language/lexicon.ts';
import { MAX_TEXT_LENGTH } from '../language/text.ts';
import {
  type Conflict,
  conflictsWith,
  type Inquiry,
  saidOutright,
  subjectOf,
  subjectOfSaid,
  subjectWords,
} from './conflict.ts';

/** The match, with the name before its apostrophe. */
const whoseIn = (folded: string, { index, 0: found }: RegExpExecArray): string =>
  `${/^['’]/.test(found) ? (/\p{L}{1,40}$/u.exec(folded.slice(Math.max(0, index - 40), index))?.[0] ?? '') : ''}${found}`;

/** Returns what the request says outright of somebody's own affair, in words that the operator does not use of what is wanted. */
const outright = ({ purpose, spend }: Inquiry) =>
  saidOutright(spend, OWN_AFFAIR).filter(({ word }) => word === undefined || !purpose.words.has(word.stem));

/** Something for somebody's private life, under a purpose for work or one that forbids private use. */
export const privateUse: Conflict = {
  kind: 'private_use',
  severity: 'weak',
  applies: ({ purpose }) => !purpose.broad && purpose.delegation === undefined,
  *find(inquiry) {
    const { purpose, spend } = inquiry;
    const rule = purpose.prohibitions.find((one) => one.private_use) ?? null;
    const sentenceOf = (words: string) =>
      rule === null ? PURPOSE.private_use(words) : PURPOSE.private_use_forbidden(words, rule.text);
    for (const said of outright(inquiry)) {
      yield {
        sentence: sentenceOf(said.text),
        evidence: [
          conflictsWith(said.field, said.text),
          ...(rule === null ? [] : [conflictsWith(rule.field, rule.text)]),
        ],
        about: subjectOfSaid(rule, said),
        severity: 'unclear',
      };
    }
    for (const read of [spend.description, spend.task]) {
      const { field, folded, text } = read;
      const said = read.matches(SOMEBODYS).map((match) => ({
        words: whoseIn(folded, match),
        is_own: match[1] !== undefined && purpose.words.has(match[1]),
      }));
      const circle = rule === null ? [] : privateCircleWords(read.tokens).filter((word) => word.length > 2);
      const belongings =
        rule === null ? [] : [...text.slice(0, MAX_TEXT_LENGTH).matchAll(BELONGINGS)].map(([words]) => words);
      const found = [
        ...said.flatMap(({ words, is_own }) => (is_own ? [] : { words, is_sure: rule !== null })),
        ...circle.map((words) => ({ words, is_sure: !said.some(({ is_own }) => is_own) })),
        ...belongings.map((words) => ({ words, is_sure: false })),
      ];
      for (const { words, is_sure } of found) {
        yield {
          sentence: sentenceOf(words),
          evidence: [
            conflictsWith(field, words),
            ...(rule === null ? [] : [conflictsWith(rule.field, rule.text)]),
          ],
          about: subjectOf(rule, subjectWords(words)),
          ...(is_sure ? {} : { severity: 'unclear' as const }),
        };
      }
    }
  },
};
