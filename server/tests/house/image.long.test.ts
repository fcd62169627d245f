import { execFileSync } from 'node:child_process';
import {
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
import { expect, onTestFinished, test } from 'vitest';
import { isGivenToImage, ROOT } from '../support/image.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);

test('an image is built from what it is given, and what was built starts', () => {
  const image = mkdtempSync(join(tmpdir(), 'purser-image-'));
  onTestFinished(() => rmSync(image, { recursive: true }));
  const sources = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const given = sources.filter((path) => path !== '' && existsSync(join(ROOT, path)) && isGivenToImage(path));
  for (const path of given) cpSync(join(ROOT, path), join(image, path));
  // Links replace the packages that `npm ci` would fetch again. Of our own packages, only those in the image are linked.
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
