// Installs what is missing and builds the packages that are there, if their sources changed.
import { fail, prepare } from './prepare.mjs';

await prepare({ with_dev: true }).catch(fail);
