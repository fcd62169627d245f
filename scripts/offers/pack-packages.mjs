// Packs what the service offers at `/packages/` into `dist/packages`: npm packages and the Python wheels that were built. A
// package that depends on others of these is left without its package.json, which the service adds with their addresses. The
// same sources give the same bytes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar/header';
import { ROOT } from '../prepare.mjs';
// The server's package has the guides, so they come first.
import './build-guides.mjs';

const TO = join(ROOT, 'dist', 'packages');
const WHEELS = join(ROOT, 'python', 'dist');
/** The packages of the registry, and the server with all that it needs beside them. */
const PUBLISHED = ['packages/contract', 'sdk', 'mcp', 'agents', 'adapters', 'gateway', 'cli'];
/** The packages of the service that come with the server's, since not all of them are published. */
const BUNDLED = [
  'packages/contract',
  'packages/purpose-data',
  'packages/rules',
  'packages/rail-events',
  'packages/embedded-postgres',
  'sdk',
  'mcp',
  'adapters',
  'gateway',
];
/** npm gives every file this time. */
const MTIME = new Date('1985-10-26T08:15:00.000Z');
const BLOCK = 512;

const read = (path) => readFileSync(join(ROOT, path));
const manifestOf = (path) => JSON.parse(read(`${path}/package.json`).toString('utf8'));

/** All files below a folder but tests and marks of builds, with paths from it, in a fixed order. */
function filesBelow(folder) {
  const all = readdirSync(folder, { withFileTypes: true, recursive: true });
  return all
    .filter((entry) => entry.isFile() && !/^\.|\.test\./.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** The files that a package publishes, by their paths in it: what its `files` name, its README and its licence. */
function publishedFiles(path) {
  const { files = ['dist'] } = manifestOf(path);
  const named = [...files.filter((each) => !each.startsWith('!')), 'README.md', 'LICENSE', 'NOTICE'];
  const found = new Map();
  for (const name of named) {
    const at = join(ROOT, path, name.replace(/\.\*$/, '.js'));
    if (!existsSync(at)) continue;
    if (!statSync(at).isDirectory()) found.set(relative(join(ROOT, path), at), at);
    else for (const file of filesBelow(at)) found.set(`${name}/${file}`, join(at, file));
  }
  return found;
}

/** One file of a tarball. */
function entryOf(path, content, is_program = false) {
  const header = Buffer.alloc(BLOCK);
  const mode = is_program ? 0o755 : 0o644;
  const needs_more = new Header({
    path: `package/${path}`,
    mode,
    size: content.length,
    mtime: MTIME,
    type: 'File',
  }).encode(header);
  if (needs_more) throw new Error(`${path} is too long for a tarball.`);
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

/** The version of a package that is installed below one of these folders, and was tested with. */
function installedVersion(name, folders) {
  const places = [...folders, '.'].map((folder) => `${folder}/node_modules/${name}`);
  const place = places.find((each) => existsSync(join(ROOT, each, 'package.json')));
  if (place === undefined) throw new Error(`${name} is not installed.`);
  return manifestOf(place).version;
}

/** The manifest of a package for its users. */
function shownManifest({ devDependencies: _tests, scripts: _build, ...manifest }) {
  return manifest;
}

/** The names of the packages that a package depends on and that are offered beside it. */
const linked = ({ dependencies = {}, bundleDependencies = [] }) =>
  Object.keys(dependencies).filter(
    (name) => name.startsWith('@purser/') && !bundleDependencies.includes(name),
  );

/** Writes a file that is the same at every address, and returns its line of the list. */
function offer(file, name, version, content) {
  writeFileSync(join(TO, file), content);
  return {
    file,
    name,
    version,
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  };
}

/** Writes one package, and returns its line of the list. */
function pack(manifest, files) {
  const { name, version, bin = {} } = manifest;
  const file = `${name.replace('@', '').replace('/', '-')}-${version}`;
  const programs = new Set(Object.values(bin));
  const parts = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, at]) => entryOf(path, Buffer.isBuffer(at) ? at : readFileSync(at), programs.has(path)));
  if (linked(manifest).length > 0) {
    writeFileSync(join(TO, `${file}.tar`), Buffer.concat(parts));
    return { file: `${file}.tgz`, tar: `${file}.tar`, manifest };
  }
  const first = entryOf('package.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  // A tarball ends with two empty blocks.
  const tarball = Buffer.concat([first, ...parts, Buffer.alloc(2 * BLOCK)]);
  return offer(`${file}.tgz`, name, version, gzipSync(tarball, { level: 9 }));
}

const isRun = (path) => !/\.(map|d\.ts|ts)$/.test(path);

/** The server as a package: built, with its own packages inside and the others to be installed. */
function packServer() {
  const root = manifestOf('.');
  const files = new Map([
    ...filesBelow(join(ROOT, 'server/package')).map((path) => [path, join(ROOT, 'server/package', path)]),
    ['LICENSE', join(ROOT, 'LICENSE')],
  ]);
  for (const folder of ['server/dist', 'server/migrations', 'console/dist', 'dist/guides', 'dist/packages'])
    for (const path of filesBelow(join(ROOT, folder)).filter(isRun))
      files.set(`${folder}/${path}`, join(ROOT, folder, path));
  const dependencies = {};
  for (const path of ['server', ...BUNDLED]) {
    const manifest = manifestOf(path);
    for (const name of Object.keys(manifest.dependencies ?? {}))
      if (!name.startsWith('@purser/')) dependencies[name] = installedVersion(name, [path]);
    if (path === 'server') continue;
    dependencies[manifest.name] = manifest.version;
    const folder = `node_modules/${manifest.name}`;
    files.set(`${folder}/package.json`, Buffer.from(`${JSON.stringify(shownManifest(manifest), null, 2)}\n`));
    for (const [file, at] of publishedFiles(path))
      if (isRun(file) && !file.startsWith('dist/testing/')) files.set(`${folder}/${file}`, at);
  }
  // Overrides hold for the root of an installation alone, where this package is none.
  const installed = Object.keys(dependencies).map((name) => `node_modules/${name}`);
  for (const name of Object.keys(root.overrides ?? {}))
    dependencies[name] = installedVersion(name, installed);
  const { name, version, description, license, type, engines, repository } = root;
  return pack(
    {
      name,
      version,
      description,
      license,
      type,
      engines,
      repository,
      keywords: ['agents', 'payments', 'authorization', 'budget', 'spend', 'guardrails'],
      bin: { purser: 'bin/purser.mjs' },
      dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
      bundleDependencies: BUNDLED.map((path) => manifestOf(path).name),
    },
    files,
  );
}

/** The Python wheels that were built, by the names and versions in the names of their files. */
function copyWheels() {
  if (!existsSync(WHEELS)) return [];
  return readdirSync(WHEELS)
    .sort()
    .flatMap((file) => {
      const [, name, version] = /^([A-Za-z0-9_.]+)-([^-]+)-.*\.whl$/.exec(file) ?? [];
      if (name === undefined) return [];
      return [offer(file, name.replaceAll('_', '-'), version, readFileSync(join(WHEELS, file)))];
    });
}

rmSync(TO, { recursive: true, force: true });
mkdirSync(TO, { recursive: true });
const writeList = (list) => writeFileSync(join(TO, 'packages.json'), JSON.stringify(list));
const offered = [
  ...PUBLISHED.map((path) => pack(shownManifest(manifestOf(path)), publishedFiles(path))),
  ...copyWheels(),
];
// The server's package holds the list as it is now: a service that was started from it offers all but itself.
writeList(offered);
writeList([...offered, packServer()]);
