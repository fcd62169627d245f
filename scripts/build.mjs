// Installs what is missing and builds server and client, if their sources changed.
import { buildSdk } from './build-sdk.mjs';
import { fail, prepare } from './prepare.mjs';

await prepare({ with_dev: true }).then(buildSdk).catch(fail);
