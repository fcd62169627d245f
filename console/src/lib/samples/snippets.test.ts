import { describe, expect, test } from 'vitest';
import { curl, purchaseName, SNIPPETS } from './snippets.ts';

const of = {
  url: 'https://purser.example',
  key: 'sk_secret',
  request: { type: 'purchase', merchant: "Bob's $HOME `x` \\ Café", amount_minor: 1250, currency: 'EUR' },
};

test.each(SNIPPETS)('the code for $name holds the address and the key', ({ code }) => {
  expect(code(of)).toContain('https://purser.example');
  expect(code(of)).toContain('sk_secret');
});

test('the commands install what the service offers from the service, and the rest from its registry', () => {
  const packages = new Map([['@purser/sdk', 'https://purser.example/packages/purser-sdk-1.0.0.tgz']]);
  const installs = SNIPPETS.flatMap(({ install }) =>
    install === undefined ? [] : [install({ ...of, packages })],
  );
  expect(installs).toEqual([
    'npm install https://purser.example/packages/purser-sdk-1.0.0.tgz',
    'pip install purser-client',
    'npm install @purser/agents https://purser.example/packages/purser-sdk-1.0.0.tgz @anthropic-ai/claude-agent-sdk zod',
  ]);
});

test('a purchase has the same name whenever it is sent again, and another one has another', () => {
  expect(purchaseName(of.request)).toBe('bob-s-home-x-caf-1250');
  expect(purchaseName({ ...of.request, amount_minor: 1251 })).not.toBe(purchaseName(of.request));
  expect(purchaseName({ ...of.request, merchant: '株式会社' })).toBe('purchase-1250');
});

describe('the command', () => {
  test('gives a shell a body that no character of a merchant leaves', () => {
    const quoted = /-d ('.*')$/s.exec(curl(of))?.[1] as string;
    // What a POSIX shell makes of single quotes.
    const body = quoted.slice(1, -1).replaceAll(`'\\''`, "'");
    expect(JSON.parse(body)).toEqual({ action: of.request });
    expect(quoted.replaceAll(`'\\''`, '').slice(1, -1)).not.toContain("'");
  });
  test('leaves a variable of the shell to the shell, and names the agent of a key that has none', () => {
    const text = curl({ ...of, key: '$PURSER_API_KEY', agent: 'infra-bot' });
    expect(text).toContain('"x-api-key: $PURSER_API_KEY"');
    expect(text).toContain('"agent":"infra-bot"');
  });
});

test('code names the agent of a key that has none', () => {
  for (const name of ['TypeScript', 'Python', 'Claude hook']) {
    const snippet = SNIPPETS.find((each) => each.name === name);
    expect(snippet?.code(of)).not.toContain('agent"');
    expect(snippet?.code({ ...of, agent: 'infra-bot' })).toContain('infra-bot');
  }
});
