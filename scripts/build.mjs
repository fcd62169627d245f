// Installs what is missing and builds the packages that are there, if their sources changed. Where Python is there, the wheel too:
// nothing else of the repository needs it, so without it everything else is built.
import { fail, prepare } from './prepare.mjs';
import { buildWheel, findPython, hasPython, PythonMissing } from './python.mjs';

await prepare({ with_dev: true }).catch(fail);
try {
  // An image has no Python client. What the service offers is packed with the wheel.
  if (hasPython()) await buildWheel(findPython());
  await prepare({ with_dev: true, quiet: true });
} catch (error) {
  if (!(error instanceof PythonMissing)) fail(error);
  console.error(`Python is left out: ${error.message}`);
}
