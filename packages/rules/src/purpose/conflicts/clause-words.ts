import { PURPOSE } from '../../sentences/purpose.ts';
import { isTelling } from '../language/everyday-words.ts';
import { tokenize } from '../language/text.ts';
import type { AuthorityReading } from '../reading/authority-terms.ts';
import type { Quote } from '../reading/named-merchants.ts';
import { precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith, type Inquiry, subjectOf } from './conflict.ts';

const SENTENCE_END = /(?<=[.;!?。])\s*/;

const clauses_of = new WeakMap<AuthorityReading, ReadonlyMap<string, Quote>>();

/** The stems that the purpose uses only in constraints that set no condition, each with the first of these clauses. */
function clausesByStem({ authority, purpose }: Inquiry): ReadonlyMap<string, Quote> {
  const known = clauses_of.get(purpose);
  if (known !== undefined) return known;
  const { objective, success_criteria = [], constraints = [], context = '' } = authority.purpose;
  const wanted = new Set(
    [objective, ...success_criteria, context].flatMap((text) => tokenize(text).map(({ stem }) => stem)),
  );
  const { requirements, attributes, units, sources, bounds, counts } = purpose;
  const rules = [requirements, attributes, units, sources, bounds, counts];
  const conditions = rules.flatMap((each) => each.map(({ text }) => text));
  const clauses = new Map<string, Quote>();
  for (const [i, constraint] of constraints.entries()) {
    for (const sentence of constraint.split(SENTENCE_END)) {
      const text = sentence.trim();
      // Words of a condition or a limit show rather that a spend meets it.
      if (conditions.some((one) => one.startsWith(text.replace(/[.;!?。]$/, '')))) continue;
      for (const token of tokenize(text)) {
        if (isTelling(token) && !wanted.has(token.stem) && !clauses.has(token.stem))
          clauses.set(token.stem, { field: `purpose.constraints[${i}]`, text });
      }
    }
  }
  clauses_of.set(purpose, clauses);
  return clauses;
}

/**
 * The description has a word that the purpose uses only to rule something out, so that the clause may be about the spend. It
 * needs no table, so it works in every language that sets blanks.
 */
export const clauseWords: Conflict = {
  kind: 'condition',
  severity: 'unclear',
  applies: ({ authority, purpose, vouched }) =>
    vouched !== undefined && !purpose.cut && (authority.purpose.constraints ?? []).length > 0,
  *find(inquiry) {
    const { spend, facts } = inquiry;
    const clauses = clausesByStem(inquiry);
    const known = precedentsAt(facts, spend.request.action);
    for (const { stem, raw } of spend.description.tokens) {
      const clause = clauses.get(stem);
      if (clause === undefined || known.some(({ words }) => (words.get(stem)?.allowed ?? 0) > 0)) continue;
      yield {
        sentence: PURPOSE.condition_words(raw, clause.text),
        evidence: [conflictsWith('action.description', raw), conflictsWith(clause.field, clause.text)],
        about: subjectOf(clause, [stem]),
      };
    }
  },
};
