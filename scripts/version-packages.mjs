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
for (const name of ['sdk', 'mcp', 'gateway', 'cli']) {
  const { version } = JSON.parse(readFileSync(join(ROOT, name, 'package.json'), 'utf8'));
  const write = (path, change) => {
    const file = join(ROOT, name, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  };
  write('src/version.ts', (text) => text.replace(/VERSION = '[^']*'/, `VERSION = '${version}'`));
  // The entry in the registry of MCP servers names the version twice.
  if (name === 'mcp') write('server.json', (text) => text.replace(/("version": )"[^"]*"/g, `$1"${version}"`));
}
// The Python client has the client's version, in the form of Python: 1.0.0-beta.1 is 1.0.0b1.
const { version: client_version } = JSON.parse(readFileSync(join(ROOT, 'sdk', 'package.json'), 'utf8'));
const python_version = client_version
  .replace(/-alpha\.(\d+)$/, 'a$1')
  .replace(/-beta\.(\d+)$/, 'b$1')
  .replace(/-rc\.(\d+)$/, 'rc$1');
writeFileSync(join(ROOT, 'python', 'src', 'purser', '_version.py'), `VERSION = "${python_version}"\n`);
const { status: written } = spawnSync(
  process.execPath,
  [join(ROOT, 'scripts', 'check-breaking.mjs'), '--release'],
  {
    cwd: ROOT,
    stdio: 'inherit',
  },
);
process.exit(written ?? 1);
