import { expect, test } from 'vitest';
import { bounded } from './text.ts';

test.each([
  'A\u0000B\u0007C\u001b[31mD',
  'one\u2028two\u2029three\u0085four\u000bfive\r\nsix',
  '\ufeff\u2066hidden\u2069\u061c\u202e',
  'a\u{e0041}\u{e0042}\u{e007f}b',
  '\u3164\u115f\u1160\u2800',
  'x\ufe0f\ufe0ey\u034fz\u00ad\u180e',
])('words of others have no character that nobody sees, and one line: %j', (text) => {
  expect(bounded(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u);
});

test('words of others are cut at a whole character', () => {
  expect(bounded('😀'.repeat(300), 100)).toBe(`${'😀'.repeat(49)}…`);
  expect(bounded('Hetzner Online', 14)).toBe('Hetzner Online');
});
