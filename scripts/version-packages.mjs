// Raises versions and writes changelogs from the changesets, and writes the new version where the code says it.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

const { status } = spawnSync('npx', ['--yes', '@changesets/cli@3.0.3', 'version'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
const { version } = JSON.parse(readFileSync(join(ROOT, 'sdk', 'package.json'), 'utf8'));
const file = join(ROOT, 'sdk', 'src', 'version.ts');
const text = readFileSync(file, 'utf8');
writeFileSync(file, text.replace(/VERSION = '[^']*'/, `VERSION = '${version}'`));
