import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takesMinutes } from '../../server/tests/support/until.ts';
import { VERSION } from '../src/index.ts';
import { RUNTIMES, run, runSmoke } from './runtimes.ts';
import { AUTHORITY, makeKey, type RunningService, startTestService } from './service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SDK = join(ROOT, 'sdk');
const MAX_GZIPPED_BYTES = 15_000;
const MAX_FAKE_BYTES = 195_000;
// Compilers and npm take their time on a busy machine.
takesMinutes(10);
const require = createRequire(import.meta.url);
const manifest = JSON.parse(await readFile(join(SDK, 'package.json'), 'utf8'));

const node = (args: string[], options = {}) => run(process.execPath, args, options);
const npm = (args: string[], cwd: string) => run('npm', [...args, '--loglevel=error'], { cwd });

/** The compiler that types are checked with here, and the TypeScript 5 that comes with attw. */
const compilers = {
  'TypeScript 7': require.resolve('typescript/package.json'),
  'TypeScript 5': createRequire(require.resolve('@arethetypeswrong/core')).resolve('typescript/package.json'),
};

/** A folder with nothing in it but the packed package, installed. */
let folder: string;
let tarball: string;
let files: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'purser-sdk-'));
  const [packed] = JSON.parse(await npm(['pack', '--json', '--pack-destination', folder], SDK));
  tarball = join(folder, packed.filename);
  files = packed.files.map((file: { path: string }) => file.path);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await npm(['install', '--offline', '--no-audit', '--no-fund', tarball], folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the package has what it promises, and nothing else', () => {
  expect(manifest.dependencies).toBeUndefined();
  expect([manifest.type, manifest.sideEffects, manifest.engines.node]).toEqual(['module', false, '>=20.19']);
  expect(manifest.version).toBe(VERSION);
  for (const file of [
    'README.md',
    'LICENSE',
    'package.json',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/generated.d.ts',
    'src/index.ts',
    'src/generated.ts',
  ]) {
    expect(files).toContain(file);
  }
  expect(
    files.filter((file) => !/^(dist|src)\/|^(README\.md|LICENSE|CHANGELOG\.md|package\.json)$/.test(file)),
  ).toEqual([]);
  expect(files.filter((file) => /test\.|tsbuildinfo|\.built/.test(file))).toEqual([]);
});

test('nothing of Node is imported, so that it runs wherever there is fetch', async () => {
  const sources = await Promise.all(
    files.filter((file) => file.endsWith('.js')).map((file) => readFile(join(SDK, file), 'utf8')),
  );
  const imported = sources.flatMap((text) => [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)]);
  expect(imported.length).toBeGreaterThan(10);
  expect(
    imported.map(([, name]) => name).filter((name) => !name?.startsWith('./') && !name?.startsWith('../')),
  ).toEqual([]);
});

test('the fake has the rules that it decides by, and no declaration names a package that is not published', async () => {
  const read = (file: string) => readFile(join(SDK, file), 'utf8');
  expect(files.filter((file) => /^dist\/testing\/.*(?<!\.map)$/.test(file)).sort()).toEqual([
    'dist/testing/THIRD-PARTY-LICENSES.txt',
    'dist/testing/index.d.ts',
    'dist/testing/index.js',
    'dist/testing/rule.d.ts',
  ]);
  for (const file of files.filter((each) => each.endsWith('.d.ts')))
    expect(await read(file), file).not.toMatch(/@purser\/(rules|contract)/);
  const fake = await read('dist/testing/index.js');
  expect(fake).toContain('MONTHLY_BUDGET_EXCEEDED');
  expect(fake).not.toMatch(/\bBuffer\b|import\.meta/);
  expect(fake.length).toBeLessThan(MAX_FAKE_BYTES);
  const licences = await read('dist/testing/THIRD-PARTY-LICENSES.txt');
  for (const name of ['canonicalize', 'temporal-polyfill', 'typebox']) expect(licences).toContain(name);
});

test(`the main entry is under ${MAX_GZIPPED_BYTES} bytes, minified and gzipped`, async () => {
  const bundle = await rolldown({ input: join(SDK, 'dist/index.js') });
  const { output } = await bundle.generate({ minify: true });
  const bytes = gzipSync(output[0].code, { level: 9 }).length;
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(MAX_GZIPPED_BYTES);
  if (process.env.SHOW_SIZE !== undefined)
    console.log(`${output[0].code.length} bytes minified, ${bytes} gzipped`);
});

test('publint and attw have nothing to say', async () => {
  const publint = join(ROOT, 'node_modules/publint/src/cli.js');
  expect(await node([publint, 'run', tarball, '--strict'])).toContain('All good!');
  const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  await node([attw, tarball, '--profile', 'esm-only', '--no-emoji']);
});

test('the packed package can be imported and required, every entry of it', async () => {
  const program = `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    for (const entry of ['@purser/sdk', '@purser/sdk/webhooks', '@purser/sdk/testing', '@purser/sdk/types']) {
      const imported = await import(entry);
      const required = require(entry);
      for (const name of Object.keys(imported)) if (imported[name] !== required[name]) throw new Error(entry + ' ' + name);
    }
    const { Purser, webhooks, VERSION } = require('@purser/sdk');
    const { fakePurser } = require('@purser/sdk/testing');
    const purser = new Purser({ apiKey: 'sk_test', fetch: fakePurser().fetch });
    const action = { type: 'purchase', merchant: 'm', amount_minor: 1, currency: 'EUR' };
    const { status } = await purser.spend({ idempotencyKey: 'a', action }, async () => ({}));
    console.log(status, typeof webhooks.unwrap, VERSION);`;
  await writeFile(join(folder, 'all.mjs'), program);
  expect(await node(['all.mjs'], { cwd: folder })).toContain(`paid function ${VERSION}`);
});

test.each(Object.entries(compilers))(
  'the example is right for %s, and a mistake in it is told',
  async (name, at) => {
    const { version } = JSON.parse(await readFile(at, 'utf8'));
    expect(`TypeScript ${version}`.startsWith(`${name}.`)).toBe(true);
    await copyFile(join(SDK, 'tests/example.ts'), join(folder, 'example.ts'));
    const wrong = (await readFile(join(SDK, 'tests/example.ts'), 'utf8')).replace(
      'amount_minor: 5440',
      "amount_minor: '54.40'",
    );
    await writeFile(join(folder, 'wrong.ts'), wrong);
    await mkdir(join(folder, 'types'), { recursive: true });
    for (const types of ['@types/node', 'undici-types']) {
      await cp(join(ROOT, 'node_modules', types), join(folder, 'node_modules', types), { recursive: true });
    }
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    // Both at once, since reading what they import takes most of the time.
    const files = ['example.ts', 'wrong.ts'];
    const told = await node([join(at, '../bin/tsc'), ...options, '--pretty', 'false', ...files], {
      cwd: folder,
    }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(told).toContain("'string' is not assignable to type 'number'");
    const errors = told.split('\n').filter((line) => line.includes('error TS'));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.filter((line) => !line.startsWith('wrong.ts('))).toEqual([]);
  },
);

describe('against a started service', () => {
  let s: RunningService;
  beforeAll(async () => {
    s = await startTestService();
  });
  afterAll(() => s.stop());

  /** An agent in ENFORCE: the keys that ask and pay for it. */
  async function keysOf(slug: string) {
    const agent = await s.call('POST', '/v1/agents', {
      body: { slug, mode: 'ENFORCE', authority: AUTHORITY },
    });
    const [asks, pays] = [
      await makeKey(s, { agent_id: agent.body.id }),
      await makeKey(s, { scopes: ['consume'] }),
    ];
    return { agent_key: asks.key, consume_key: pays.key };
  }

  test('the ten lines that the README begins with pay', async () => {
    const readme = await readFile(join(folder, 'node_modules/@purser/sdk/README.md'), 'utf8');
    const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    expect(program.trim().split('\n')).toHaveLength(10);
    await writeFile(join(folder, 'ten-lines.mjs'), program);
    const env = { ...process.env, PURSER_BASE_URL: s.url, PURSER_KEY: s.admin_key };
    const told = await node(['ten-lines.mjs'], { cwd: folder, env });
    expect(told).toContain("status: 'paid'");
    const { body } = await s.call('GET', '/v1/decisions?agent=first-agent');
    expect([body.data.length, body.data[0].outcome_state, body.data[0].verified]).toEqual([
      1,
      'EXECUTED',
      true,
    ]);
  });

  test('the example pays', async () => {
    const { agent_key, consume_key } = await keysOf('example');
    await writeFile(
      join(folder, 'run.mjs'),
      `const real = globalThis.fetch;
      globalThis.fetch = (url, init) => real(String(url).replace('https://purser.internal', process.env.SERVICE), init);
      globalThis.order = { id: 'order-1' };
      globalThis.stripe = { paymentIntents: { create: async (body, options) => ({ status: 'succeeded', id: options.idempotencyKey }) } };
      await import('./example.js');`,
    );
    const at = compilers['TypeScript 7'];
    await copyFile(join(SDK, 'tests/example.ts'), join(folder, 'example.ts'));
    const options = ['--noCheck', '--target', 'es2022', '--module', 'nodenext'];
    await node([join(at, '../bin/tsc'), ...options, 'example.ts'], { cwd: folder });
    const env = {
      ...process.env,
      PURSER_AGENT_KEY: agent_key,
      PURSER_CONSUME_KEY: consume_key,
      SERVICE: s.url,
    };
    expect(await node(['run.mjs'], { cwd: folder, env })).toMatch(/^paid dec_\w+\n$/);
    expect(await node(['run.mjs'], { cwd: folder, env })).toMatch(/^already_paid dec_\w+\n$/);
    const { body } = await s.call('GET', '/v1/decisions?agent=example');
    expect([body.data.length, body.data[0].outcome_state, body.data[0].verified]).toEqual([
      1,
      'EXECUTED',
      true,
    ]);
  });

  test.each(RUNTIMES)('under %s the packed package pays once and verifies deliveries', async (runtime) => {
    const name = `smoke-${RUNTIMES.indexOf(runtime)}`;
    const settings = { url: s.url, name, ...(await keysOf(name)) };
    const told = await runSmoke(runtime, folder, new URL('./smoke.mjs', import.meta.url), settings);
    expect(told).toContain(
      `evt_1 WebhookSignatureError 401 paid PAYMENT_RAIL already_paid EXECUTED by ${VERSION} on `,
    );
  });
});
