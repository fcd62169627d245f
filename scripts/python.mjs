// The Python side of the repository: finds Python, makes environments, builds the wheel. Nothing else needs Python.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

/** The folder of the Python client. */
export const PYTHON = join(ROOT, 'python');
const LEAST_MINOR = 10;
const NAMES = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3'];
const DIST = join(PYTHON, 'dist');

/** True if this copy of the repository has the Python client. */
export const hasPython = () => existsSync(join(PYTHON, 'pyproject.toml'));

/** Python, or something that it needs, is not there; the message says what. */
export class PythonMissing extends Error {}

/** The program that runs Python 3.10 or later: only `PYTHON` where it is set. Throws `PythonMissing`. */
export function findPython(env = process.env) {
  const names = env.PYTHON ? [env.PYTHON] : NAMES;
  for (const name of names) {
    const { status, stdout } = spawnSync(name, ['-c', 'import sys; print(*sys.version_info[:2])'], {
      encoding: 'utf8',
    });
    const [major, minor] = (stdout ?? '').trim().split(' ').map(Number);
    if (status === 0 && major === 3 && minor >= LEAST_MINOR) return name;
  }
  throw new PythonMissing(
    env.PYTHON
      ? `PYTHON is ${env.PYTHON}, which runs no Python 3.${LEAST_MINOR} or later`
      : `there is no Python 3.${LEAST_MINOR} or later`,
  );
}

/** Runs a program to its end, its output shown unless `quiet`. Resolves to its exit code and its output. */
export function runPython(file, args, { quiet = false, env = process.env, cwd = PYTHON } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (!quiet) process.stderr.write(chunk);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Where the programs of an environment are. @param {string} folder @param {string} name */
export const programOf = (folder, name) =>
  process.platform === 'win32' ? join(folder, 'Scripts', `${name}.exe`) : join(folder, 'bin', name);

/**
 * An environment of this Python with exactly these lists of packages, whose hashes are checked. Made once, and again when
 * the lists or the Python change. Resolves to its Python. Throws `PythonMissing` where `venv` or the packages cannot be had.
 */
export async function makeEnvironment(python, folder, lists) {
  const program = programOf(folder, 'python');
  const { stdout } = spawnSync(python, ['-c', 'import sys; print(sys.executable, sys.version)'], {
    encoding: 'utf8',
  });
  const texts = [stdout, ...lists.map((list) => readFileSync(list, 'utf8'))];
  const wanted = createHash('sha256').update(texts.join('\0')).digest('hex');
  const mark = join(folder, `.installed-${wanted.slice(0, 16)}`);
  if (existsSync(mark) && existsSync(program)) return program;
  const made = await runPython(python, ['-m', 'venv', '--clear', folder], { quiet: true });
  if (made.code !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new PythonMissing(`${python} cannot make an environment: its module venv is missing`);
  }
  const given = lists.flatMap((list) => ['-r', list]);
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--require-hashes',
    ...given,
  ];
  const { code, output } = await runPython(program, args, { quiet: true });
  if (code !== 0) {
    const why = output.trim().split('\n').at(-1) ?? '';
    throw new PythonMissing(`the packages of ${lists.at(-1)} cannot be installed (${why})`);
  }
  writeFileSync(mark, '');
  return program;
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === '__pycache__' ? [] : filesIn(path);
      return [path];
    });
}

function hashOfPackage() {
  const hash = createHash('sha256');
  const others = ['pyproject.toml', 'README.md', 'CHANGELOG.md', 'LICENSE'].map((name) => join(PYTHON, name));
  for (const file of [...filesIn(join(PYTHON, 'src')), ...others]) {
    const content = readFileSync(file);
    hash.update(`${file.slice(PYTHON.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Writes wheel and sdist to `python/dist`, unless they are there for the sources as they are. Resolves to the wheel. */
export async function buildWheel(python) {
  const mark = join(DIST, '.built');
  const wheel = () => readdirSync(DIST).find((name) => name.endsWith('.whl'));
  const hash = hashOfPackage();
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash && wheel()) return join(DIST, wheel());
  const program = await makeEnvironment(python, join(PYTHON, '.venv', 'build'), [join(PYTHON, 'build.txt')]);
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  const { code, output } = await runPython(program, ['-m', 'hatchling', 'build', '-d', DIST], {
    quiet: true,
  });
  if (code !== 0) throw new Error(`The Python package could not be built:\n${output}`);
  writeFileSync(mark, hash);
  return join(DIST, wheel());
}
