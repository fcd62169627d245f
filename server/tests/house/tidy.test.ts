import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS } from '@purser/rules/errors';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const sourcesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.split(sep).join('/')}`);
const files = ['packages/rules/src', 'server/src'].flatMap(sourcesIn);
const sources = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
const production = files.filter((name) => !name.endsWith('.test.ts'));
const textOf = (name: string) => sources.get(name) as string;

const importsOf = (name: string) =>
  [...textOf(name).matchAll(/(?:from|import\()\s*'(\.[^']+|@purser\/rules\/[^']+)'/g)].map(([, target]) =>
    target?.startsWith('.')
      ? relative(ROOT, join(ROOT, name, '..', target))
          .split(sep)
          .join('/')
      : `packages/rules/src/${target?.slice('@purser/rules/'.length)}.ts`,
  );

/** The room of a file is its folder. */
const roomOf = (name: string) => dirname(name);

/** npm keeps the packages apart; inside the server, a layer imports itself and the layers before it. */
const LAYERS = [
  'packages/rules/src/',
  'server/src/version.ts',
  'server/src/engine/',
  'server/src/service/',
  'server/src/',
];
const layerOf = (name: string) => LAYERS.findIndex((prefix) => name.startsWith(prefix));

/** The circles in a graph, each as its path. */
function circlesIn(nodes: Iterable<string>, next: (node: string) => Iterable<string>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, path: readonly string[]) => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(' -> '));
    if (done.has(node) || path.includes(node)) return;
    for (const target of next(node)) visit(target, [...path, node]);
    done.add(node);
  };
  for (const node of nodes) visit(node, []);
  return circles;
}

/** Where clock, randomness and environment are read, because they are handed on from there or are the point. */
const READS_THE_WORLD =
  /^server\/src\/(\w[\w-]*\.ts|service\/(config|installation|operator|scheduling)\/|service\/(api\/(routes|second-opinion)|people\/first-start|workers\/start-workers)\.ts)/;

describe('rooms', () => {
  test('no layer imports a later one', () => {
    const wrong = production.flatMap((name) =>
      importsOf(name)
        .filter((target) => layerOf(target) > layerOf(name))
        .map((target) => `${name} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });
  test('no rooms import each other in a circle', () => {
    const rooms = new Map<string, Set<string>>();
    for (const name of production.filter((each) => each !== 'server/src/version.ts')) {
      const targets = rooms.get(roomOf(name)) ?? new Set();
      for (const target of importsOf(name)) {
        if (roomOf(target) !== roomOf(name) && target !== 'server/src/version.ts')
          targets.add(roomOf(target));
      }
      rooms.set(roomOf(name), targets);
    }
    expect(circlesIn(rooms.keys(), (room) => rooms.get(room) ?? [])).toEqual([]);
  });
  test('no files import each other in a circle', () => {
    expect(circlesIn(production, importsOf)).toEqual([]);
  });
  test('no room has more than 25 source files, and the root of the server at most 8', () => {
    const counts = new Map<string, number>();
    for (const name of production) counts.set(roomOf(name), (counts.get(roomOf(name)) ?? 0) + 1);
    const most = (room: string) => (room === 'server/src' ? 8 : 25);
    expect([...counts].filter(([room, count]) => count > most(room))).toEqual([]);
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
  for (const root of ['main.ts', 'documents.ts', 'tools.ts']) visit(`server/src/${root}`);
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
      .filter((name) => name !== 'packages/rules/src/errors.ts')
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
