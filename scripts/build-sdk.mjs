// Compiles the client into sdk/dist: for its package, for the examples, and for tests that run it in other processes.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PrepareError, ROOT } from './prepare.mjs';

/** Compiles what has changed. Throws `PrepareError` after the compiler has said what is wrong. */
export function buildSdk() {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', join(ROOT, 'sdk', 'tsconfig.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new PrepareError('The client could not be built; see above.');
}
