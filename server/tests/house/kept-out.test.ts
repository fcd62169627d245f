import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

/** Settings, keys and data lie beside the sources and never get into an image or a commit. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
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

/** Whether the build of an image would be given a file: the last pattern that matches it, or a folder above it, counts. */
function isGivenToImage(path: string): boolean {
  const parts = path.split('/');
  const ways = parts.map((_, i) => parts.slice(0, i + 1).join('/'));
  let is_given = true;
  for (const line of readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const is_exception = line.startsWith('!');
    const source = line
      .slice(is_exception ? 1 : 0)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('**/', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('\0', '(?:.*/)?');
    if (ways.some((way) => new RegExp(`^${source}$`).test(way))) is_given = is_exception;
  }
  return is_given;
}

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
    'sdk/src/index.ts',
    'server/package.json',
    'server/tsconfig.json',
    'server/src/main.ts',
    'packages/purpose-data/curated/trade-words.txt',
    'server/migrations/001.do.foundation.sql',
  ])('is given %s', (path) => expect(isGivenToImage(path)).toBe(true));

  test('is built from what it is given, and what was built starts', () => {
    const image = mkdtempSync(join(tmpdir(), 'purser-image-'));
    onTestFinished(() => rmSync(image, { recursive: true }));
    const sources = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
    const given = sources.filter(
      (path) => path !== '' && existsSync(join(ROOT, path)) && isGivenToImage(path),
    );
    for (const path of given) cpSync(join(ROOT, path), join(image, path));
    // In place of what `npm ci` would fetch anew: the same packages, and of our own only those that the image has.
    const packages = join(image, 'node_modules');
    mkdirSync(join(packages, '@purser'), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name !== '@purser') symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
    }
    for (const path of given.filter((each) => /^(\w+|packages\/[^/]+)\/package\.json$/.test(each))) {
      const { name } = JSON.parse(readFileSync(join(image, path), 'utf8'));
      symlinkSync(join(image, dirname(path)), join(packages, name));
    }
    // Whatever wants to be installed is missing from the image: nothing is there to install it with.
    const env = { ...process.env, npm_execpath: join(image, 'no-npm.js') };
    const run = (...args: string[]) =>
      execFileSync(process.execPath, args, { cwd: image, env, encoding: 'utf8', stdio: 'pipe' });
    run('scripts/build.mjs');
    expect(existsSync(join(image, 'sdk/src/generated.ts'))).toBe(true);
    expect(run('server/dist/main.js', '--help')).toContain('Run the service: API and workers.');
    // What serves is loaded by the program only when it serves.
    const load =
      "const { startService } = await import('./server/dist/app.js'); console.log(typeof startService)";
    expect(run('--input-type=module', '-e', load)).toBe('function\n');
  });

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
