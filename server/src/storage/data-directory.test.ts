import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DataDirectory, loadSecretKey, openDataDirectory } from './data-directory.ts';
import { processStartTime } from './process-identity.ts';

let parent_dir = '';
let dir = '';
const open: DataDirectory[] = [];

beforeEach(async () => {
  parent_dir = await mkdtemp(join(tmpdir(), 'purser-test-'));
  dir = join(parent_dir, 'data');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.release()));
  await rm(parent_dir, { recursive: true, force: true });
});

async function lock(options: { onWait?: () => void } = {}): Promise<DataDirectory> {
  const opened = await openDataDirectory(dir, { lock: 'exclusive', ...options });
  open.push(opened);
  return opened;
}

async function holderNow(): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(dir, 'purser.lock'), 'utf8'));
}

/** Leaves a lock like ours with other contents, as a process that is gone, or is not, would have. */
async function leaveLock(changes: Record<string, unknown>): Promise<void> {
  const opened = await openDataDirectory(dir, { lock: 'exclusive' });
  const holder = await holderNow();
  await opened.release();
  await writeFile(join(dir, 'purser.lock'), `${JSON.stringify({ ...holder, ...changes })}\n`);
}

describe('opening', () => {
  test('a missing directory is made for us alone, with nothing left in it by the checks', async () => {
    await openDataDirectory(dir, { lock: 'none' });
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dir)).toEqual([]);
  });

  test('a place that cannot be written is refused in one line that names it and DATA_DIR', async () => {
    await writeFile(join(parent_dir, 'file'), '');
    for (const path of [join(parent_dir, 'file'), join(parent_dir, 'file', 'below'), '/proc/purser']) {
      const error = await openDataDirectory(path, { lock: 'exclusive' }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name: 'DataDirectoryError' });
      expect(String(error)).toContain(path);
      expect(String(error)).toContain('DATA_DIR');
      expect(String(error)).not.toContain('\n');
    }
  });
});

describe('the lock', () => {
  test('a second service is refused with the process id and the directory, and the first keeps its lock', async () => {
    await lock();
    const before = await holderNow();
    await expect(lock()).rejects.toThrow(
      `${dir} is in use by another Purser service, process ${process.pid}`,
    );
    expect(await holderNow()).toEqual(before);
    expect(await readdir(dir)).toEqual(['purser.lock']);
  });

  test('a command works beside the service without the lock', async () => {
    await lock();
    const beside = await openDataDirectory(dir, { lock: 'none' });
    await beside.release();
    expect((await holderNow()).pid).toBe(process.pid);
  });

  test('releasing it lets the next service in, and twice does no harm to that one', async () => {
    const first = await lock();
    await first.release();
    await lock();
    await first.release();
    expect((await holderNow()).pid).toBe(process.pid);
  });

  test('the lock of a killed process is replaced at once', async () => {
    const child = spawn('sleep', ['60']);
    const pid = child.pid ?? 0;
    const start_time = processStartTime(pid);
    await leaveLock({ pid, start_time });
    await expect(lock()).rejects.toThrow(`process ${pid}`);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    const begun_ms = performance.now();
    await lock();
    expect(performance.now() - begun_ms).toBeLessThan(1_000);
    expect((await holderNow()).pid).toBe(process.pid);
  });

  test('a lock of our own process id that another start had is replaced', async () => {
    await leaveLock({ start_time: '1' });
    await lock();
    expect((await holderNow()).start_time).toBe(processStartTime(process.pid));
  });

  test('a lock from before the machine started again, long untouched, is replaced at once', async () => {
    await leaveLock({ boot_id: '00000000-0000-0000-0000-000000000000' });
    const long_ago = new Date(Date.now() - 3_600_000);
    await utimes(join(dir, 'purser.lock'), long_ago, long_ago);
    await lock();
  });

  test('the lock of another container is respected as long as that one touches it', async () => {
    await leaveLock({ pid_namespace: 'pid:[1]', pid: 7 });
    let moment_ms = Date.now();
    const touching = setInterval(() => {
      moment_ms += 1_000;
      void utimes(join(dir, 'purser.lock'), new Date(moment_ms), new Date(moment_ms));
    }, 500);
    const notices: string[] = [];
    const opening = openDataDirectory(dir, { lock: 'exclusive', onWait: (message) => notices.push(message) });
    await expect(opening).rejects.toThrow('process 7 of another container or machine');
    clearInterval(touching);
    expect(notices.length).toBe(1);
  });

  test('the lock of another container that fell silent is replaced', async () => {
    await leaveLock({ pid_namespace: 'pid:[1]', pid: 7 });
    await lock();
    expect((await holderNow()).pid).toBe(process.pid);
  });

  test('of many that find the same dead lock exactly one gets it', async () => {
    await leaveLock({ start_time: '1' });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lock()));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect(await readdir(dir)).toEqual(['purser.lock']);
  });

  test('a lock that is taken away is reported', async () => {
    const lost = new Promise<void>((resolve) => {
      void openDataDirectory(dir, { lock: 'exclusive', onLockLost: resolve }).then(async (opened) => {
        open.push(opened);
        await rm(join(dir, 'purser.lock'));
      });
    });
    await lost;
    expect(await readdir(dir)).toEqual([]);
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
    await expect(loadSecretKey(dir)).rejects.toThrow(/secret-key is missing although the database exists/);
    expect(await readdir(dir)).toEqual(['postgres']);
  });

  test('that others could read is closed to them', async () => {
    await loadSecretKey(dir);
    await chmod(join(dir, 'secret-key'), 0o644);
    await loadSecretKey(dir);
    expect((await stat(join(dir, 'secret-key'))).mode & 0o777).toBe(0o600);
  });
});
