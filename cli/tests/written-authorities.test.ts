import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type RunningService, startTestService } from '../../server/tests/support/running-service.ts';
import { readAuthorityFile } from '../src/authority-file.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const EXAMPLES = at('examples/authorities');
const GUIDE = readFileSync(at('docs/guides/writing-an-authority.md'), 'utf8');
const blocksOf = (guide: string) =>
  [...guide.matchAll(/```yaml\n(.*?)```/gs)].map((found) => parse(found[1] as string));

let s: RunningService;
beforeAll(async () => {
  s = await startTestService({ plan: 'team' });
});
afterAll(() => s.stop());

async function expectPassed(tested: object) {
  const { status, body, text } = await s.call('POST', '/v1/authority/test', { body: tested });
  expect(status, text).toBe(200);
  const wrong = body.steps.flatMap(({ mismatches }: { mismatches: object[] }, step: number) =>
    mismatches.map((each) => ({ step, ...each })),
  );
  expect(wrong).toEqual([]);
}

describe('the authorities of the guide', () => {
  const files = readdirSync(EXAMPLES).sort();

  test('are those of the files beside it, in the same order, and each is named', async () => {
    const written = await Promise.all(files.map((file) => readAuthorityFile(`${EXAMPLES}/${file}`)));
    expect(blocksOf(GUIDE)).toEqual(written.map(({ authority }) => authority));
    expect(files).toHaveLength(16);
    expect(files.filter((file) => !GUIDE.includes(`(../../examples/authorities/${file})`))).toEqual([]);
  });

  test.each(files)('%s decides as its steps say', async (file) => {
    const { authority, steps } = await readAuthorityFile(`${EXAMPLES}/${file}`);
    expect(steps.length).toBeGreaterThan(2);
    await expectPassed({ authority, steps });
  });
});

test('the steps that the guide to policy as code shows pass', async () => {
  const shown = blocksOf(readFileSync(at('docs/guides/policy-as-code.md'), 'utf8'));
  const { authority, steps } = shown.find((block) => block.steps !== undefined);
  await expectPassed({ authority, steps });
});
