// Installs what is missing and builds the server, if its sources changed.
import { fail, prepare } from './prepare.mjs';

await prepare({ with_dev: true }).catch(fail);
