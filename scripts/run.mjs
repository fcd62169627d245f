// Prepares the clone and becomes the server or one of its commands: `node scripts/run.mjs serve`, … . It stays
// one process, so that a signal reaches the server itself and its exit code is the exit code here.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endWithParent } from '../server/package/bin/end-with-parent.mjs';
import { fail, prepare, ROOT } from './prepare.mjs';

const args = process.argv.slice(2);
const main = join(ROOT, 'server', 'dist', 'main.js');

endWithParent();

// The output of a command is for programs to read; only the service may tell what it is doing first.
await prepare({ quiet: args[0] !== 'serve' }).catch(fail);
process.argv = [process.execPath, main, ...args];
await import(pathToFileURL(main).href);
