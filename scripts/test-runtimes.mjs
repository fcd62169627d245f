// Tries the packed client, guards and rails under the run times that they promise to work in: `npm run test:runtimes`. Gets
// them as packages of npm, into a folder that is gone afterwards: they are hundreds of megabytes, and nothing else needs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

/** The oldest Node that we promise, those after it, and the others as they are today. */
const WANTED = ['node@20.19', 'node@22', 'node@24', 'deno@2', 'bun@1', 'workerd@1'];

const folder = mkdtempSync(join(tmpdir(), 'purser-runtimes-'));
try {
  const paths = WANTED.map((runtime) => {
    const cwd = join(folder, runtime);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'package.json'), '{"private":true}');
    const how = ['install', '--no-audit', '--no-fund', '--loglevel=error', runtime];
    if (spawnSync('npm', how, { cwd, stdio: 'inherit' }).status !== 0) throw new Error(`No ${runtime}`);
    return join(cwd, 'node_modules', '.bin', runtime.split('@')[0]);
  });
  const env = { ...process.env, RUNTIMES: paths.join(':') };
  const args = [join(ROOT, 'scripts/test.mjs'), 'sdk/tests/package', 'agents/tests/package'];
  process.exitCode = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
