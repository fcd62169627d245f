import { describe, expect, it } from 'vitest';
import { neededText } from './needed-text.ts';

/** `<` where a word begins, `>` where one ends. */
const shown = (pattern: RegExp): string[] | undefined =>
  neededText(pattern)?.map(
    ({ text, starts_word, ends_word }) => `${starts_word ? '<' : ''}${text}${ends_word ? '>' : ''}`,
  );

describe('what a pattern needs', () => {
  it.each([
    [/\bno\b/, ['<no>']],
    [/(?<![\p{L}\d])(?:already paid|twice)(?![\p{L}\d])/u, ['<already paid>', '<twice>']],
    [/(?:from|via) (?:\w+ ){0,2}(?:salary|wages?)\b/, [' salary>', ' wage>', ' wages>']],
    [/cop(?:y|ies) of the/, ['copy of the', 'copies of the']],
    [/\bgift[- ]?wrap\w*/, ['<giftwrap', '<gift-wrap', '<gift wrap']],
    [/\w*(?:limit|schwelle)$/, ['limit', 'schwelle']],
    [/\bfor\s(?:her|him)\b/, ['<her>', '<him>']],
    [/自宅|\bat home/, ['自宅', '<at home']],
    [/<\/?(?:system|inst)>/, ['<system>', '</system>', '<inst>', '</inst>']],
    [/x{3}rare(?:st)+/, ['xrare']],
    [/(?!\p{L}+day)son/u, ['son']],
    [/[^a]verdict[0-9]/, ['verdict']],
  ])('%s: %j', (pattern, needed) => {
    expect(shown(pattern)).toEqual(needed);
  });

  it('of two parts is the one that is rarer, and the last of two that are as rare', () => {
    expect(shown(/(?:to|at) \S+ (?:neighbour|friend)/)).toEqual([' neighbour', ' friend']);
    expect(shown(/\bapproval \S+ (?:ok|later)/)).toEqual(['<approval ']);
    expect(shown(/paid \S+ back/)).toEqual([' back']);
  });

  it.each([/\w+/, /\d{4}/, /a?/, /paid|\d+/, /(?:paid)*/, /[a-z]\b/])('is nothing for %s', (pattern) => {
    expect(neededText(pattern)).toBeNull();
  });

  it('is refused for a pattern without regard to case, and for syntax that is not read', () => {
    expect(() => neededText(/paid/i)).toThrow(/regard case/);
    expect(() => neededText(/(?<said>paid)/)).toThrow(/cannot be read from its character 0/);
    expect(() => neededText(/paid\cA/)).toThrow(/cannot be read from its character 4/);
  });
});
