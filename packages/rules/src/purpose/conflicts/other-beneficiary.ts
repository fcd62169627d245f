import { PURPOSE } from '../../sentences/purpose.ts';
import { carriesMeaning, LOOSE_STEMS } from '../language/everyday-words.ts';
import { tokenize } from '../language/text.ts';
import type { AuthorityReading } from '../reading/authority-terms.ts';
import { precedentsAt } from '../reading/precedents.ts';
import { type Conflict, conflictsWith, type Inquiry, subjectOf } from './conflict.ts';

/** "For Tom", "deliver to Mrs Hale": group 1 is a name. Not in German, whose nouns all begin with a capital. */
const FOR_SOMEBODY =
  /(?<!\p{L})(?:for|deliver(?:ed)? to|ship(?:ped)? to|pour|para|per|voor|till?|dla) +(?:the +|Mrs?\.? +|Ms\.? +|Dr\.? +)?(\p{Lu}\p{Ll}{2,40})/gu;

const own_words = new WeakMap<AuthorityReading, ReadonlySet<string>>();

/** All stems that the operator uses. */
function ownWords({ authority, purpose }: Inquiry): ReadonlySet<string> {
  const known = own_words.get(purpose);
  if (known !== undefined) return known;
  const { objective, success_criteria = [], constraints = [], context = '' } = authority.purpose;
  const text = [objective, ...success_criteria, ...constraints, context];
  const words = new Set(text.flatMap((each) => tokenize(each).map(({ stem }) => stem)));
  own_words.set(purpose, words);
  return words;
}

/** The goods are for somebody whose name neither the operator nor a reviewer has mentioned. */
export const otherBeneficiary: Conflict = {
  kind: 'other_beneficiary',
  severity: 'unclear',
  applies: ({ vouched }) => vouched !== undefined,
  *find(inquiry) {
    const { spend, facts } = inquiry;
    const own = ownWords(inquiry);
    const known = precedentsAt(facts, spend.request.action);
    for (const { 1: name = '', 0: text } of spend.description.text.matchAll(FOR_SOMEBODY)) {
      const [token] = tokenize(name);
      if (token === undefined || !carriesMeaning(token) || LOOSE_STEMS.has(token.stem)) continue;
      const { stem } = token;
      if (
        own.has(stem) ||
        inquiry.purpose.words.has(stem) ||
        spend.merchant.tokens.some((one) => one.stem === stem)
      )
        continue;
      if (known.some(({ words }) => (words.get(stem)?.allowed ?? 0) > 0)) continue;
      yield {
        sentence: PURPOSE.other_beneficiary(text),
        evidence: [conflictsWith('action.description', text)],
        about: subjectOf(null, [stem]),
      };
    }
  },
};
