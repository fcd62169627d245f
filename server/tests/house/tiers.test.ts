import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const TESTED = [
  'adapters',
  'agents',
  'cli',
  'console',
  'gateway',
  'mcp',
  'packages',
  'sdk',
  'server',
  'tools',
];
const tests = TESTED.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.test.ts') && !/\/(dist|node_modules)\//.test(name)),
);

test('the table of CONTRIBUTING names the files of the second tier', () => {
  const table = read('CONTRIBUTING.md').split('| Second tier |')[1]?.split('\n\n')[0] ?? '';
  const named = table.split('\n').flatMap((row) => {
    const [, files = ''] = row.split('|');
    return [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => `${file}.long.test.ts`);
  });
  expect(named.sort()).toEqual(tests.filter((name) => name.endsWith('.long.test.ts')).sort());
});

test('RUNS says how often a property is tried, for both tiers', () => {
  const table = /const RUNS[^{]*= \{([^}]*)\}/.exec(read('vitest.config.ts'))?.[1] ?? '';
  const known = [...table.matchAll(/^\s+([A-Z0-9_]+): \[/gm)].map(([, name]) => name);
  expect(known.length).toBeGreaterThan(10);
  const wanted = tests.flatMap((name) =>
    [
      ...read(name).matchAll(/process\.env\.([A-Z0-9_]+_(?:RUNS|ROUNDS|EDITS|KINDS|CODE_POINTS)|RACES)\b/g),
    ].map(([, variable]) => variable),
  );
  expect([...new Set(wanted)].sort()).toEqual([...known].sort());
});

test('the smoke of the console is six to ten tests', () => {
  const specs = readdirSync(join(ROOT, 'console/e2e'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.spec.ts'),
  );
  const smoke = specs.flatMap((name) => read(`console/e2e/${name}`).match(/@smoke/g) ?? []);
  expect(smoke.length).toBeGreaterThanOrEqual(6);
  expect(smoke.length).toBeLessThanOrEqual(10);
});
