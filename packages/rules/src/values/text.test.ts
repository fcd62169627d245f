import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TEXT_LENGTHS } from '@purser/contract/limits';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseText, TEXT_RULES, type TextRule } from './text.ts';

const line: TextRule = { kind: 'line', min: 1, max: 200 };
const long: TextRule = { kind: 'long', min: 0, max: 2000 };

function accepted(value: string, rule: TextRule): string {
  const result = normaliseText(value, rule);
  if (!result.ok) throw new Error(result.problem);
  return result.text;
}

function problemOf(value: string, rule: TextRule): string {
  const result = normaliseText(value, rule);
  if (result.ok) throw new Error(`accepted as ${JSON.stringify(result.text)}`);
  return result.problem;
}

describe('a text', () => {
  it.each([
    ['  Acme  ', 'Acme'],
    ['\t\n Acme \r\n', 'Acme'],
    ['\u00a0\u3000Acme\u2003\u2028\ufeff', 'Acme'],
    ['\u0085 \u0085Acme\u0085 \u0085', 'Acme'],
    ['Ac  me', 'Ac  me'],
  ])('%j is trimmed of Unicode white space at its ends only', (value, text) => {
    expect(accepted(value, line)).toBe(text);
  });

  it('is stored in NFC', () => {
    expect(accepted('Cafe\u0301', line)).toBe('Caf\u00e9');
    expect(accepted('\u212b', line)).toBe('\u00c5');
  });

  it('keeps what only NFKC would change', () => {
    expect(accepted('Ⅷ ﬁ', line)).toBe('Ⅷ ﬁ');
  });

  it.each(['\u0000', '\u0007', '\u001b', '\u007f', '\u0080', '\u009f', '\r', '\u000b', '\u000c'])(
    'with the control character %j inside is refused in both kinds, by its number only',
    (control) => {
      const code_point = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      expect(problemOf(`a${control}b`, line)).toBe(
        `must not contain control characters, but has U+${code_point}`,
      );
      expect(problemOf(`a${control}b`, long)).toBe(
        `must not contain control characters except newline and tab, but has U+${code_point}`,
      );
    },
  );

  it.each(['\n', '\t', '\r\n', '\u0085'])('of one line with %j inside is refused', (control) => {
    expect(problemOf(`a${control}b`, line)).toContain('control characters');
  });

  it('that is long keeps newlines and tabs, and turns CR LF into newline', () => {
    expect(accepted('a\r\nb\n\tc\r\n\r\nd', long)).toBe('a\nb\n\tc\n\nd');
  });

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800', 'ok \ud83d'])(
    'with a lone surrogate is refused: %j',
    (value) => {
      expect(problemOf(value, line)).toContain('lone surrogate');
      expect(problemOf(value, long)).toContain('lone surrogate');
    },
  );

  it.each([
    ['', { kind: 'line', min: 1, max: 200 }, 'must be 1 to 200 characters, got 0'],
    [' \u2003 ', { kind: 'line', min: 1, max: 200 }, 'must be 1 to 200 characters, got 0'],
    ['x'.repeat(201), { kind: 'line', min: 1, max: 200 }, 'must be 1 to 200 characters, got 201'],
    ['😀'.repeat(65), { kind: 'line', min: 1, max: 64 }, 'must be 1 to 64 characters, got 65'],
    ['x'.repeat(2001), { kind: 'long', min: 0, max: 2000 }, 'must be at most 2000 characters, got 2001'],
  ] satisfies [string, TextRule, string][])('outside its length is refused', (value, rule, problem) => {
    expect(problemOf(value, rule)).toBe(problem);
  });

  it('is measured in code points, after trimming and composing', () => {
    expect(accepted(` ${'😀'.repeat(64)} `, TEXT_RULES.name)).toBe('😀'.repeat(64));
    expect(accepted('e\u0301'.repeat(64), TEXT_RULES.name)).toBe('\u00e9'.repeat(64));
    expect(accepted('x'.repeat(64), TEXT_RULES.name)).toHaveLength(64);
  });

  it('may be empty where the rule allows it', () => {
    expect(accepted('  ', TEXT_RULES.description)).toBe('');
  });
});

describe('the lengths', () => {
  it('are those of the wire contract', () => {
    expect(TEXT_LENGTHS).toEqual({
      name: 64,
      merchant: 200,
      description: 2000,
      comment: 2000,
      task: 4000,
    });
    expect(TEXT_RULES.task).toEqual({ kind: 'long', min: 0, max: 4000 });
    expect(TEXT_RULES.merchant).toEqual({ kind: 'line', min: 1, max: 200 });
  });
});

describe('normalising', () => {
  const anyText = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
  const mixed = fc.oneof(anyText, fc.string({ unit: 'binary' }), fc.string());

  it('changes nothing the second time, and never lets a forbidden character through', () => {
    for (const rule of [line, long]) {
      fc.assert(
        fc.property(mixed, (value) => {
          const first = normaliseText(value, rule);
          if (!first.ok) return;
          expect(normaliseText(first.text, rule)).toEqual(first);
          expect(first.text).toBe(first.text.normalize('NFC'));
          for (const character of first.text) {
            const code_point = character.codePointAt(0) ?? 0;
            expect(code_point >= 0xd800 && code_point <= 0xdfff).toBe(false);
            if (rule.kind === 'long' && (character === '\n' || character === '\t')) continue;
            expect(code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f)).toBe(false);
          }
          expect([...first.text].length).toBeLessThanOrEqual(rule.max);
        }),
      );
    }
  });

  it('gives plain ASCII the same answer with and without the fast path', () => {
    const ascii = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(ascii, (value) => {
        const plain = normaliseText(value, { kind: 'line', min: 0, max: 100 });
        const slow = normaliseText(`${value}é`, { kind: 'line', min: 0, max: 101 });
        if (!plain.ok || !slow.ok) throw new Error('refused');
        expect(plain.text).toBe(slow.text.slice(0, -1).trimEnd());
      }),
    );
  });
});

it.each(['Acme Corporation number', 'Acmé Corporation numéro', 'Acme € Corporation number'])(
  'does not hold what it was cut from: %s',
  (name) => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    // As a request's text comes: read from JSON, so that each is a text of its own.
    const kept = Array.from({ length: 200 }, (_, n) =>
      accepted(JSON.parse(`"${' '.repeat(60_000)}${name} ${n}${' '.repeat(4_000)}"`), line),
    );
    expect(used() - before).toBeLessThan(3_000_000);
    expect(kept[199]).toBe(`${name} 199`);
  },
);
