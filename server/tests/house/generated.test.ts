import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, onTestFinished, test } from 'vitest';
import { renderOpenApi, renderPages } from '../../src/documents.ts';

const ROOT = new URL('../../../', import.meta.url);

test.each(Object.entries(renderPages()))('%s is what npm run generate writes', (path, text) => {
  expect(readFileSync(new URL(path, ROOT), 'utf8')).toBe(text);
});

test('the OpenAPI document passes a public linter without an error or a warning', async () => {
  // Two routes lead browsers elsewhere and answer nothing else. The rule about paths compares them whatever their methods
  // are; the next test compares those of one method.
  const rules = { 'operation-2xx-response': 'off', 'no-ambiguous-paths': 'off' } as const;
  const config = await createConfig({ extends: ['recommended'], rules });
  const problems = await lintFromString({ source: JSON.stringify(renderOpenApi()), config });
  expect(problems.map((problem) => `${problem.severity} ${problem.ruleId}: ${problem.message}`)).toEqual([]);
});

test('of two routes with one method, a path that both fit is spelt out further by one of them', () => {
  const routes = Object.entries(renderOpenApi().paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method, parts: path.split('/') })),
  );
  const isParameter = (part: string | undefined) => part?.startsWith('{') === true;
  const ambiguous = routes.flatMap((one) =>
    routes
      .filter((other) => {
        if (other.path <= one.path || other.method !== one.method) return false;
        if (other.parts.length !== one.parts.length) return false;
        const pairs = one.parts.map((part, i) => [part, other.parts[i]] as const);
        if (!pairs.every(([a, b]) => a === b || isParameter(a) || isParameter(b))) return false;
        const further = (side: 0 | 1) =>
          pairs.some((pair) => !isParameter(pair[side]) && isParameter(pair[side === 0 ? 1 : 0]));
        return further(0) === further(1);
      })
      .map((other) => `${one.method} ${one.path} and ${other.path}`),
  );
  expect(ambiguous).toEqual([]);
});

test('generated files are made from the sources of packages that were built before, not from what was built', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'purser-sources-'));
  onTestFinished(() => rm(clone, { recursive: true, force: true }));
  await cp(fileURLToPath(new URL('scripts', ROOT)), join(clone, 'scripts'), { recursive: true });
  const files = {
    'package.json': '{"type":"module"}',
    'main.ts': "export { made_from } from '@purser/thing';",
    'packages/thing/package.json': '{"type":"module","exports":{".":{"default":"./dist/index.js"}}}',
    'packages/thing/src/index.ts': "export const made_from: string = 'sources';",
    'packages/thing/dist/index.js': "export const made_from = 'built';",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(clone, path)), { recursive: true });
    await writeFile(join(clone, path), text);
  }
  await mkdir(join(clone, 'node_modules/@purser'), { recursive: true });
  await symlink(join(clone, 'packages/thing'), join(clone, 'node_modules/@purser/thing'));
  await symlink(fileURLToPath(new URL('node_modules/vite', ROOT)), join(clone, 'node_modules/vite'));
  const load =
    "const { loadSource } = await import('./scripts/sources.mjs'); console.log((await loadSource('main.ts')).made_from);";
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', load], {
    cwd: clone,
    encoding: 'utf8',
  });
  expect(out).toBe('sources\n');
});
