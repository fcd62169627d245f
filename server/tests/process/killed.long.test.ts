import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import { describe, expect } from 'vitest';
import { makeRandom } from '../../../tools/chaos/random.ts';
import { test } from '../support/program.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(10);

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

async function untilNoneIsLeft(dir: string): Promise<void> {
  while (postgresOn(dir).length > 0) await wait(10);
}

const env = (dir: string) => ({ DATA_DIR: dir, LOG_LEVEL: 'warn' });

// What runs is looked up where Linux shows it.
describe.runIf(process.platform === 'linux').concurrent('a data directory', () => {
  test('a service that is killed at any moment, of its start too, leaves no PostgreSQL behind, and the next start works', async ({
    run,
    emptyDirectory,
  }) => {
    const dir = emptyDirectory();
    const first = run(['serve'], env(dir));
    const began_ms = performance.now();
    await first.url;
    const start_ms = performance.now() - began_ms;
    expect(postgresOn(dir).length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.ended;
    await untilNoneIsLeft(dir);

    async function killAtAnyMoment(on: string, seed: number, is_stopped: boolean): Promise<void> {
      const random = makeRandom(seed);
      const service = run(['serve'], env(on));
      await wait(random() * 1.2 * start_ms);
      if (is_stopped) {
        service.child.kill('SIGSTOP');
        await wait(random() * 300);
      }
      service.child.kill('SIGKILL');
      await service.ended;
      await untilNoneIsLeft(on);
      // Whatever was on its way when it was killed does not come later either.
      await untilPostgresIsGone(on);
      expect(postgresOn(on)).toEqual([]);
    }
    // Side by side: each first on a directory without a database, so that some are killed while it is being made.
    const rounds = Array.from({ length: 3 }, async (_, i) => {
      const other = emptyDirectory();
      await killAtAnyMoment(other, 2 * i + 1, i === 0);
      await killAtAnyMoment(other, 2 * i + 2, i === 1);
    });
    await Promise.all(rounds);

    const again = run(['serve'], env(dir));
    expect((await fetch(`${await again.url}/readyz`)).status).toBe(200);
    again.child.kill('SIGTERM');
    await again.ended;
    expect(again.child.exitCode).toBe(0);
    expect(postgresOn(dir)).toEqual([]);
  });

  test('a service that is stopped keeps its directory and its PostgreSQL, and is followed at once when it is killed', async ({
    run,
    dataDirectory,
  }) => {
    const dir = dataDirectory();
    const serve = () => run(['serve'], env(dir));
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
  });

  test('a PostgreSQL whose guard is killed with the service holds up the next start only until it notices', async ({
    run,
    dataDirectory,
  }) => {
    const dir = dataDirectory();
    const serve = () => run(['serve'], env(dir));
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
  });
});
