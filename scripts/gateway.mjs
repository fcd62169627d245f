// Prepares the clone and becomes the gateway of model calls. It stays one process, so that a signal reaches it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, prepare, ROOT } from './prepare.mjs';

// The output is the log, in JSON.
await prepare({ quiet: true }).catch(fail);
await import(pathToFileURL(join(ROOT, 'gateway', 'dist', 'main.js')).href);
