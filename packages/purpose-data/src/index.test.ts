import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { patternOf, readPattern, readPatterns, readSection, readTerms } from './index.ts';

describe('a pattern', () => {
  test('is its alternatives, with what stands around all of them', () => {
    expect(patternOf(['a', 'b']).source).toBe('a|b');
    expect(patternOf(['around \\b(?:…)\\b', 'a$', 'b'], 'u')).toEqual(/\b(?:a$|b)\b/u);
  });

  test('of a list is found by its name, with its flags', () => {
    const found = readPatterns('constraint-patterns').get('only_shown');
    expect(found?.flags).toBe('i');
    expect(found?.exec('Only helmets certified by TÜV')?.slice(1)).toEqual(['helmets', 'certified by TÜV']);
  });
});

test('no pattern that reads what agents write begins with a repetition without an end, which each letter would begin anew', () => {
  const open = /^(?:\\b)?(?:\((?:\?:)?)?(?:\\[pw](?:\{[^}]*\})?|\[[^\]]*\]|\.)[+*]/;
  expect(open.test("\\p{L}+['’]s?")).toBe(true);
  const lines = ['attack-patterns', 'spend-patterns'].flatMap((name) => [...readTerms(name).values()].flat());
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => open.test(line))).toEqual([]);
});

test('a list that is not there, and a section or pattern that is not in it, are told', () => {
  expect(() => readTerms('nothing')).toThrow(/nothing\.txt/);
  expect(() => readSection(readTerms('grammar'), 'nothing')).toThrow(/no section nothing/);
  expect(() => readPattern(readPatterns('spend-patterns'), 'nothing')).toThrow(/no pattern nothing/);
});

const CURATED = new URL('../curated/', import.meta.url);

test.each(readdirSync(CURATED))(
  '%s has each term once in its section, in NFC, and without blanks at its ends',
  (file) => {
    const name = file.replace(/\.txt$/, '');
    const lines = readFileSync(new URL(file, CURATED), 'utf8').split('\n');
    const terms = lines.filter((line) => line !== '' && !line.startsWith('#'));
    expect(terms[0]).toMatch(/^\[.+\]$/);
    expect(terms.filter((line) => line !== line.normalize('NFC'))).toEqual([]);
    if (!name.endsWith('-patterns')) expect(terms.filter((line) => line !== line.trim())).toEqual([]);
    const sections = readTerms(name);
    expect([...sections.keys()]).toEqual(
      terms.filter((line) => /^\[.+\]$/.test(line)).map((line) => line.slice(1, -1)),
    );
    for (const section of sections.values()) expect(section).toEqual([...new Set(section)]);
    expect([...sections.values()].flat().length + sections.size).toBe(terms.length);
  },
);
