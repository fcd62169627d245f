import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { AUTHORITY_FIELD_NAMES } from '@purser/contract/authority';
import { describe, expect, test } from 'vitest';
import { LONG_FILES, LONG_FUNCTIONS, SHARED_TYPE_NAMES } from './exceptions.ts';
import { functionsOf, importsOf, isTest, listFiles, ROOT, readSources, workspaceOf } from './sources.ts';

/** The rules of the house, for every workspace and the root. `exceptions.ts` has what does not keep them yet. */

const MAX_LINES_OF_A_FILE = 400;
const MAX_FILES_OF_A_FOLDER = 25;
const MAX_LINES_OF_A_FUNCTION = 80;

const sources = readSources();
const files = [...sources.keys()];
const production = files.filter((path) => !isTest(path));
const textOf = (path: string) => sources.get(path) as string;
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

/** Words of a private dialect, and what the glossary has in their place. */
const BANNED: readonly [RegExp, string][] = [
  [
    /\b(LONGEST|LARGEST|GENEROUS|WIDEST|MAX_DEPTH|FEWEST|MIN_COUNT|HIGHEST(?!_PRICE)|LOWEST)_[A-Z]/,
    'MAX_ or MIN_',
  ],
  [/\b(RunOut|runOut|run_out|letGo|let_go(?!_at)|ranOut|hasRunOut|runsOut)/, 'expire, release'],
  [/\b(KeptDecision|KeptCore|loadKept)/, 'DecisionRecord'],
  [/\b(AssessFirst|assess_by|may_assess_again|assessAhead)\b/, 'stale, preAssess'],
  [/\b(makeGather|Wish)\b/, 'batch loader'],
  [/[Dd]ealings/, 'feedback, track record'],
  [/\bstray|Stray/, 'orphan'],
  [/\b(HeldQueue|heldQueue|held_queue)/, 'leased queue'],
  [/\b(Surroundings|surroundings)\b/, 'Context'],
];

/** A component's markup counts with its function, so it may be longer. */
const isComponent = (path: string, name: string) => path.endsWith('.tsx') && /^[A-Z]/.test(name);

describe('files', () => {
  test('the sources of every workspace are looked at', () => {
    const looked_at = new Set(files.map(workspaceOf));
    for (const workspace of [
      'server',
      'sdk',
      'cli',
      'mcp',
      'agents',
      'adapters',
      'console',
      'tools',
      'scripts',
    ]) {
      expect(looked_at).toContain(workspace);
    }
  });
  test('none is named after nothing', () => {
    const empty = /(^|\/)(utils?|helpers?|common|manager|service|misc)\.(tsx?|mjs)$/;
    expect(production.filter((path) => empty.test(path))).toEqual([]);
  });
  test(`none is longer than ${MAX_LINES_OF_A_FILE} lines`, () => {
    const long = production.filter((path) => textOf(path).split('\n').length > MAX_LINES_OF_A_FILE);
    expect(long).toEqual(LONG_FILES);
  });
  test(`no folder has more than ${MAX_FILES_OF_A_FOLDER}`, () => {
    const counts = new Map<string, number>();
    for (const path of production) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > MAX_FILES_OF_A_FOLDER);
    expect(full.map(([folder]) => folder)).toEqual([]);
  });
  test('no style changes gradually: half-way between two colours, text has too little contrast', () => {
    const styles = listFiles('*.css');
    expect(styles).toContain('console/src/components/Button.module.css');
    expect(styles.filter((path) => /\btransition\b/.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual(
      [],
    );
  });
  test('nothing is left undone or silenced', () => {
    const undone = /\b(TODO|FIXME)\b|@ts-(ignore|nocheck)|\b(test|describe|it)\.(only|skip)\(/;
    const own = 'server/tests/house/rules.test.ts';
    expect(files.filter((path) => path !== own && undone.test(textOf(path)))).toEqual([]);
    // A test may state that something does not compile.
    expect(production.filter((path) => textOf(path).includes('@ts-expect-error'))).toEqual([]);
  });
  test('none import each other in a circle', () => {
    const done = new Set<string>();
    const circles: string[][] = [];
    const visit = (path: string, above: readonly string[]) => {
      if (above.includes(path)) circles.push(above.slice(above.indexOf(path)));
      if (done.has(path) || above.includes(path)) return;
      for (const target of importsOf(path, sources)) visit(target, [...above, path]);
      done.add(path);
    };
    for (const path of production) visit(path, []);
    expect(circles).toEqual([]);
  });
});

describe('functions', () => {
  test(`none is longer than ${MAX_LINES_OF_A_FUNCTION} lines, components and tables apart`, () => {
    const long = new Set<string>();
    for (const path of production) {
      for (const { name, lines, is_table } of functionsOf(path, textOf(path))) {
        if (lines <= MAX_LINES_OF_A_FUNCTION || is_table || isComponent(path, name)) continue;
        long.add(`${workspaceOf(path)} ${name}`);
      }
    }
    // Equality: an exception that is no longer needed has to go.
    expect([...long].sort()).toEqual([...LONG_FUNCTIONS].sort());
  });
  test('the count goes by the syntax tree', () => {
    const text = [
      'const short = () => 1;',
      'export function outer() {',
      '  const inner = async (a: number) => {',
      '    return a;',
      '  };',
      '  return { inner };',
      '}',
      'class Some { method() {',
      '} }',
      'const table = () => [',
      '  1,',
      '];',
    ].join('\n');
    expect(functionsOf('a.ts', text)).toEqual([
      { name: 'short', lines: 1, is_table: false },
      { name: 'outer', lines: 6, is_table: false },
      { name: 'inner', lines: 3, is_table: false },
      { name: 'method', lines: 2, is_table: false },
      { name: 'table', lines: 3, is_table: true },
    ]);
  });
  // The console's functions are called by nobody else, so their names may do.
  test('every exported one says what it guarantees, those of the console apart', () => {
    const bare: string[] = [];
    for (const path of production.filter((each) => workspaceOf(each) !== 'console')) {
      const lines = textOf(path).split('\n');
      for (const [i, line] of lines.entries()) {
        if (!/^export (async )?function /.test(line)) continue;
        if (!/\*\/\s*$/.test(lines[i - 1] ?? '')) bare.push(`${path}:${i + 1}`);
      }
    }
    expect(bare).toEqual([]);
  });
});

describe('names', () => {
  test('an exported type has one meaning: no name is exported by two files of a workspace', () => {
    const owners = new Map<string, string[]>();
    for (const path of production) {
      for (const [, type] of textOf(path).matchAll(/^export (?:interface|type|class) (\w+)/gm)) {
        const name = `${workspaceOf(path)} ${type}`;
        owners.set(name, [...(owners.get(name) ?? []), path]);
      }
    }
    const shared = [...owners].filter(([, paths]) => paths.length > 1).map(([name]) => name);
    expect(shared.sort()).toEqual([...SHARED_TYPE_NAMES].sort());
  });
  test.each(BANNED)('%s is said in the words of the glossary: %s', (banned) => {
    expect(production.filter((path) => banned.test(withoutComments(textOf(path))))).toEqual([]);
  });
});

test('every field of the authority is read by a rule, so no limit is saved that nothing enforces', () => {
  const rules = production.filter((path) =>
    /^packages\/rules\/src\/(policy|purpose|counters|leases)\/|^server\/src\/engine\/commands\//.test(path),
  );
  const text = rules.map((path) => withoutComments(textOf(path))).join('\n');
  const unread = AUTHORITY_FIELD_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
  expect(unread).toEqual([]);
});
