import { attributesIn } from '../language/attributes.ts';
import { type Conflict, conflictsWith, MAX_QUOTE_LENGTH } from './conflict.ts';

/** The spend names a value of a property ("business class", "used") that the operator rules out. */
export const prohibitedAttribute: Conflict = {
  id: 'prohibited-attribute',
  severity: 'weak',
  applies: ({ purpose }) => purpose.attributes.length > 0,
  find({ purpose, spend }) {
    const named = attributesIn(
      spend.description.tokens,
      new Set(purpose.attributes.map((rule) => rule.scale)),
    );
    for (const rule of purpose.attributes) {
      const found = named.get(rule.scale);
      if (found === undefined || [...found.values].every((value) => rule.allowed.has(value))) continue;
      return {
        sentence: `The ${found.label} is "${found.text}", but the purpose says: "${rule.text.slice(0, MAX_QUOTE_LENGTH)}".`,
        evidence: [conflictsWith('action.description', found.text), conflictsWith(rule.field, rule.text)],
      };
    }
    return undefined;
  },
};
