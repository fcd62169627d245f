import { readFileSync, writeFileSync } from 'node:fs';
import { REMEDIES, remedySentence } from '@purser/contract/values/remedies';
import { decide } from '@purser/rules/policy/decide';
import { assessBuiltIn } from '@purser/rules/purpose/built-in-assessor';
import { PHRASES, POLICY } from '@purser/rules/sentences/policy';
import { PURPOSE, VOUCHED } from '@purser/rules/sentences/purpose';
import { expect, test, vi } from 'vitest';
import { Document, parse, stringify, visit } from 'yaml';
import { NO_OPINION, OPINION } from '../../src/service/model-judge/sentences.ts';
import { textsOfOpinions } from './opinion-inputs.ts';
import { POLICY_INPUTS, REMEDY_INPUTS } from './policy-inputs.ts';
import { PURPOSE_INPUTS } from './purpose-inputs.ts';

/** Each is spied on: an entry is a branch of a sentence. */
const TABLES = {
  policy: POLICY,
  phrases: PHRASES,
  purpose: PURPOSE,
  vouched: VOUCHED,
  opinion: OPINION,
  no_opinion: NO_OPINION,
  remedies: REMEDIES,
};
type Table = Record<string, (...given: never[]) => string>;
type Golden = Record<keyof typeof TABLES, Record<string, string[]>>;

const GOLDEN = new URL('../../cases/sentences.yaml', import.meta.url);
const HEAD =
  '# Every sentence of a decision, by the entry of the table that makes it. Each row comes from a real input of tests/sentences.\n# SENTENCES=write npx vitest run server/tests/sentences writes the file again; read the difference.\n';

/** YAML in the style of the formatter: plain where it can be, otherwise in the quotation marks that need fewer escapes. */
function written(golden: object): string {
  const document = new Document(golden);
  visit(document, {
    Scalar: (_, node) => {
      const text = String(node.value);
      if (!/^["']/.test(stringify(text))) return;
      const count = (mark: string) => text.split(mark).length;
      node.type = count('"') > count("'") ? 'QUOTE_SINGLE' : 'QUOTE_DOUBLE';
    },
  });
  return `${HEAD}${document.toString({ lineWidth: 0 })}`;
}

const shown = () => readFileSync(GOLDEN, 'utf8');
const rows = () => Object.values(parse(shown()) as Golden).flatMap((table) => Object.values(table).flat());

/** All texts that a decision shows: each is made of sentences of the tables, with one blank between them. */
function textsOfInputs(): string[] {
  const assessed = PURPOSE_INPUTS.flatMap((input) => {
    const { rationale, questions } = assessBuiltIn(...input);
    return [rationale, ...questions.map(({ sentence }) => sentence)];
  });
  const decided = POLICY_INPUTS.flatMap((facts) => {
    const { explanation, policy_trace, purpose } = decide(facts);
    const given = facts.assessment?.rationale ?? '';
    return [explanation, purpose.rationale, ...policy_trace.map(({ detail }) => detail)].map((text) =>
      given === '' ? text : text.replace(given, '').trim(),
    );
  });
  const remedies = REMEDY_INPUTS.map((remedy) => remedySentence(remedy, 'EUR'));
  return [...assessed, ...decided, ...remedies, ...textsOfOpinions()];
}

/** The texts without the sentences in them. */
const withoutSentences = (texts: readonly string[], sentences: readonly string[]) => {
  const longest_first = [...sentences].sort((a, b) => b.length - a.length);
  return texts.map((text) =>
    longest_first.reduce((rest, sentence) => rest.replaceAll(sentence, ''), text).trim(),
  );
};

test('every branch of every sentence has a row from a real input, and every row has its branch', () => {
  const made = new Map<string, Set<string>>();
  for (const [name, table] of Object.entries(TABLES) as [string, Table][]) {
    for (const [key, branch] of Object.entries(table)) {
      vi.spyOn(table, key).mockImplementation((...given) => {
        const sentence = branch(...given);
        made.set(`${name} ${key}`, (made.get(`${name} ${key}`) ?? new Set()).add(sentence));
        return sentence;
      });
    }
  }
  const texts = textsOfInputs();
  vi.restoreAllMocks();
  const golden = Object.fromEntries(
    Object.entries(TABLES).map(([name, table]) => [
      name,
      Object.fromEntries(
        Object.keys(table).map((key) => [key, [...(made.get(`${name} ${key}`) ?? [])].sort()]),
      ),
    ]),
  );
  const text = written(golden);
  if (process.env.SENTENCES === 'write') writeFileSync(GOLDEN, text);
  expect(shown()).toBe(text);
  const without_row = Object.entries(golden).flatMap(([name, table]) =>
    Object.entries(table).flatMap(([key, found]) => (found.length === 0 ? `${name} ${key}` : [])),
  );
  expect(without_row).toEqual([]);
  // A sentence that a judge writes itself would have no row.
  const { phrases: _, ...sentences } = golden;
  const all = Object.values(sentences).flatMap((table) => Object.values(table).flat());
  expect(withoutSentences(texts, all).filter((rest) => rest !== '')).toEqual([]);
});

test('no entry of a table has branches of its own', () => {
  for (const [name, table] of Object.entries(TABLES))
    for (const [key, branch] of Object.entries(table))
      expect(String(branch), `${name} ${key}`).not.toMatch(/\?|&&|\|\||\bif \(/);
});

test('no sentence is in the passive without an agent, and texts of others are in quotation marks', () => {
  const phrases = Object.values((parse(shown()) as Golden).phrases).flat();
  for (const sentence of rows()) {
    const own = sentence.replace(/"[^"]*"/g, '""');
    expect(own).not.toMatch(/\b(?:is|was|were|been|be) (?:\w+ed|paid|known)\b(?! by)/);
    expect(own).not.toMatch(/Metro|JSTOR|Blitz|Evil/);
    if (!phrases.includes(sentence)) expect(own).toMatch(/^["A-Z].*[.:"]$|^user:ada .*[.]$/);
  }
});
