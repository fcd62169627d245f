import { readFileSync } from 'node:fs';
import { DELIVERY_ERRORS } from '@purser/contract/values/webhooks';
import { expect, test } from 'vitest';

const guide = readFileSync(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8');
const { cases } = JSON.parse(
  readFileSync(new URL('../vectors/webhook-signatures.json', import.meta.url), 'utf8'),
) as {
  cases: {
    name: string;
    valid: boolean;
    secret: string;
    now: number;
    body: string;
    headers: Record<string, string>;
  }[];
};

test.each(cases)('the guide’s code for Node judges "$name" as $valid', async (vector) => {
  const code = /```js\n([\s\S]*?)```/.exec(guide)?.[1] as string;
  const { verify } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
  const { headers, body, secret, now, valid } = vector;
  expect(verify(headers, body, secret, now)).toBe(valid);
  expect(verify(headers, Buffer.from(body), secret, now)).toBe(valid);
});

test('the guide names every error of a delivery', () => {
  for (const name of Object.keys(DELIVERY_ERRORS)) expect(guide).toContain(`| \`${name}\` |`);
});
