// Checks and tests the Python client: `npm run test:python`. It builds wheel and sdist, installs the wheel, and runs ruff, mypy,
// pyright and pytest (which takes further arguments). With `--frameworks [NAME]` it drives the guards in the frameworks, each in an
// environment of its own. With `--if-present` it says so in one line where Python is missing, unless PYTHON_REQUIRED=1.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fail, prepare } from './prepare.mjs';
import {
  buildWheel,
  findPython,
  makeEnvironment,
  PYTHON,
  PythonMissing,
  programOf,
  runPython,
} from './python.mjs';

const FRAMEWORKS = join(PYTHON, 'frameworks');

/** Installs the wheel of this clone into an environment, in place of an older one. */
async function installWheel(program, wheel) {
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--force-reinstall',
    '--disable-pip-version-check',
  ];
  const { code, output } = await runPython(program, [...args, wheel], { quiet: true });
  if (code !== 0) throw new Error(`The wheel could not be installed:\n${output}`);
}

/** Runs pytest. Resolves to how many tests passed and failed; a run without results is a failure. */
async function runTests(program, args) {
  const folder = mkdtempSync(join(tmpdir(), 'purser-pytest-'));
  const results = join(folder, 'results.xml');
  try {
    const given = ['-m', 'pytest', `--junitxml=${results}`, ...args];
    const { code } = await runPython(program, given, {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const text = existsSync(results) ? readFileSync(results, 'utf8') : '';
    const count = (name) => Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(text)?.[1] ?? 0);
    const failed = count('failures') + count('errors');
    const passed = count('tests') - failed - count('skipped');
    return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function testPackage(python, pytest_args) {
  const wheel = await buildWheel(python);
  const folder = join(PYTHON, '.venv', 'tests');
  const program = await makeEnvironment(python, folder, [join(PYTHON, 'requirements.txt')]);
  await installWheel(program, wheel);
  const bin = (name) => programOf(folder, name);
  const checks =
    pytest_args.length > 0
      ? []
      : [
          ['ruff', bin('ruff'), ['check', '--config', 'pyproject.toml', '.', '../examples']],
          [
            'ruff format',
            bin('ruff'),
            ['format', '--check', '--config', 'pyproject.toml', '.', '../examples'],
          ],
          ['mypy', bin('mypy'), []],
          ['pyright', bin('pyright'), ['--pythonpath', program]],
        ];
  const total = { passed: 0, failed: 0 };
  for (const [name, file, args] of checks) {
    console.error(`== python: ${name}`);
    const { code } = await runPython(file, args);
    if (code === 0) total.passed += 1;
    else total.failed += 1;
  }
  console.error('== python: pytest');
  const tests = await runTests(program, pytest_args);
  return { passed: total.passed + tests.passed, failed: total.failed + tests.failed };
}

async function testFrameworks(python, names) {
  const all = readdirSync(FRAMEWORKS, { withFileTypes: true }).filter((each) =>
    existsSync(join(FRAMEWORKS, each.name, 'requirements.txt')),
  );
  const known = all.map((each) => each.name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new PythonMissing(`there is no framework ${wrong}; there are ${known.join(', ')}`);
  const wheel = await buildWheel(python);
  const total = { passed: 0, failed: 0 };
  for (const name of names.length === 0 ? known : names) {
    console.error(`== python: ${name}`);
    const list = join(FRAMEWORKS, name, 'requirements.txt');
    const program = await makeEnvironment(python, join(PYTHON, '.venv', name), [list]);
    await installWheel(program, wheel);
    const { passed, failed } = await runTests(program, ['-W', 'default', join(FRAMEWORKS, name)]);
    total.passed += passed;
    total.failed += failed;
  }
  return total;
}

/** The whole command. Resolves to an exit code. */
export async function testPython(args) {
  const if_present = args.includes('--if-present') && process.env.PYTHON_REQUIRED !== '1';
  const rest = args.filter((each) => each !== '--if-present');
  try {
    const python = findPython();
    await prepare({ with_dev: true });
    // What the service offers is packed with the wheel.
    await buildWheel(python);
    await prepare({ with_dev: true, quiet: true });
    const [first, ...names] = rest;
    const { passed, failed } =
      first === '--frameworks' ? await testFrameworks(python, names) : await testPackage(python, rest);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof PythonMissing)) throw error;
    console.log(
      if_present
        ? `Python is left out: ${error.message}`
        : `The Python client cannot be tested: ${error.message}.`,
    );
    return if_present ? 0 : 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exit(await testPython(process.argv.slice(2)).catch(fail));
