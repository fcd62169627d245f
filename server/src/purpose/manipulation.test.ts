import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTACK_HINTS } from './data/attack-hints.ts';
import { ATTACK_PATTERNS } from './data/attack-phrases.ts';
import { mayAttack } from './manipulation.ts';

describe('hints of attack patterns', () => {
  it('every attack pattern has a hint', () => {
    expect(ATTACK_HINTS).toHaveLength(ATTACK_PATTERNS.length);
  });

  it.each(ATTACK_PATTERNS.map(({ id, pattern }) => [id, pattern] as const))(
    'whatever the pattern %s matches contains a word of its hint',
    (_, pattern) => {
      // A generator of strings knows no word boundaries; what does not match without them is left out.
      const loose = new RegExp(pattern.source.replaceAll('\\b', ''));
      let matched = 0;
      fc.assert(
        fc.property(
          fc.stringMatching(new RegExp(`^(?:${loose.source.replaceAll('(?:^|[\\n.!?]\\s*)', '\\. ')})$`)),
          fc.constantFrom('', 'station 14. ', 'gloves, size 8\n'),
          (text, before) => {
            const folded = `${before}${text} end`.toLowerCase();
            if (!pattern.test(folded)) return;
            matched += 1;
            expect(mayAttack([{ folded }])).toBe(true);
          },
        ),
        { numRuns: 3_000 },
      );
      expect(matched).toBeGreaterThan(300);
    },
  );
});
