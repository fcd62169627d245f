import { expect, test } from 'vitest';
import { welcome } from './welcome.ts';

test('a first start prints where the service is, its console and the first key, each on a line of its own', () => {
  const url = 'http://localhost:8080';
  const console_url = `${url}/console/setup#4F7K-9QXM-2RTD-8HWN`;
  const gateway_url = 'http://127.0.0.1:8081';
  const lines = welcome({ url, console_url, gateway_url, first: { admin_key: 'sk_made_now' } }, false).split(
    '\n',
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      'Purser listens on http://localhost:8080',
      '  Console     http://localhost:8080/console/setup#4F7K-9QXM-2RTD-8HWN',
      '  Guides      http://localhost:8080/docs/guides',
      '  Models      http://127.0.0.1:8081',
      '  Admin key   sk_made_now',
    ]),
  );
  for (const later of [
    welcome({ url, console_url, gateway_url: null, first: undefined }, false),
    welcome({ url, console_url, gateway_url: null, first: { admin_key: 'sk_made_now' } }, true),
  ]) {
    expect(later).not.toContain('sk_made_now');
    expect(later).not.toContain('Models');
  }
});
