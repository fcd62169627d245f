// Tries the packed client, guards and rails under the run times that they promise to work in: `npm run test:runtimes`, and as a
// part of `npm run test:all`. Gets them as packages of npm, into a folder that is gone afterwards: they are hundreds of
// megabytes, and nothing else needs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './prepare.mjs';

/** The oldest Node that we promise, those after it, and the others as they are today. */
const WANTED = ['node@20.19', 'node@22', 'node@24', 'deno@2', 'bun@1', 'workerd@1'];

/**
 * Installs them. `env` names them to the tests; call `remove` when these are done. If npm cannot install one, it says loudly
 * that they are left out, and `env` is empty; if they are `required`, it throws.
 */
export function installRuntimes({ required = false } = {}) {
  console.error('Installing other run times of JavaScript…');
  const folder = mkdtempSync(join(tmpdir(), 'purser-runtimes-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const paths = [];
  for (const runtime of WANTED) {
    const cwd = join(folder, runtime);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'package.json'), '{"private":true}');
    const how = ['install', '--no-audit', '--no-fund', '--loglevel=error', runtime];
    if (spawnSync('npm', how, { cwd, stdio: ['ignore', 2, 2] }).status === 0) {
      paths.push(join(cwd, 'node_modules', '.bin', runtime.split('@')[0]));
      continue;
    }
    remove();
    const line = '!'.repeat(100);
    console.error(
      `${line}\nLEFT OUT: the packages under other run times (npm run test:runtimes), because npm cannot install ${runtime}.\n${line}`,
    );
    if (required) throw new Error(`npm cannot install ${runtime}`);
    return { env: {}, remove: () => {} };
  }
  return { env: { RUNTIMES: paths.join(':') }, remove };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const runtimes = installRuntimes({ required: true });
  try {
    const args = [join(ROOT, 'scripts/test.mjs'), 'sdk/tests/package', 'agents/tests/package'];
    const env = { ...process.env, ...runtimes.env };
    process.exitCode = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1;
  } finally {
    runtimes.remove();
  }
}
