// Makes a clone ready to run: the Node version is right, the packages are installed, the server is built.
// Looks first and writes only what is missing, so that a start with nothing to do costs a few milliseconds and
// also works where nothing can be written. Plain Node without packages, since it runs before there are any.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hashOf, listSources, ROOT, readText } from './source-files.mjs';

export { ROOT } from './source-files.mjs';

/** Build targets, in this order: the service, what it offers beside itself, and what only tests and tools need. */
const SERVICE = [
  'packages/contract',
  'packages/embedded-postgres',
  'packages/purpose-data',
  'packages/rules',
  'packages/rail-events',
  'sdk',
  'mcp',
  'server',
  'console',
];
const SERVED = [...SERVICE, 'agents', 'adapters', 'gateway', 'cli'];
const DEVELOPED = [...SERVED, 'tools'];
/** Built by Vite and not by the compiler: everything that goes into what the browser is given. */
const BUNDLED = {
  console: [
    'index.html',
    'vite.config.ts',
    'templates.ts',
    'public',
    'src',
    '../sdk/src',
    '../packages/contract/src',
    '../examples/authorities',
  ],
};
/** Packages that carry more than their own sources, with the script that adds it once they are compiled. */
const BUNDLES = {
  sdk: {
    script: 'scripts/bundle-fake.mjs',
    sources: ['../packages/contract/src', '../packages/rules/src', '../packages/purpose-data/curated'],
  },
};
/** Files rendered from the service's sources before the client is built, which needs the types. */
const DOCUMENTS = ['openapi.json', 'sdk/src/generated.ts'];
if (existsSync(join(ROOT, 'python', 'pyproject.toml')))
  DOCUMENTS.push('python/src/purser/types.py', 'python/src/purser/_resources.py');
/** Sources of the client that name the methods of every language. */
const CLIENT_SOURCES = ['sdk/src/resources.ts', 'sdk/src/purser.ts'];
const DOCUMENTS_MARK = join(ROOT, 'sdk', 'dist', '.documents');
const DIST = join(ROOT, 'server', 'dist');
/** The packages that the service offers are made from these, beside what is built. */
const OFFERED_FROM = [
  ...[
    'docs/guides',
    'docs/reference',
    'python/dist',
    'server/package',
    'server/migrations',
    'LICENSE',
    'package.json',
  ],
  ...['packages/contract', 'sdk', 'mcp', 'agents', 'adapters', 'gateway', 'cli'].map((n) => `${n}/README.md`),
  ...['gateway/prices.json', 'scripts/offers'],
];
const OFFERS_MARK = join(ROOT, 'dist', '.offered');
const LOCK_FILE = join(ROOT, 'package-lock.json');
/** The list that `npm install` writes of its installed packages. */
const INSTALLED_LIST = join(ROOT, 'node_modules', '.package-lock.json');
/** Holds the hash of the lock file that the packages were checked against or installed from. */
const INSTALLED_MARK = join(ROOT, 'node_modules', '.purser-installed');
/** In the built folder of a package: the hash of the sources that it was made from. */
const BUILT_MARK = '.built';
const BUSY_FILE = join(DIST, '.preparing');
/** An installation that takes longer has hung; the next one stops waiting for it. */
const BUSY_MAX_MS = 15 * 60_000;

/** Something is missing that we cannot put right; the message says what to do. */
class PrepareError extends Error {
  /** @param {string} message @param {number} exit_code */
  constructor(message, exit_code = 1) {
    super(message);
    this.exit_code = exit_code;
  }
}

/** Ends the process with a message on standard error, for whatever `prepare` threw. @param {unknown} error */
export function fail(error) {
  const is_expected = error instanceof PrepareError;
  if (!is_expected || error.message !== '') console.error(is_expected ? error.message : error);
  process.exit(is_expected ? error.exit_code : 1);
}

function checkNodeVersion() {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const wanted = engines.node.replace('>=', '');
  const [major, minor = 0] = wanted.split('.').map(Number);
  const [our_major, our_minor] = process.versions.node.split('.').map(Number);
  if (our_major > major || (our_major === major && our_minor >= minor)) return;
  throw new PrepareError(
    `Purser needs Node.js ${wanted} or later, and this is ${process.version}. Install a later one from https://nodejs.org and start again.`,
  );
}

/** Whether npm would leave a package out on this machine, or may do so. */
function mayBeAbsent(entry, with_dev) {
  if (entry.link || (entry.dev && !with_dev) || (entry.devOptional && !with_dev)) return true;
  if (!entry.optional) return false;
  const fits = (list, ours) => list === undefined || list.includes(ours);
  // Optional packages without these, or for a C library, are left out for reasons of npm's own.
  return (
    entry.libc !== undefined ||
    !entry.os ||
    !fits(entry.os, process.platform) ||
    !fits(entry.cpu, process.arch)
  );
}

/** Returns true if the packages that the lock file asks for are there, in those versions. */
function isInstalled(with_dev) {
  const lock_text = readText(LOCK_FILE);
  const mark = readText(INSTALLED_MARK);
  if (lock_text === '') return mark !== '' && existsSync(INSTALLED_LIST);
  if (mark === hashOf(lock_text)) return true;
  const installed_text = readText(INSTALLED_LIST);
  if (installed_text === '') return false;
  const installed = JSON.parse(installed_text).packages;
  return Object.entries(JSON.parse(lock_text).packages).every(([path, entry]) => {
    if (!path.includes('node_modules/')) return true;
    // A workspace of this clone that was added since.
    if (entry.link && existsSync(join(ROOT, entry.resolved)) && !existsSync(join(ROOT, path))) return false;
    if (mayBeAbsent(entry, with_dev)) return true;
    const found = installed[path];
    // Not every registry has the tools of every platform, so the lock file cannot tell what some of them hold.
    const is_told = entry.integrity !== undefined || !(entry.dev && entry.optional);
    const is_same = !is_told || found?.integrity === entry.integrity;
    return found?.version === entry.version && is_same && existsSync(join(ROOT, path));
  });
}

/** Where the sources of a package are: in `src`, or for the tools in folders of their own. */
function sourcesOf(name) {
  const src = join(ROOT, name, 'src');
  return existsSync(src) ? src : join(ROOT, name);
}

/** By content: times differ between a clone, a copy and a container's layers of the same sources. */
function hashOfSources(name) {
  const hash = createHash('sha256');
  const settings = [
    join(ROOT, 'tsconfig.json'),
    join(ROOT, name, 'tsconfig.json'),
    join(ROOT, name, 'package.json'),
  ];
  const sources = (BUNDLED[name] ?? ['', ...(BUNDLES[name]?.sources ?? [])]).flatMap((each) => {
    const path = each === '' ? sourcesOf(name) : join(ROOT, name, each);
    return statSync(path).isDirectory() ? listSources(path) : [path];
  });
  for (const file of [...settings, ...sources]) {
    const content = readFileSync(file);
    hash.update(`${relative(ROOT, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** A hash of everything that the documents are rendered from; undefined in a clone without a client. */
function hashOfDocuments() {
  if (!existsSync(join(ROOT, 'sdk', 'tsconfig.json'))) return undefined;
  const sources = SERVICE.filter((name) => name !== 'sdk' && name !== 'console');
  const named = CLIENT_SOURCES.map((path) => readText(join(ROOT, path)));
  return hashOf([...sources.map(hashOfSources), ...named].join());
}

function areDocumentsStale() {
  const hash = hashOfDocuments();
  if (hash === undefined) return false;
  return readText(DOCUMENTS_MARK) !== hash || !DOCUMENTS.every((path) => existsSync(join(ROOT, path)));
}

async function renderDocuments(quiet) {
  const hash = hashOfDocuments();
  await run(
    'The rendering of the documents',
    process.execPath,
    [join(ROOT, 'scripts/generate.mjs'), '--built'],
    quiet,
  );
  mkdirSync(dirname(DOCUMENTS_MARK), { recursive: true });
  writeFileSync(DOCUMENTS_MARK, hash);
}

/** A hash of all that the offered packages are made from; their builds have the hashes of their sources. */
function hashOfOffers() {
  const files = OFFERED_FROM.flatMap((path) => {
    const at = join(ROOT, path);
    if (!existsSync(at)) return [];
    return statSync(at).isDirectory() ? listSources(at, new Set()) : [at];
  });
  const marks = SERVED.map((name) => readText(join(ROOT, name, 'dist', BUILT_MARK)));
  return hashOf(
    [...marks, ...files.map((file) => `${relative(ROOT, file)} ${hashOf(readFileSync(file))}`)].join('\n'),
  );
}

function areOffersStale() {
  return existsSync(join(ROOT, 'cli', 'tsconfig.json')) && readText(OFFERS_MARK) !== hashOfOffers();
}

async function makeOffers(quiet) {
  rmSync(OFFERS_MARK, { force: true });
  const script = join(ROOT, 'scripts/offers/pack-packages.mjs');
  await run('The build of the guides and packages', process.execPath, [script], quiet);
  writeFileSync(OFFERS_MARK, hashOfOffers());
}

/** Those of the packages that are not built as their sources stand. */
function unbuilt(with_dev) {
  return (with_dev ? DEVELOPED : SERVED).filter(
    (name) =>
      existsSync(join(ROOT, name, 'tsconfig.json')) &&
      readText(join(ROOT, name, 'dist', BUILT_MARK)) !== hashOfSources(name),
  );
}

/**
 * Runs a program to its end. A signal to us is passed on, and ends the preparation once the program has ended.
 * When `quiet`, its output is shown only if it fails, on standard error as everything else here.
 */
function run(title, file, args, quiet) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (quiet) output += chunk;
        else process.stderr.write(chunk);
      });
    }
    let received = null;
    const passOn = (signal) => {
      received = signal;
      child.kill(signal);
    };
    process.on('SIGINT', passOn);
    process.on('SIGTERM', passOn);
    const settle = (act) => {
      process.off('SIGINT', passOn);
      process.off('SIGTERM', passOn);
      act();
    };
    child.on('error', (error) => settle(() => reject(new PrepareError(`${title} failed: ${error.message}`))));
    child.on('close', (code, signal) => {
      settle(() => {
        if (received !== null) return reject(new PrepareError('', received === 'SIGINT' ? 130 : 143));
        if (code === 0) return resolve();
        process.stderr.write(output);
        reject(new PrepareError(`${title} failed (${signal ?? `exit code ${code}`}); see above.`));
      });
    });
  });
}

async function install(quiet) {
  const args = [
    // Not `npm ci`: that refuses a lock file in which an optional package for some other platform is not listed,
    // and npm writes such lock files (npm/cli#4828). The versions of the lock file hold for both, and so do
    // its hashes; a tool of a platform that no hash was to be had for is installed without one.
    'install',
    '--no-save',
    // The compiler is a development package, which NODE_ENV=production would leave out.
    '--include=dev',
    '--no-audit',
    '--no-fund',
    // `npm run -s` hands its silence down, and a failure has to be heard.
    '--loglevel=error',
  ];
  if (!quiet) console.error('Installing packages…');
  rmSync(INSTALLED_MARK, { force: true });
  const npm = process.env.npm_execpath;
  if (npm?.endsWith('.js') || npm?.endsWith('.cjs'))
    await run('npm', process.execPath, [npm, ...args], quiet);
  else await run('npm', 'npm', args, quiet);
  writeFileSync(INSTALLED_MARK, hashOf(readText(LOCK_FILE)));
}

async function build(name, quiet) {
  const sources_hash = hashOfSources(name);
  const source = sourcesOf(name);
  const dist = join(ROOT, name, 'dist');
  const mark = join(dist, BUILT_MARK);
  rmSync(mark, { force: true });
  if (BUNDLED[name] !== undefined) {
    const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
    const args = [vite, 'build', join(ROOT, name), '--logLevel', 'error'];
    await run('The build of the console', process.execPath, args, quiet);
    writeFileSync(mark, sources_hash);
    return;
  }
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await run('The build', process.execPath, [compiler, '-p', join(ROOT, name, 'tsconfig.json')], quiet);
  if (BUNDLES[name] !== undefined) {
    const script = join(ROOT, BUNDLES[name].script);
    await run('The build of the fake', process.execPath, [script], quiet);
  }
  // The compiler leaves files of other kinds behind.
  for (const file of listSources(source).filter((path) => !path.endsWith('.ts'))) {
    const to = join(dist, relative(source, file));
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(file, to);
  }
  writeFileSync(mark, sources_hash);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs `work` while no other process prepares the same clone. */
async function alone(quiet, work) {
  mkdirSync(DIST, { recursive: true });
  const ours = `${process.pid} ${randomBytes(6).toString('hex')}`;
  const draft = `${BUSY_FILE}.${randomBytes(6).toString('hex')}`;
  let has_told = quiet;
  for (;;) {
    writeFileSync(draft, ours);
    try {
      linkSync(draft, BUSY_FILE);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    const busy = readText(BUSY_FILE);
    const pid = Number(busy.split(' ')[0]);
    const age_ms = Date.now() - (statSync(BUSY_FILE, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // Our own process id means a container that was started again.
    const is_dead = pid === process.pid || (pid > 0 && !isAlive(pid)) || age_ms > BUSY_MAX_MS;
    if (is_dead && readText(BUSY_FILE) === busy) {
      rmSync(BUSY_FILE, { force: true });
      continue;
    }
    if (!has_told) console.error('Another process is installing or building here; waiting for it…');
    has_told = true;
    await wait(200);
  }
  try {
    await work();
  } finally {
    if (readText(BUSY_FILE) === ours) rmSync(BUSY_FILE, { force: true });
  }
}

/**
 * Installs the packages and builds the service where that is needed. Everything it says goes to standard error;
 * with `quiet` it speaks only of failures. `with_dev` also asks for what only tests and tools need.
 * Throws `PrepareError`. A signal ends it, after the program at work has ended.
 */
export async function prepare({ quiet = false, with_dev = false } = {}) {
  checkNodeVersion();
  const isReady = () => {
    const is_built = unbuilt(with_dev).length === 0 && !areDocumentsStale() && !areOffersStale();
    return isInstalled(with_dev || !is_built) && is_built;
  };
  if (isReady()) return;
  await alone(quiet, async () => {
    // Looked at again: whoever we waited for has most likely done it.
    const is_stale = areDocumentsStale();
    const is_unbuilt = is_stale || areOffersStale() || unbuilt(with_dev).length > 0;
    if (!isInstalled(with_dev || is_unbuilt)) await install(quiet);
    if (is_unbuilt && !quiet) console.error('Building…');
    if (is_stale) await renderDocuments(quiet);
    // The client counts as unbuilt once its types changed.
    for (const name of unbuilt(with_dev)) await build(name, quiet);
    if (areOffersStale()) await makeOffers(quiet);
  }).catch((error) => {
    if (error instanceof PrepareError || error.code === undefined) throw error;
    throw new PrepareError(
      `Purser could not be prepared in ${ROOT}: ${error.message}. Run npm start once as a user who can write there.`,
    );
  });
}
