import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeConsoleRoutes, readConsoleFiles } from '../../src/service/console/console-files.ts';
import { errorOf, startFakes } from '../support/http-fakes.ts';

const PAGE = '<!doctype html><title>Purser</title>'.padEnd(200_000, ' ');
const SCRIPT = 'console.log("the console")';
const directory = mkdtempSync(join(tmpdir(), 'purser-console-'));
let fakes: Awaited<ReturnType<typeof startFakes>>;

beforeAll(async () => {
  mkdirSync(join(directory, 'assets'));
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    writeFileSync(join(directory, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(directory, `${name}.gz`), gzipSync(text));
  };
  write('index.html', PAGE);
  write('theme.js', SCRIPT);
  write('assets/main-abc123.js', SCRIPT);
  writeFileSync(join(directory, 'assets', 'font-1.woff2'), 'glyphs');
  writeFileSync(join(directory, 'manifest.json'), '{}');
  writeFileSync(join(directory, '.built'), 'a hash');
  fakes = await startFakes({ routes: makeConsoleRoutes(readConsoleFiles(directory)) });
});
afterAll(async () => {
  await fakes.server.close();
  rmSync(directory, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${fakes.port}${path}`, { headers, redirect: 'manual' });
const raw = (path: string, headers: Record<string, string> = {}) =>
  fakes.ask(path, { key: null, headers: { accept: 'text/html', ...headers } });

describe('the page', () => {
  test.each([
    '/console/',
    '/console/decisions?mode=SHADOW&from=2026-11-01',
    '/console/decisions?q=a&q=b&%00=%ff',
    '/console/reviews',
    '/console/decisions/dec_1',
    '/console/agents/a/authority',
  ])('%s is the page', async (path) => {
    const reply = await get(path, { accept: 'text/html' });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(reply.headers.get('cache-control')).toBe('no-cache');
    expect(await reply.text()).toBe(PAGE);
  });

  test('it may run and load nothing but its own files, and no other page may frame it', async () => {
    const policy = (await get('/console/')).headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy).not.toContain('unsafe');
  });

  test('a program that wants something else is told that there is no such route', async () => {
    const reply = await raw('/console/reviews', { accept: 'application/json' });
    expect([reply.status, errorOf(reply).code]).toEqual([404, 'not_found']);
  });

  test('HEAD answers as GET does, without the body', async () => {
    const reply = await fetch(`http://127.0.0.1:${fakes.port}/console/`, { method: 'HEAD' });
    expect([reply.status, await reply.text()]).toEqual([200, '']);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('what a browser still has is not sent again', async () => {
    const first = await get('/console/', { 'accept-encoding': 'gzip' });
    const etag = first.headers.get('etag') as string;
    const again = await raw('/console/', {
      'accept-encoding': 'gzip',
      'if-none-match': `"other", W/${etag}`,
    });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
  });
});

describe('addresses of the console', () => {
  test.each([
    ['/', { accept: 'text/html,*/*;q=0.8' }],
    ['/console', {}],
  ])('%s leads a browser to it', async (path, headers) => {
    const reply = await get(path, headers);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, '/console/']);
  });
  test('a program that asks for / is answered 404', async () => {
    expect((await raw('/', { accept: '*/*' })).status).toBe(404);
  });
});

describe('files', () => {
  test('files whose names change with their content may be cached for ever', async () => {
    const reply = await get('/console/assets/main-abc123.js');
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(reply.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await reply.text()).toBe(SCRIPT);
    expect(await (await get('/console/assets/font-1.woff2')).text()).toBe('glyphs');
  });

  test('files with fixed names are revalidated', async () => {
    expect((await get('/console/theme.js')).headers.get('cache-control')).toBe('no-cache');
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ])('are sent as the build compressed them: %s', async (accepted, coding) => {
    const reply = await get('/console/theme.js', { 'accept-encoding': accepted });
    expect(reply.headers.get('content-encoding')).toBe(coding);
    expect(reply.headers.get('vary')).toBe('accept-encoding');
    expect(await reply.text()).toBe(SCRIPT);
  });

  test.each([
    '/console/assets/other.js',
    '/console/other.js',
    '/console/manifest.json',
    '/console/.built',
    '/console/theme.js.br',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/..%2fpackage.json',
    '/console/assets/%2e%2e/theme.js',
  ])('%s is none of them', async (path) => {
    const reply = await raw(path);
    expect([reply.status, errorOf(reply).code]).toEqual([404, 'not_found']);
  });
});

test('where the console was not built, its addresses are unknown', () => {
  expect(makeConsoleRoutes(readConsoleFiles(join(directory, 'nothing')))).toEqual([]);
});
