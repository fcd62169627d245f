import { type ChildProcess, spawn } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const scripts = new URL('../../../scripts/', import.meta.url).pathname;
let clone = '';
const children: ChildProcess[] = [];

/** Stands for npm: notes that it ran, takes a moment, and puts one package there. */
const NPM = `
  import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
  appendFileSync('calls', 'npm ' + process.argv[2] + '\\n');
  process.stdout.write('npm says hello\\n');
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.NPM_TAKES_MS ?? 100)));
  if (process.env.NPM_FAILS) { console.error('no network today'); process.exit(7); }
  mkdirSync('node_modules/thing', { recursive: true });
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { '': _, ...packages } = lock.packages;
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
  mkdirSync('node_modules/typescript/bin', { recursive: true });
  writeFileSync('node_modules/typescript/bin/tsc', \`
    const { appendFileSync, copyFileSync } = require('node:fs');
    appendFileSync('calls', 'tsc\\\\n');
    copyFileSync('server/src/main.ts', 'server/dist/main.js');
  \`);
`;

/**
 * Stands for the server: shows what it was given, and with `serve` stays until a signal. It listens for the signal
 * before it shows anything, since the tests send one as soon as they have seen that.
 */
const MAIN = `
  if (process.argv[2] === 'serve') {
    const timer = setInterval(() => {}, 1000);
    process.on('SIGTERM', () => { console.log('drained'); clearInterval(timer); });
  }
  console.log(JSON.stringify(process.argv.slice(2)));
`;

beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), 'purser-clone-'));
  await cp(scripts, join(clone, 'scripts'), { recursive: true });
  await mkdir(join(clone, 'server/src'), { recursive: true });
  await cp(join(scripts, '../server/package'), join(clone, 'server/package'), { recursive: true });
  await writeFile(join(clone, 'npm.js'), NPM);
  await writeFile(join(clone, 'package.json'), '{"type":"module","engines":{"node":">=20.19"}}');
  await writeFile(join(clone, 'server/package.json'), '{"type":"module"}');
  await writeFile(join(clone, 'tsconfig.json'), '{}');
  await writeFile(join(clone, 'server/tsconfig.json'), '{}');
  await writeFile(join(clone, 'server/src/main.ts'), MAIN);
  await writeFile(join(clone, 'server/src/words.txt'), 'words');
  await writeLock('1.0.0');
  await writeFile(join(clone, 'calls'), '');
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(clone, { recursive: true, force: true });
});

async function writeLock(version: string): Promise<void> {
  const packages = { '': {}, 'node_modules/thing': { version, integrity: `sha512-${version}` } };
  await writeFile(join(clone, 'package-lock.json'), JSON.stringify({ packages }));
}

interface Run {
  child: ChildProcess;
  stdout: () => string;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function run(args: string[], env: Record<string, string> = {}): Run {
  const { npm_lifecycle_event: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(clone, 'scripts/run.mjs'), ...args], {
    cwd: clone,
    env: { ...inherited, npm_execpath: join(clone, 'npm.js'), ...env },
  });
  children.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, stdout: () => stdout, ended };
}

const calls = async () => (await readFile(join(clone, 'calls'), 'utf8')).split('\n').filter(Boolean);

describe('a fresh clone', () => {
  test('is installed and built once; what the command prints is all there is on standard output', async () => {
    const first = await run(['workspace', 'list', '--json']).ended;
    expect(first).toEqual({ code: 0, stdout: '["workspace","list","--json"]\n', stderr: '' });
    expect(await calls()).toEqual(['npm install', 'tsc']);
    await run(['workspace', 'list']).ended;
    expect(await calls()).toEqual(['npm install', 'tsc']);
    expect(await readFile(join(clone, 'server/dist/words.txt'), 'utf8')).toBe('words');
  });

  test('is prepared once by two that start at the same time', async () => {
    const results = await Promise.all([run(['a']).ended, run(['b']).ended]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(await calls()).toEqual(['npm install', 'tsc']);
  });

  test('that cannot be installed ends with what npm said and another exit code than 0', async () => {
    const { code, stdout, stderr } = await run(['workspace', 'list'], { NPM_FAILS: 'yes' }).ended;
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('no network today');
    expect(stderr).toContain('npm failed (exit code 7)');
    expect((await run(['again']).ended).code).toBe(0);
  });

  test('whose installation is interrupted ends when npm has ended, and the next start does it all', async () => {
    const { child, ended } = run(['serve'], { NPM_TAKES_MS: '30000' });
    await until(async () => (await calls()).length === 1);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    expect((await run(['again']).ended).code).toBe(0);
    expect(await calls()).toEqual(['npm install', 'npm install', 'tsc']);
  });
});

describe('a clone that was used before', () => {
  beforeEach(async () => {
    await run(['first']).ended;
    await writeFile(join(clone, 'calls'), '');
  });

  test('is built again when a source changed, and not for a test', async () => {
    await writeFile(join(clone, 'server/src/main.test.ts'), '');
    await run(['x']).ended;
    expect(await calls()).toEqual([]);
    await appendFile(join(clone, 'server/src/main.ts'), '// changed\n');
    await run(['x']).ended;
    expect(await calls()).toEqual(['tsc']);
  });

  test('is installed again when the lock file asks for another version', async () => {
    await writeLock('1.0.1');
    await run(['x']).ended;
    expect(await calls()).toEqual(['npm install']);
  });

  test('is not installed again when its owner ran npm install', async () => {
    await rm(join(clone, 'node_modules/.purser-installed'));
    await run(['x']).ended;
    expect(await calls()).toEqual([]);
  });

  test('is installed again when a package is gone', async () => {
    await rm(join(clone, 'node_modules/.purser-installed'));
    await rm(join(clone, 'node_modules/thing'), { recursive: true });
    await run(['x']).ended;
    expect(await calls()).toEqual(['npm install']);
  });

  test('is not blocked by a preparation that was killed', async () => {
    await appendFile(join(clone, 'server/src/main.ts'), '// changed\n');
    await writeFile(join(clone, 'server/dist/.preparing'), `${2 ** 30} abc`);
    expect((await run(['x']).ended).code).toBe(0);
  });

  test('hands a signal to the server, whose exit code is its own', async () => {
    const { child, stdout, ended } = run(['serve']);
    await until(() => stdout().includes('serve'));
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stdout: '["serve"]\ndrained\n' });
  });

  test('drains the server when the shell between npm and it is gone', async () => {
    const script = `"${process.execPath}" scripts/run.mjs serve; exit 1`;
    const shell = spawn('sh', ['-c', script], {
      cwd: clone,
      env: { ...process.env, npm_lifecycle_event: 'start' },
    });
    children.push(shell);
    let output = '';
    shell.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await until(() => output.includes('serve'));
    shell.kill('SIGTERM');
    await until(() => output.includes('drained'));
  });
});

test('an older Node is told which one is needed', async () => {
  await writeFile(join(clone, 'package.json'), '{"type":"module","engines":{"node":">=99.1"}}');
  const { code, stderr } = await run(['serve']).ended;
  expect(code).toBe(1);
  expect(stderr).toBe(
    `Purser needs Node.js 99.1 or later, and this is ${process.version}. Install a later one from https://nodejs.org and start again.\n`,
  );
  expect(await calls()).toEqual([]);
});
