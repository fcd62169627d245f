import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isGivenToImage, ROOT } from '../support/image.ts';

/** Settings, keys and data lie beside the sources and never get into an image or a commit. */

const SECRETS = [
  '.env',
  '.env.local',
  'server/.env',
  'server/src/.env.production',
  'tls.pem',
  'server/tls.key',
  'scripts/deep/down/id.pem',
  '.data/secret-key',
  '.data/postgres/PG_VERSION',
  '.data-2/checkpoints/ws_1/0000000000000001.txt',
  'server/.data/secret-key',
  'server/secret-key',
  'secret-key.old',
  'server/postgres.log',
];

describe('an image', () => {
  test.each(SECRETS)('is not given %s', (path) => expect(isGivenToImage(path)).toBe(false));
  test.each(['data.sql', 'backup/dump.sql', 'notes.md', 'server/tests/vectors/tls/good.key'])(
    'nor %s, which it has no use for',
    (path) => expect(isGivenToImage(path)).toBe(false),
  );
  test.each([
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'scripts/prepare.mjs',
    'console/index.html',
    'console/src/main.tsx',
    'examples/authorities/02-limits.yaml',
    'sdk/src/index.ts',
    'server/package.json',
    'server/tsconfig.json',
    'server/src/main.ts',
    'packages/purpose-data/curated/trade-words.txt',
    'server/migrations/001.do.foundation.sql',
  ])('is given %s', (path) => expect(isGivenToImage(path)).toBe(true));

  test('is built on a fixed version, from the locked packages', () => {
    const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
    const bases = dockerfile.match(/^FROM .*$/gm) ?? [];
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases) expect(base).toMatch(/^FROM node:\d+\.\d+\.\d+-slim( AS build)?$/);
    expect(dockerfile).toContain('npm ci ');
    expect(dockerfile).not.toContain('npm install');
  });
});

describe('a commit', () => {
  test('is not given any of these', () => {
    const directory = mkdtempSync(join(tmpdir(), 'purser-ignored-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    execFileSync('git', ['init', '--quiet', directory]);
    copyFileSync(join(ROOT, '.gitignore'), join(directory, '.gitignore'));
    const ignored = execFileSync('git', ['check-ignore', '--stdin'], {
      cwd: directory,
      input: SECRETS.join('\n'),
      encoding: 'utf8',
    });
    expect(ignored.trim().split('\n')).toEqual(SECRETS);
  });
  test('holds nothing that is ignored', () => {
    const listed = execFileSync('git', ['ls-files', '--cached', '--ignored', '--exclude-standard'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(listed).toBe('');
  });
});
