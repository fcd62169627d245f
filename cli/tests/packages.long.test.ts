import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';

takesMinutes(10);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = async (file: string, args: string[], cwd = ROOT, env = process.env) => {
  const { stdout, stderr } = await promisify(execFile)(file, args, { cwd, env, maxBuffer: 10_000_000 });
  return stdout + stderr;
};
const node = (args: string[], cwd?: string) => run(process.execPath, args, cwd);
/** The packed packages, and where they are in the repository. */
const FOLDERS = { contract: 'packages/contract', sdk: 'sdk', mcp: 'mcp', cli: 'cli' } as const;
const read = async (path: string) => JSON.parse(await readFile(join(ROOT, path), 'utf8'));

/** A folder in which the packed packages stand as if a registry had given them, with what they depend on beside them. */
let folder = '';
const files: Record<string, string[]> = {};
const tarballs: Record<string, string> = {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'purser-packages-'));
  const modules = join(folder, 'node_modules');
  for (const [name, place] of Object.entries(FOLDERS)) {
    const told = await run(
      'npm',
      ['pack', '--json', '--pack-destination', folder, '--loglevel=error'],
      join(ROOT, place),
    );
    const [packed] = JSON.parse(told);
    files[name] = packed.files.map((file: { path: string }) => file.path);
    const tarball = join(folder, packed.filename);
    tarballs[name] = tarball;
    const at = join(modules, '@purser', name);
    await mkdir(at, { recursive: true });
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', at]);
    const { dependencies = {} } = await read(`${place}/package.json`);
    for (const dependency of Object.keys(dependencies).filter((each) => !each.startsWith('@purser/'))) {
      await mkdir(join(modules, dependency, '..'), { recursive: true });
      await symlink(join(ROOT, 'node_modules', dependency), join(modules, dependency));
    }
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(['mcp', 'cli'])('@purser/%s has what it promises, and nothing else', async (name) => {
  const { version, type, engines, dependencies, publishConfig } = await read(`${name}/package.json`);
  expect([type, engines.node, publishConfig]).toEqual([
    'module',
    '>=20.19',
    { access: 'public', provenance: true },
  ]);
  const own = Object.entries(dependencies as Record<string, string>).filter(([each]) =>
    each.startsWith('@purser/'),
  );
  for (const [each, wanted] of own)
    expect(wanted).toBe(
      (await read(`${FOLDERS[each.replace('@purser/', '') as keyof typeof FOLDERS]}/package.json`)).version,
    );
  const source = await readFile(join(ROOT, name, 'src/version.ts'), 'utf8');
  expect(source).toContain(`'${version}'`);
  const known = /^(dist|src)\/|^(README\.md|LICENSE|CHANGELOG\.md|package\.json|server\.json)$/;
  expect(files[name]).toEqual(
    expect.arrayContaining(['README.md', 'LICENSE', 'dist/main.js', 'src/main.ts']),
  );
  expect(
    files[name]?.filter((file) => !known.test(file) || /tsbuildinfo|\.built|tests\//.test(file)),
  ).toEqual([]);
});

test('the packed programs start', async () => {
  const { version } = await read('cli/package.json');
  const bin = (name: string) => join(folder, 'node_modules', '@purser', name, 'dist', 'main.js');
  expect(await node([bin('cli'), '--version'])).toBe(`${version}\n`);
  expect(await node([bin('mcp'), '--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await node([bin('cli'), 'mcp', 'config', 'cursor', '--stdio', '--json'])).toContain(
    '/packages/purser-mcp-',
  );
  for (const name of ['cli', 'mcp'])
    expect(await readFile(bin(name), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test('every entry of the packed @purser/mcp can be imported', async () => {
  const program = `const all = await Promise.all(['@purser/mcp', '@purser/mcp/stdio', '@purser/mcp/money'].map((e) => import(e)));
    console.log(all.map((each) => Object.keys(each).length > 0).join());`;
  expect(await node(['--input-type=module', '-e', program], folder)).toBe('true,true,true\n');
});

test.each(['mcp', 'cli'])('publint and attw have nothing to say of @purser/%s', async (name) => {
  const tarball = tarballs[name] as string;
  const publint = join(ROOT, 'node_modules/publint/src/cli.js');
  expect(await node([publint, 'run', tarball, '--strict'])).toContain('All good!');
  if (name === 'cli') return; // It has a program and nothing to import.
  const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  await node([attw, tarball, '--profile', 'esm-only', '--no-emoji']);
});

test('the entry for the registry of MCP servers names the package as it is', async () => {
  const [entry, manifest] = [await read('mcp/server.json'), await read('mcp/package.json')];
  const [published] = entry.packages;
  expect([entry.name, entry.version, published.identifier, published.version]).toEqual([
    manifest.mcpName,
    manifest.version,
    manifest.name,
    manifest.version,
  ]);
  expect(entry.description.length).toBeLessThanOrEqual(100);
});
