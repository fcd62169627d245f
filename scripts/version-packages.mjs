// Raises versions and writes changelogs from the changesets, writes the new version where the code says it, and the API
// that later changes are compared with.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

const { status } = spawnSync('npx', ['--yes', '@changesets/cli@3.0.3', 'version'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
for (const name of ['sdk', 'mcp', 'cli']) {
  const { version } = JSON.parse(readFileSync(join(ROOT, name, 'package.json'), 'utf8'));
  const write = (path, change) => {
    const file = join(ROOT, name, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  };
  write('src/version.ts', (text) => text.replace(/VERSION = '[^']*'/, `VERSION = '${version}'`));
  // The entry in the registry of MCP servers names the version twice.
  if (name === 'mcp') write('server.json', (text) => text.replace(/("version": )"[^"]*"/g, `$1"${version}"`));
}
const { status: written } = spawnSync(
  process.execPath,
  [join(ROOT, 'scripts', 'check-breaking.mjs'), '--release'],
  {
    cwd: ROOT,
    stdio: 'inherit',
  },
);
process.exit(written ?? 1);
