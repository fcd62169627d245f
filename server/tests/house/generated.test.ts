import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { renderDocuments, renderOpenApi } from '../../src/documents.ts';

const ROOT = new URL('../../../', import.meta.url);

test.each(Object.entries(renderDocuments()))('%s is what npm run generate writes', (path, text) => {
  expect(readFileSync(new URL(path, ROOT), 'utf8')).toBe(text);
});

test('the OpenAPI document passes a public linter without an error or a warning', async () => {
  // Two routes lead browsers elsewhere and answer nothing else.
  const rules = { 'operation-2xx-response': 'off' } as const;
  const config = await createConfig({ extends: ['recommended'], rules });
  const problems = await lintFromString({ source: JSON.stringify(renderOpenApi()), config });
  expect(problems.map((problem) => `${problem.severity} ${problem.ruleId}: ${problem.message}`)).toEqual([]);
});
