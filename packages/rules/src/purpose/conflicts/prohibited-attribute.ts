import { PURPOSE } from '../../sentences/purpose.ts';
import { attributesIn } from '../language/attributes.ts';
import { type Conflict, conflictsWith, subjectOf, subjectWords } from './conflict.ts';

/** The spend names a value of a property ("business class", "used") that the operator rules out. */
export const prohibitedAttribute: Conflict = {
  kind: 'prohibited_attribute',
  severity: 'weak',
  applies: ({ purpose }) => purpose.attributes.length > 0,
  *find({ purpose, spend }) {
    const scales = new Set(purpose.attributes.map((rule) => rule.scale));
    const named = attributesIn(spend.description.tokens, scales);
    for (const rule of purpose.attributes) {
      const found = named.get(rule.scale);
      if (found === undefined) continue;
      for (const [value, text] of found.texts) {
        if (rule.allowed.has(value)) continue;
        yield {
          sentence: PURPOSE.prohibited_attribute(text, rule.text),
          evidence: [conflictsWith('action.description', text), conflictsWith(rule.field, rule.text)],
          about: subjectOf(rule, subjectWords(text)),
        };
      }
    }
  },
};
