import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type DataDirectory,
  DataDirectoryInUse,
  loadSecretKey,
  openDataDirectory,
} from './data-directory.ts';

let parent_dir = '';
let dir = '';
const open: DataDirectory[] = [];

beforeEach(async () => {
  parent_dir = await mkdtemp(join(tmpdir(), 'purser-test-'));
  dir = join(parent_dir, 'data');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of open.splice(0)) each.release();
  await rm(parent_dir, { recursive: true, force: true });
});

async function lock(): Promise<DataDirectory> {
  const opened = await openDataDirectory(dir);
  open.push(opened);
  return opened;
}

describe('opening', () => {
  test('a missing directory is made for us alone, with nothing left in it by the checks', async () => {
    await lock();
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dir)).toEqual(['purser.lock']);
  });

  test('a place that cannot be written is refused in one line that names it and DATA_DIR', async () => {
    await writeFile(join(parent_dir, 'file'), '');
    for (const path of [join(parent_dir, 'file'), join(parent_dir, 'file', 'below'), '/proc/purser']) {
      const error = await openDataDirectory(path).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: 'DataDirectoryError' });
      expect(String(error)).toContain(path);
      expect(String(error)).toContain('DATA_DIR');
      expect(String(error)).not.toContain('\n');
    }
  });
});

describe('the lock', () => {
  test('a second service is refused with the process and the directory, and the first keeps its lock', async () => {
    await lock();
    const before = await readFile(join(dir, 'purser.lock'), 'utf8');
    await expect(lock()).rejects.toThrow(
      `${dir} is in use by another Purser service, process ${process.pid} on ${hostname()}. Stop`,
    );
    await expect(lock()).rejects.toThrow(DataDirectoryInUse);
    expect(await readFile(join(dir, 'purser.lock'), 'utf8')).toBe(before);
    expect(await readdir(dir)).toEqual(['purser.lock']);
  });

  test('releasing it lets the next service in, and twice does no harm to that one', async () => {
    const first = await lock();
    first.release();
    await lock();
    first.release();
    await expect(lock()).rejects.toThrow(DataDirectoryInUse);
  });

  test('whatever an earlier service or another program left in the file says nothing of who holds it', async () => {
    await mkdir(dir);
    for (const left of [
      `process ${process.pid} on ${hostname()}\n`,
      '{"pid":1,"token":"a"}\n',
      'x'.repeat(5_000),
    ]) {
      await writeFile(join(dir, 'purser.lock'), left);
      (await lock()).release();
      expect(await readFile(join(dir, 'purser.lock'), 'utf8')).toBe(
        `process ${process.pid} on ${hostname()}\n`,
      );
    }
  });

  test('of many that come at once exactly one gets it', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lock()));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect(await readdir(dir)).toEqual(['purser.lock']);
  });

  test('a machine that cannot lock is refused in one line, and nothing runs unlocked', async () => {
    vi.stubEnv('PATH', parent_dir);
    await expect(lock()).rejects.toThrow(/^The program flock [^\n]+cannot be run[^\n]+DATABASE_URL\.$/);
    await writeFile(join(parent_dir, 'flock'), '#!/bin/sh\necho No locks available >&2; exit 71\n', {
      mode: 0o755,
    });
    await expect(lock()).rejects.toThrow(
      /^[^\n]+cannot be locked \(No locks available\)[^\n]+DATA_DIR[^\n]+$/,
    );
  });
});

describe('the secret key', () => {
  beforeEach(() => mkdir(dir, { mode: 0o700 }));

  test('is made once, of 32 bytes, readable by us alone, and is the same ever after', async () => {
    const key = await loadSecretKey(dir);
    expect(key.length).toBe(32);
    expect((await stat(join(dir, 'secret-key'))).mode & 0o777).toBe(0o600);
    expect(await loadSecretKey(dir)).toEqual(key);
    expect(await readdir(dir)).toEqual(['secret-key']);
  });

  test('is the same for all that make it at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadSecretKey(dir)));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  });

  test('is refused when the file is damaged, and the file stays as it is', async () => {
    const whole = `${Buffer.alloc(32, 7).toString('base64')}\n`;
    for (const damaged of ['', 'AAAA', whole.slice(0, -6), `${whole}${whole}`, 'not base64 !']) {
      await writeFile(join(dir, 'secret-key'), damaged);
      await expect(loadSecretKey(dir)).rejects.toThrow(/secret-key is damaged/);
      expect(await readFile(join(dir, 'secret-key'), 'utf8')).toBe(damaged);
    }
  });

  test('is not made anew beside a database that was made with another', async () => {
    await mkdir(join(dir, 'postgres'));
    await expect(loadSecretKey(dir)).rejects.toThrow(/secret-key is missing, but the database exists/);
    expect(await readdir(dir)).toEqual(['postgres']);
  });

  test('that others could read is closed to them', async () => {
    await loadSecretKey(dir);
    await chmod(join(dir, 'secret-key'), 0o644);
    await loadSecretKey(dir);
    expect((await stat(join(dir, 'secret-key'))).mode & 0o777).toBe(0o600);
  });
});
