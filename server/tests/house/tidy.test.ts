import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.split(sep).join('/'));
const sources = new Map(files.map((name) => [name, readFileSync(join(SRC, name), 'utf8')]));
const production = files.filter((name) => !name.endsWith('.test.ts'));
const textOf = (name: string) => sources.get(name) as string;

const importsOf = (name: string) =>
  [...textOf(name).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((found) =>
    relative(SRC, join(SRC, name, '..', found[1] as string))
      .split(sep)
      .join('/'),
  );

/** The room of a file: its folder, or the file itself where it lies beside the rooms. */
const roomOf = (name: string) => (dirname(name) === '.' ? name : dirname(name));

/**
 * The rooms from the ground up. A room imports what lies below it, and its own files; rooms of one floor do not know each
 * other.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['errors.ts', 'version.ts'],
  [
    'log.ts',
    'tracing.ts',
    'presence.ts',
    'clock-watch.ts',
    'open-files.ts',
    'work-time.ts',
    'process-end.ts',
    'data-directory.ts',
    'purpose/data',
  ],
  ['values', 'merchants'],
  ['purpose/language', 'counters'],
  ['domain'],
  ['policy'],
  ['secrets.ts', 'purpose/reading'],
  ['purpose/conflicts'],
  ['purpose', 'storage'],
  ['storage/derived'],
  ['config', 'model-judge', 'lane', 'migration', 'followers'],
  [
    'commands',
    'commands/budgets',
    'commands/merchants',
    'commands/people',
    'metrics.ts',
    'open-telemetry.ts',
    'reports',
  ],
  ['feedback', 'directory'],
  ['verification'],
  ['decisions', 'webhook-delivery', 'workers', 'http'],
  ['runtime.ts', 'openapi', 'console', 'people', 'api/schemas', 'processes'],
  ['api/people', 'api/budgets'],
  ['api', 'open-database.ts', 'rotate-secrets.ts'],
  ['app.ts', 'back-up.ts'],
  ['documents.ts', 'tools.ts', 'user-commands.ts', 'operator-commands.ts', 'welcome.ts', 'program.ts'],
  ['serve.ts'],
  ['command-line.ts'],
  ['main.ts'],
];
const floorOf = (name: string) => FLOORS.findIndex((rooms) => rooms.includes(roomOf(name)));

/** Where clock, randomness and environment are read, because they are handed on from there or are the point. */
const READS_THE_WORLD =
  /^(app|runtime|main|serve|open-database|data-directory|process-end|work-time|rotate-secrets|user-commands|command-line|operator-commands)\.ts$|^config\/|^api\/(routes|second-opinion)\.ts$/;

describe('rooms', () => {
  test('every room has its floor', () => {
    expect([...new Set(production.filter((name) => floorOf(name) < 0).map(roomOf))]).toEqual([]);
  });
  test('no arrow runs up, and no room imports a sibling', () => {
    const wrong = production.flatMap((name) =>
      importsOf(name)
        .filter((target) => roomOf(target) !== roomOf(name) && floorOf(target) >= floorOf(name))
        .map((target) => `${name} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });
  test('no files import each other in a circle', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (name: string, path: readonly string[]) => {
      if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' -> '));
      if (done.has(name) || path.includes(name)) return;
      for (const target of importsOf(name)) visit(target, [...path, name]);
      done.add(name);
    };
    for (const name of production) visit(name, []);
    expect(circles).toEqual([]);
  });
  test('no room has more than 25 source files', () => {
    const counts = new Map<string, number>();
    for (const name of production.filter((each) => each.includes('/'))) {
      counts.set(roomOf(name), (counts.get(roomOf(name)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  });
});

test('clock, randomness, environment and arguments are read only where they are handed on', () => {
  const reading =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(Bytes|Int|UUID)\(|\bprocess\.(env|argv)\b|\bperformance\.now\(/;
  const found = production.filter((name) => reading.test(textOf(name)) && !READS_THE_WORLD.test(name));
  expect(found).toEqual([]);
});

test('every file is reached from the program, the generator of documents or the tools', () => {
  const reached = new Set<string>();
  const visit = (name: string) => {
    if (reached.has(name) || !sources.has(name)) return;
    reached.add(name);
    for (const target of importsOf(name)) visit(target);
  };
  for (const root of ['main.ts', 'documents.ts', 'tools.ts']) visit(root);
  expect(production.filter((name) => !reached.has(name))).toEqual([]);
});

/** Words of a private dialect, and the ones that the glossary has in their place. */
const BANNED: readonly [RegExp, string][] = [
  [/\b(LONGEST|LARGEST|GENEROUS|WIDEST|MAX_DEPTH|FEWEST|MIN_COUNT|HIGHEST|LOWEST)_[A-Z]/, 'MAX_ or MIN_'],
  [/\b(RunOut|runOut|run_out|letGo|let_go(?!_at)|ranOut|hasRunOut|runsOut)/, 'expire, release'],
  [/\b(KeptDecision|KeptCore|loadKept)/, 'DecisionRecord'],
  [/\b(AssessFirst|assess_by|may_assess_again|assessAhead)\b/, 'stale, preAssess'],
  [/\b(makeGather|Wish)\b/, 'batch loader'],
  [/[Dd]ealings/, 'feedback, track record'],
  [/\bstray|Stray/, 'orphan'],
  [/\b(HeldQueue|heldQueue|held_queue)/, 'leased queue'],
  [/\b(Surroundings)\b/, 'Context'],
];

describe('the rules of the house', () => {
  test('no file is named after nothing', () => {
    expect(
      files.filter((name) => /(^|\/)(utils?|helpers?|common|manager|service|misc)\.ts$/.test(name)),
    ).toEqual([]);
  });
  test('nothing is left undone or silenced', () => {
    const left = /\b(TODO|FIXME)\b|@ts-(ignore|expect-error|nocheck)|\.(only|skip)\(/;
    expect(files.filter((name) => left.test(textOf(name)))).toEqual([]);
  });
  test('logic stays under 400 lines a file', () => {
    expect(production.filter((name) => textOf(name).split('\n').length > 400)).toEqual([]);
  });
  test('every exported function says what it guarantees', () => {
    const bare: string[] = [];
    for (const name of production) {
      const lines = textOf(name).split('\n');
      for (const [i, line] of lines.entries()) {
        if (!/^export (async )?function /.test(line)) continue;
        if (!/\*\/\s*$/.test(lines[i - 1] ?? '')) bare.push(`${name}:${i + 1}`);
      }
    }
    expect(bare).toEqual([]);
  });
  test('every error that is listed is used', () => {
    const text = production
      .filter((name) => name !== 'errors.ts')
      .map(textOf)
      .join('\n');
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
  test('an exported type has one meaning: no name is exported by two files', () => {
    const owners = new Map<string, string[]>();
    for (const name of production) {
      for (const [, type] of textOf(name).matchAll(/^export (?:interface|type|class) (\w+)/gm)) {
        owners.set(type as string, [...(owners.get(type as string) ?? []), name]);
      }
    }
    expect([...owners].filter(([, names]) => names.length > 1)).toEqual([]);
  });
  test.each(BANNED)('%s is said in the words of the glossary: %s', (banned) => {
    const code = (name: string) => textOf(name).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(production.filter((name) => banned.test(code(name)))).toEqual([]);
  });
});
