import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
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
