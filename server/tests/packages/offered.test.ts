import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { expect, onTestFinished } from 'vitest';
import { OfferedPackages } from '../../src/service/packages/offered-packages.ts';
import { ROOT } from '../support/image.ts';
import { refusal } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';

const { test, s } = serviceTest();

interface Offered {
  name: string;
  version: string;
  url: string;
  integrity: string;
}

const offered = async (): Promise<Offered[]> =>
  (await s.call('GET', '/packages/', { key: null })).body.data as Offered[];

async function fetched(url: string): Promise<Buffer> {
  const reply = await fetch(url);
  expect(reply.status).toBe(200);
  return Buffer.from(await reply.arrayBuffer());
}

/** The files of a tarball by their paths. */
async function filesOf(tarball: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const parser = new Parser();
  parser.on('entry', (entry: ReadEntry) => {
    const parts: Buffer[] = [];
    entry.on('data', (part: Buffer) => parts.push(part));
    entry.on('end', () => files.set(entry.path, Buffer.concat(parts)));
  });
  await new Promise((resolve, reject) => {
    parser.on('end', resolve).on('error', reject);
    parser.end(tarball);
  });
  return files;
}

const NPM = ['contract', 'sdk', 'mcp', 'agents', 'adapters', 'gateway', 'cli'].map(
  (name) => `@purser/${name}`,
);

test('anyone sees the packages of this build, with the hash of the bytes that they are sent', async () => {
  const all = await offered();
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect((await s.call('GET', '/packages', { key: null })).body.data).toEqual(all);
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining([...NPM, 'purser']));
  expect(all.find(({ name }) => name === 'purser')?.version).toBe(version);
  for (const { url, integrity } of all) {
    expect(url.startsWith(`${s.url}/packages/`)).toBe(true);
    const hash = createHash('sha512')
      .update(await fetched(url))
      .digest('base64');
    expect(integrity).toBe(`sha512-${hash}`);
  }
});

test('a tarball has what runs, a README and a licence, and no test, secret or file of the build', async () => {
  for (const { name, version, url } of await offered()) {
    if (!url.endsWith('.tgz')) continue;
    const files = await filesOf(await fetched(url));
    const paths = [...files.keys()];
    expect(paths.every((path) => path.startsWith('package/'))).toBe(true);
    expect(paths).toEqual(
      expect.arrayContaining(['package/package.json', 'package/README.md', 'package/LICENSE']),
    );
    expect(
      paths.filter((path) =>
        /(^|\/)(tests?|e2e)\/|\.test\.|(^|\/)\.|\.(pem|key|log)$|secret-key$/.test(path),
      ),
    ).toEqual([]);
    const manifest = JSON.parse(String(files.get('package/package.json')));
    expect([manifest.name, manifest.version, manifest.license]).toEqual([name, version, 'Apache-2.0']);
    expect([manifest.devDependencies, manifest.scripts]).toEqual([undefined, undefined]);
    for (const program of Object.values(manifest.bin ?? {}) as string[])
      expect(String(files.get(`package/${program}`))).toMatch(/^#!\/usr\/bin\/env node\n/);
  }
});

test('what a package depends on among them is an address of the service that the client reached', async () => {
  const { port } = new URL(s.url);
  const manifestAt = async (host: string) => {
    const files = await filesOf(await fetched(`http://${host}:${port}/packages/purser-cli-0.1.0.tgz`));
    return JSON.parse(String(files.get('package/package.json')));
  };
  const at = await manifestAt('localhost');
  expect(at.dependencies).toMatchObject({
    '@purser/contract': `http://localhost:${port}/packages/purser-contract-0.1.0.tgz`,
    '@purser/mcp': `http://localhost:${port}/packages/purser-mcp-0.1.0.tgz`,
    '@purser/sdk': `http://localhost:${port}/packages/purser-sdk-0.1.0.tgz`,
  });
  expect(at.dependencies.commander).toMatch(/^\^/);
  expect((await manifestAt('127.0.0.1')).dependencies['@purser/sdk']).toBe(
    `http://127.0.0.1:${port}/packages/purser-sdk-0.1.0.tgz`,
  );
});

test('the server is a package with its own packages inside, so that nothing of it has to be found elsewhere', async () => {
  const [server] = (await offered()).filter(({ name }) => name === 'purser');
  const files = await filesOf(await fetched(String(server?.url)));
  const manifest = JSON.parse(String(files.get('package/package.json')));
  expect(manifest.bin).toEqual({ purser: 'bin/purser.mjs' });
  for (const name of Object.keys(manifest.dependencies).filter((each) => each.startsWith('@purser/'))) {
    expect(manifest.bundleDependencies).toContain(name);
    expect(files.has(`package/node_modules/${name}/package.json`)).toBe(true);
  }
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(version, name).toMatch(/^\d+\.\d+\.\d+/);
  for (const path of [
    'server/dist/main.js',
    'server/migrations/001.do.foundation.sql',
    'console/dist/index.html',
    'dist/packages/packages.json',
    'node_modules/@purser/purpose-data/curated/cities.txt',
    'node_modules/@purser/gateway/dist/main.js',
    'node_modules/@purser/gateway/prices.json',
  ])
    expect([...files.keys()]).toContain(`package/${path}`);
});

test('only what was packed is sent, and no path leads out of the folder', async () => {
  for (const file of [
    'packages.json',
    'purser-sdk-0.1.0.tar',
    'purser-sdk-9.9.9.tgz',
    '..%2f..%2fpackage.json',
  ])
    expect(refusal(await s.call('GET', `/packages/${file}`, { key: null }))).toEqual([404, 'not_found']);
});

test('the same build gives the same bytes', async () => {
  const directory = join(ROOT, 'dist', 'packages');
  const [one, other] = [new OfferedPackages(directory), new OfferedPackages(directory)];
  expect(await one.list('http://a')).toEqual(await other.list('http://a'));
  const [a, b] = [await one.list('http://a'), await one.list('http://b')];
  const same = a.filter(({ integrity }, i) => integrity === b[i]?.integrity).map(({ name }) => name);
  expect(same).toEqual(expect.arrayContaining(['@purser/contract', '@purser/sdk', 'purser']));
  expect(same).not.toContain('@purser/cli');
});

test('a wheel is offered as it was built', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'purser-offered-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = 'purser-0.1.0-py3-none-any.whl';
  writeFileSync(join(directory, file), 'a wheel');
  writeFileSync(
    join(directory, 'packages.json'),
    JSON.stringify([{ file, name: 'purser', version: '0.1.0', integrity: 'sha512-x' }]),
  );
  const packages = new OfferedPackages(directory);
  const [only] = await packages.list('http://a');
  expect(only).toMatchObject({ name: 'purser', version: '0.1.0', file });
  expect(String(await packages.file(file, 'http://a'))).toBe('a wheel');
});

test('without packed packages the list is empty', async () => {
  expect(await new OfferedPackages('/nowhere').list('http://a')).toEqual([]);
});

test('no tarball is larger than its users need', async () => {
  const sdk = (await offered()).find(({ name }) => name === '@purser/sdk');
  expect(gunzipSync(await fetched(String(sdk?.url))).length).toBeLessThan(2_000_000);
  const server = (await offered()).find(({ url }) => url.includes('/purser-0'));
  expect((await fetched(String(server?.url))).length).toBeLessThan(6_000_000);
});
