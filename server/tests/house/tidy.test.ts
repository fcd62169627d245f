import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS } from '@purser/contract/errors';
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
  ['packages/rules/src/'],
  ['server/src/version.ts'],
  ['server/src/engine/'],
  ['server/src/service/', 'server/src/mandates/'],
  ['server/src/'],
];
const layerOf = (name: string) =>
  LAYERS.findIndex((prefixes) => prefixes.some((prefix) => name.startsWith(prefix)));

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
  test('only the place that presents what others signed knows mandates', () => {
    const of_mandates = 'server/src/mandates/';
    const knowing = production.filter(
      (name) =>
        !name.startsWith(of_mandates) && importsOf(name).some((target) => target.startsWith(of_mandates)),
    );
    expect(knowing).toEqual(['server/src/service/api/allowances/issuers.ts']);
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
  test('the root of the server has at most 8 files', () => {
    expect(production.filter((name) => roomOf(name) === 'server/src').length).toBeLessThanOrEqual(8);
  });
});

test('clock, randomness, environment and arguments are read only where they are handed on', () => {
  const reading =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(Bytes|Int|UUID)\(|\bprocess\.(env|argv)\b|\bperformance\.now\(/;
  const found = production.filter((name) => reading.test(textOf(name)) && !READS_THE_WORLD.test(name));
  expect(found).toEqual([]);
});

test('every file is reached from the program, the generator of documents, the check for breaking changes, the tools or a thread', () => {
  const reached = new Set<string>();
  const visit = (name: string) => {
    if (reached.has(name) || !sources.has(name)) return;
    reached.add(name);
    for (const target of importsOf(name)) visit(target);
  };
  const threads = ['service/history/replay/replay-worker.ts'];
  const programs = ['main.ts', 'documents.ts', 'tools.ts', 'service/openapi/breaking-changes.ts'];
  for (const root of [...programs, ...threads]) visit(`server/src/${root}`);
  expect(production.filter((name) => !reached.has(name))).toEqual([]);
});

test('every error that is listed is used', () => {
  const text = production
    .filter((name) => name !== 'packages/rules/src/errors.ts')
    .map(textOf)
    .join('\n');
  expect(Object.keys(ERRORS).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});
