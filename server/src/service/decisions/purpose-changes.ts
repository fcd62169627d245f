import type { Purpose } from '@purser/contract/authority';
import { carriesMeaning, LOOSE_STEMS } from '@purser/rules/purpose/language/everyday-words';
import { tokenize } from '@purser/rules/purpose/language/text';

/** Words by which a clause forbids, in the languages that purposes are read in. */
const FORBIDS =
  /\b(no|not|never|nothing|without|except|cannot|don['’]?t|forbid\w*|prohibit\w*|exclud\w*|avoid\w*|ban(?:ned)?|kein\w*|nicht\w*|nie|niemals|ohne|verbot\w*|ning\w+|nunca|sin|prohib\w*|pas|jamais|aucun\w*|sans|interdit\w*)\b|禁|しない|不可|以外/iu;

/** One purpose as sets of stems: of what it forbids, and of all else that it says. */
interface PurposeStems {
  objective: string;
  forbidden: ReadonlySet<string>;
  wanted: ReadonlySet<string>;
}

/** The stems of a text that say something about a subject. */
export function subjectStems(text: string): string[] {
  return tokenize(text)
    .filter((token) => carriesMeaning(token) && !LOOSE_STEMS.has(token.stem))
    .map((token) => token.stem);
}

const read = new WeakMap<Purpose, PurposeStems>();

function stemsOf(purpose: Purpose): PurposeStems {
  const known = read.get(purpose);
  if (known !== undefined) return known;
  const { objective, success_criteria = [], constraints = [], context = '' } = purpose;
  const forbidden = new Set<string>();
  const wanted = new Set<string>();
  for (const text of [...success_criteria, ...constraints, context]) {
    for (const clause of text.split(/[.;\n。；]+/u)) {
      const into = FORBIDS.test(clause) ? forbidden : wanted;
      for (const stem of subjectStems(clause)) into.add(stem);
    }
  }
  const stems = { objective: objective.normalize('NFC').replace(/\s+/gu, ' ').trim(), forbidden, wanted };
  read.set(purpose, stems);
  return stems;
}

/**
 * Determines which earlier verdicts a change of purpose affects. The result says if the change is about spends with
 * these stems: another objective is about everything; else it is about what is forbidden only now or was forbidden
 * only then, and about what is wanted no more. Any other change is about none.
 */
export function purposeChanges(then: Purpose, now: Purpose): (stems: readonly string[]) => boolean {
  const [before, after] = [stemsOf(then), stemsOf(now)];
  if (before.objective !== after.objective) return () => true;
  const without = (all: ReadonlySet<string>, ...others: ReadonlySet<string>[]) =>
    [...all].filter((stem) => !others.some((other) => other.has(stem)));
  const touched = new Set([
    ...without(after.forbidden, before.forbidden),
    ...without(before.forbidden, after.forbidden),
    ...without(before.wanted, after.wanted),
  ]);
  return touched.size === 0 ? () => false : (stems) => stems.some((stem) => touched.has(stem));
}
