import { expect, test } from 'vitest';
import { codingFor, compress } from './compression.ts';

test('the coding is one that the client takes, brotli first, and none that it refuses', () => {
  const pairs: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0.0, gzip;q=0', null],
  ];
  for (const [header, coding] of pairs) expect(codingFor(header)).toBe(coding);
});

test('a short body stays as it is, and bytes that are answered again are compressed once', async () => {
  expect(await compress('x'.repeat(1_023), 'br')).toBeNull();
  const document = Buffer.alloc(5_000, 'openapi');
  expect(await compress(document, 'gzip')).toBe(await compress(document, 'gzip'));
});
