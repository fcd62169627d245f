import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeRandom } from '../../../tools/chaos/random.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
let dir = '';
const running = new Set<ChildProcess>();

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'purser-killed-'));
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await untilPostgresIsGone(dir);
  rmSync(dir, { recursive: true, force: true });
});

interface Serving {
  child: ChildProcess;
  ended: Promise<unknown>;
  url: Promise<string>;
  output: () => string;
}

function serve(): Serving {
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dir, LOG_LEVEL: 'warn' },
  });
  running.add(child);
  let output = '';
  const ended = new Promise((resolve) => child.on('close', resolve)).then(() => running.delete(child));
  const url = new Promise<string>((resolve, reject) => {
    const read = (chunk: unknown) => {
      output += chunk;
      const found = /Purser listens on (\S+)\n/.exec(output);
      if (found !== null) resolve(found[1] as string);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    void ended.then(() => reject(new Error(`did not start: ${output}`)));
  });
  url.catch(() => {});
  return { child, ended, url, output: () => output };
}

/** The processes of PostgreSQL on the directory, by what the system says of them. */
function postgresOn(data_dir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (!/\/(postgres|initdb)$/.test(readlinkSync(`/proc/${pid}/exe`))) return false;
        const is_told = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data_dir);
        return is_told || readlinkSync(`/proc/${pid}/cwd`).startsWith(data_dir);
      } catch {
        return false;
      }
    });
}

async function untilNoneIsLeft(): Promise<void> {
  while (postgresOn(dir).length > 0) await wait(10);
}

// What runs is looked up where Linux shows it.
const onLinux = test.runIf(process.platform === 'linux');

onLinux(
  'a service that is killed at any moment, of its start too, leaves no PostgreSQL behind, and the next start works',
  async () => {
    const random = makeRandom(1);
    const first = serve();
    const began_ms = performance.now();
    await first.url;
    const start_ms = performance.now() - began_ms;
    expect(postgresOn(dir).length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.ended;
    await untilNoneIsLeft();

    const fresh = dir;
    for (let round = 0; round < 6; round++) {
      // Half of them on a directory without a database, so that some are killed while it is being made.
      if (round % 2 === 0) dir = mkdtempSync(join(fresh, 'again-'));
      const service = serve();
      await wait(random() * 1.2 * start_ms);
      const is_stopped = round % 3 === 0;
      if (is_stopped) {
        service.child.kill('SIGSTOP');
        await wait(random() * 300);
      }
      service.child.kill('SIGKILL');
      await service.ended;
      await untilNoneIsLeft();
      // Whatever was on its way when it was killed does not come later either.
      await untilPostgresIsGone(dir);
      expect(postgresOn(dir)).toEqual([]);
    }

    dir = fresh;
    const again = serve();
    expect((await fetch(`${await again.url}/readyz`)).status).toBe(200);
    again.child.kill('SIGTERM');
    await again.ended;
    expect(again.child.exitCode).toBe(0);
    expect(postgresOn(dir)).toEqual([]);
  },
);

onLinux(
  'a service that is stopped keeps its directory and its PostgreSQL, and is followed at once when it is killed',
  async () => {
    const first = serve();
    await first.url;
    first.child.kill('SIGSTOP');
    const refused = serve();
    await refused.ended;
    expect(refused.child.exitCode).toBe(1);
    expect(refused.output()).toContain(`in use by another Purser service, process ${first.child.pid} on `);
    expect(postgresOn(dir).length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.ended;
    // Its PostgreSQL may still be ending: it is waited for, not complained of.
    const next = serve();
    expect((await fetch(`${await next.url}/readyz`)).status).toBe(200);
    next.child.kill('SIGTERM');
    await next.ended;
  },
);

onLinux(
  'a PostgreSQL whose guard is killed with the service holds up the next start only until it notices',
  async () => {
    const first = serve();
    await first.url;
    const guards = readdirSync('/proc').filter((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return words.includes('purser-guard') && words.includes(dir);
      } catch {
        return false;
      }
    });
    expect(guards.length).toBeGreaterThan(1);
    first.child.kill('SIGSTOP');
    for (const pid of guards) process.kill(Number(pid), 'SIGKILL');
    first.child.kill('SIGKILL');
    await first.ended;
    expect(postgresOn(dir).length).toBeGreaterThan(0);
    const next = serve();
    expect((await fetch(`${await next.url}/readyz`)).status).toBe(200);
    next.child.kill('SIGTERM');
    await next.ended;
    expect(postgresOn(dir)).toEqual([]);
  },
);
