import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUNTIMES, run, runSmoke } from '../../sdk/tests/runtimes.ts';
import { takesMinutes } from '../../server/tests/support/until.ts';

takesMinutes(10);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const node = (args: string[], cwd = ROOT) => run(process.execPath, args, { cwd });

/** A folder with nothing in it but the packed packages and the client, installed. */
let folder: string;
const files: Record<string, string[]> = {};
const tarballs: Record<string, string> = {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'purser-packages-'));
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  for (const name of ['sdk', 'agents', 'adapters']) {
    const args = ['pack', '--json', '--pack-destination', folder, '--loglevel=error'];
    const [{ filename, files: within }] = JSON.parse(await run('npm', args, { cwd: join(ROOT, name) }));
    tarballs[name] = join(folder, filename);
    files[name] = within.map((file: { path: string }) => file.path);
  }
  const packed = Object.values(tarballs);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', ...packed], {
    cwd: folder,
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const PACKAGES: [string, string[]][] = [
  ['agents', ['', '/claude', '/ai-sdk', '/langchain', '/openai']],
  ['adapters', ['/cards', '/stripe-issuing', '/lithic', '/x402']],
];

describe.each(PACKAGES)('@purser/%s', (name, entries) => {
  test('depends on the client alone, and imports nothing else', async () => {
    const manifest = JSON.parse(await readFile(join(ROOT, name, 'package.json'), 'utf8'));
    expect(Object.keys(manifest.dependencies)).toEqual(['@purser/sdk']);
    const { peerDependencies, peerDependenciesMeta } = manifest;
    expect(peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(peerDependencies).map((peer) => [peer, { optional: true }])),
    );
    const built = (files[name] ?? []).filter((file) => file.endsWith('.js'));
    expect(built.length).toBeGreaterThan(4);
    const texts = await Promise.all(built.map((file) => readFile(join(ROOT, name, file), 'utf8')));
    const imported = texts.flatMap((text) => [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)]);
    expect(
      imported.map(([, from]) => from).filter((from) => !/^\.\/|^@purser\/sdk$/.test(from ?? '')),
    ).toEqual([]);
  });

  test('has what it promises, and nothing else', () => {
    const within = files[name] ?? [];
    for (const file of ['README.md', 'LICENSE', 'package.json']) expect(within).toContain(file);
    expect(
      within.filter(
        (file) => !/^(dist|src)\/[^.]|^(README\.md|LICENSE|CHANGELOG\.md|package\.json)$/.test(file),
      ),
    ).toEqual([]);
  });

  test('publint and attw have nothing to say', async () => {
    const publint = join(ROOT, 'node_modules/publint/src/cli.js');
    const tarball = tarballs[name] as string;
    expect(await node([publint, 'run', tarball, '--strict'])).toContain('All good!');
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    await node([attw, tarball, '--profile', 'esm-only', '--no-emoji']);
  });

  test('the packed package can be imported and required, every entry of it', async () => {
    const names = JSON.stringify(entries.map((entry) => `@purser/${name}${entry}`));
    const program = `
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      let functions = 0;
      for (const entry of ${names}) {
        const imported = await import(entry);
        const required = require(entry);
        for (const name of Object.keys(imported)) {
          if (imported[name] !== required[name]) throw new Error(entry + ' ' + name);
          functions += typeof imported[name] === 'function' ? 1 : 0;
        }
      }
      console.log(functions >= ${entries.length} ? 'all there' : functions);`;
    await writeFile(join(folder, `${name}.mjs`), program);
    expect(await node([`${name}.mjs`], folder)).toBe('all there\n');
  });
});

test.each(RUNTIMES)(
  'under %s the packed guards and rails let through what was decided, once',
  async (runtime) => {
    const told = await runSmoke(runtime, folder, new URL('./smoke.mjs', import.meta.url), {});
    expect(JSON.parse(told.slice(0, told.indexOf(' on ')))).toEqual({
      guarded: ['bought a', 'ALREADY_PAID', 'DENIED'],
      claude: ['left', 'deny'],
      ai_sdk: ['approved', 'denied'],
      langchain: ['bought g', 'DENIED'],
      openai: ['allow', 'rejectContent'],
      stripe_issuing: { approved: [true, true, false, false], forged: 400 },
      lithic: { approved: ['APPROVED', 'APPROVED', 'UNAUTHORIZED_MERCHANT'], forged: 401 },
      x402: ['signed', 'refused', 0],
      reported: ['SPEND_EXECUTED 100', 'SPEND_EXECUTED 100', 'SPEND_EXECUTED 900', 'SPEND_EXECUTED 1'],
    });
  },
);
