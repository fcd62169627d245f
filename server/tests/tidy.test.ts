import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../src/errors.ts';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.split(sep).join('/'));
const sources = new Map(files.map((name) => [name, readFileSync(join(SRC, name), 'utf8')]));
const production = files.filter((name) => !name.endsWith('.test.ts'));

const importsOf = (name: string) =>
  [...(sources.get(name) as string).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map((found) =>
    relative(SRC, join(SRC, name, '..', found[1] as string))
      .split(sep)
      .join('/'),
  );
const ringOf = (name: string) => (name.includes('/') ? (name.split('/')[0] as string) : name);

/** Which ring may import which; what is not listed may import everything. */
const MAY_IMPORT: Record<string, string[]> = {
  'errors.ts': [],
  'secrets.ts': ['domain'],
  'log.ts': [],
  'config.ts': ['domain', 'purpose'],
  domain: ['domain', 'errors.ts', 'purpose'],
  purpose: ['purpose', 'domain', 'errors.ts'],
  model: ['model', 'purpose', 'domain', 'errors.ts'],
  storage: ['storage', 'domain', 'errors.ts'],
  lane: ['lane', 'storage', 'domain', 'errors.ts'],
  commands: ['commands', 'lane', 'domain', 'purpose', 'errors.ts'],
  decisions: ['decisions', 'commands', 'lane', 'storage', 'purpose', 'domain', 'errors.ts', 'secrets.ts'],
  http: ['http', 'decisions', 'commands', 'lane', 'storage', 'purpose', 'domain', 'errors.ts', 'secrets.ts'],
  workers: ['workers', 'commands', 'lane', 'storage', 'purpose', 'domain'],
};

/** Where clock, randomness and environment are read, because they are handed on from there or are the point. */
const ALLOWED = [
  /^(app|core|routes)\.ts$/,
  /^main\.ts$/,
  /^open-database\.ts$/,
  /^config\.ts$/,
  /^storage\/(data-directory|embedded-postgres|postgres-[a-z]+|postmaster-file)\.ts$/,
  /^(demo|bench|chaos|evaluation)\//,
];

test.each(production)('%s imports only what its ring may', (name) => {
  const allowed = MAY_IMPORT[ringOf(name)];
  if (allowed === undefined) return;
  for (const target of importsOf(name)) {
    const ring = ringOf(target);
    expect(allowed, `${name} imports ${target}`).toContain(ring);
    if (ringOf(name) === 'domain' && ring === 'purpose') {
      expect(target, 'the domain knows the shape of an assessment only').toBe('purpose/assessment.ts');
    }
  }
});

test('clock, randomness, environment and arguments are read only where they are handed on', () => {
  const reading =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(Bytes|Int|UUID)\(|\bprocess\.(env|argv)\b|\bperformance\.now\(/;
  const found = production.filter(
    (name) => reading.test(sources.get(name) as string) && !ALLOWED.some((each) => each.test(name)),
  );
  expect(found).toEqual([]);
});

test('every file is reached from the program, a generator, the demo, the bench, the chaos or the evaluation', () => {
  const reached = new Set<string>();
  const visit = (name: string) => {
    if (reached.has(name) || !sources.has(name)) return;
    reached.add(name);
    for (const target of importsOf(name)) visit(target);
  };
  for (const root of [
    'main.ts',
    'demo/main.ts',
    'bench/main.ts',
    'chaos/main.ts',
    'evaluation/main.ts',
    'documents/render.ts',
  ])
    visit(root);
  expect(production.filter((name) => !reached.has(name))).toEqual([]);
});

describe('the rules of the house', () => {
  test('no file is named after nothing', () => {
    expect(
      files.filter((name) => /(^|\/)(utils?|helpers?|common|manager|service|misc)\.ts$/.test(name)),
    ).toEqual([]);
  });
  test('nothing is left undone or silenced', () => {
    const left = /\b(TODO|FIXME)\b|@ts-(ignore|expect-error|nocheck)|\.(only|skip)\(/;
    expect(files.filter((name) => left.test(sources.get(name) as string))).toEqual([]);
  });
  test('logic stays under 400 lines a file', () => {
    const long = production.filter(
      (name) => !name.includes('/data/') && (sources.get(name) as string).split('\n').length > 400,
    );
    expect(long).toEqual([]);
  });
  test('every exported function says what it guarantees', () => {
    const bare: string[] = [];
    for (const name of production) {
      const lines = (sources.get(name) as string).split('\n');
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
      .map((name) => sources.get(name))
      .join('\n');
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});
