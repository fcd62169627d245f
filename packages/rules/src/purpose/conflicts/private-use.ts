import { BELONGINGS, SOMEBODYS } from '../data/spend-language.ts';
import { privateCircleWords } from '../language/lexicon.ts';
import { MAX_TEXT_LENGTH } from '../language/text.ts';
import { type Conflict, type Contradiction, conflictsWith, MAX_QUOTE_LENGTH } from './conflict.ts';

/** The match, with the name before its apostrophe. */
const whoseIn = (folded: string, { index, 0: found }: RegExpExecArray): string =>
  `${/^['’]/.test(found) ? (/\p{L}{1,40}$/u.exec(folded.slice(Math.max(0, index - 40), index))?.[0] ?? '') : ''}${found}`;

/** Something for somebody's private life, under a purpose for work or one that forbids private use. */
export const privateUse: Conflict = {
  id: 'private-use',
  severity: 'weak',
  applies: ({ purpose }) => !purpose.broad && purpose.delegation === undefined,
  find({ purpose, spend }) {
    const rule = purpose.prohibitions.find((one) => one.private_use);
    let mild: Contradiction | undefined;
    for (const text of [spend.description, spend.task]) {
      const said = SOMEBODYS.exec(text.folded);
      const circle =
        rule === undefined ? undefined : privateCircleWords(text.tokens).find((word) => word.length > 2);
      const belonging = rule === undefined ? null : BELONGINGS.exec(text.text.slice(0, MAX_TEXT_LENGTH));
      const is_own = said !== null && said[1] !== undefined && purpose.words.has(said[1]);
      const words =
        (is_own || said === null ? undefined : whoseIn(text.folded, said)) ?? circle ?? belonging?.[0];
      if (words === undefined) continue;
      const about = rule === undefined ? '' : `: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}"`;
      const finding: Contradiction = {
        sentence: `"${words}" points to private use, which the purpose ${rule === undefined ? 'does not mention' : 'rules out'}${about}.`,
        evidence: [
          conflictsWith(text.field, words),
          ...(rule === undefined ? [] : [conflictsWith(rule.field, rule.text)]),
        ],
      };
      if (rule !== undefined && (said !== null || circle !== undefined) && !is_own) return finding;
      mild ??= { ...finding, severity: 'unclear' };
    }
    return mild;
  },
};
