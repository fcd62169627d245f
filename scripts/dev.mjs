// npm run dev: serves, and builds and starts anew whenever a source file changes.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fail, prepare, ROOT } from './prepare.mjs';

await prepare({ with_dev: true }).catch(fail);
const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const project = join(ROOT, 'server', 'tsconfig.json');
const main = join(ROOT, 'server', 'dist', 'main.js');
const children = [
  [compiler, '-p', project, '--watch', '--preserveWatchOutput'],
  ['--watch', '--watch-preserve-output', main, 'serve'],
].map((args) => spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }));
const stop = (signal) => {
  for (const child of children) child.kill(signal);
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(signal));
for (const child of children) {
  child.on('error', fail);
  child.on('close', () => stop('SIGTERM'));
}
