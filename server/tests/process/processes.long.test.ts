import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { SETTINGS } from '../../src/service/config/config.ts';
import { MAX_CONNECTIONS } from '../../src/service/installation/runtime.ts';
import { test } from '../support/program.ts';
import { AUTHORITY, freshKey, spend } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const KEY = `sk_${'p'.repeat(24)}`;

interface Answer {
  status: number;
  text: string;
}

interface Sent {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * Sends a request over a connection of its own, so that the next one may meet another process. It waits for as long as
 * the connection is open: none may be left without an answer.
 */
function send(url: string, { method = 'GET', body, headers = {} }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const json = body === undefined ? undefined : JSON.stringify(body);
    const sent = request(url, {
      agent: false,
      method,
      headers: {
        'x-api-key': KEY,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.end(json);
  });
}

const many = (count: number, ask: (i: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
const ofStatus = (replies: Answer[], status: number) =>
  replies.filter((each) => each.status === status).length;

/** The processes that serve for a primary, by their ids. */
function servingBelow(primary: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        const is_ours = parent === String(primary);
        return is_ours && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve-process');
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** How many requests /metrics tells of, by status. */
async function counted(url: string, route: string): Promise<Record<string, number>> {
  const { text } = await send(`${url}/metrics`);
  const name = 'purser_http_request_duration_seconds_count';
  const lines = text.matchAll(
    new RegExp(`^${name}\\{(?=[^}]*route="${route}")[^}]*status="(\\d+)"\\} (\\d+)$`, 'gm'),
  );
  return Object.fromEntries([...lines].map(([, status, count]) => [status, Number(count)]));
}

// What runs is looked up where Linux shows it.
describe.runIf(process.platform === 'linux').concurrent('several processes', () => {
  test('serve one port, and count limits, wrong passwords and metrics together', async ({
    run,
    dataDirectory,
    emptyDirectory,
  }) => {
    const password_file = join(emptyDirectory(), 'password');
    await writeFile(password_file, 'a long and quiet sentence');
    const service = run(['serve'], {
      DATA_DIR: dataDirectory(),
      SERVE_PROCESSES: '2',
      RATE_LIMIT_PER_MINUTE: '40',
      BOOTSTRAP_ADMIN_KEY: KEY,
      BOOTSTRAP_ADMIN_EMAIL: 'ada@example.com',
      BOOTSTRAP_ADMIN_PASSWORD_FILE: password_file,
    });
    const url = await service.url;
    expect(servingBelow(service.child.pid)).toHaveLength(2);
    expect((await send(`${url}/readyz`)).status).toBe(200);

    const began_ms = performance.now();
    const replies = await many(60, () => send(`${url}/v1/workspace`));
    // On a slow machine the requests may take longer than the minute that the limit counts.
    const minutes = 1 + Math.floor((performance.now() - began_ms) / 60_000);
    const [let_in, refused] = [ofStatus(replies, 200), ofStatus(replies, 429)];
    expect(let_in + refused).toBe(60);
    expect(let_in).toBeGreaterThanOrEqual(40);
    expect(let_in).toBeLessThanOrEqual(40 * minutes);

    const wrong = { email: 'ada@example.com', password: 'not what it is' };
    const headers = { origin: new URL(url).origin.replace('127.0.0.1', 'localhost') };
    const tried = await many(24, () =>
      send(`${url}/v1/auth/sign-in`, { method: 'POST', body: wrong, headers }),
    );
    // On a slow machine some wait too long for their hash; they count as tried like those that were wrong.
    expect([ofStatus(tried, 401) + ofStatus(tried, 503), ofStatus(tried, 429)]).toEqual([10, 14]);

    // What a process tells is at most a second old.
    await until(async () => {
      const seen = await counted(url, '/v1/workspace');
      return seen['200'] === let_in && seen['429'] === refused;
    });
    // Both take part: the kernel gives a connection to whichever is free.
    const hasServed = (n: number) =>
      service
        .output()
        .split('\n')
        .some((line) => line.includes(`"process":${n},`) && line.includes('/v1/workspace'));
    await until(async () => {
      await send(`${url}/v1/workspace`);
      return hasServed(1) && hasServed(2);
    });
    service.child.kill('SIGTERM');
    const { code, stdout } = await service.ended;
    expect(code).toBe(0);
    // The start was told of once.
    expect(stdout.match(/Purser listens/g)).toHaveLength(1);
  });

  test('one that is killed comes back, nothing acknowledged is lost, no counter falls, and SIGTERM drains all', async ({
    run,
    dataDirectory,
  }) => {
    const env = {
      DATA_DIR: dataDirectory(),
      BOOTSTRAP_ADMIN_KEY: KEY,
      LOG_LEVEL: 'error',
      // Clients that ask as fast as they can reach the limit on a fast machine.
      RATE_LIMIT_PER_MINUTE: '1000000',
    };
    const service = run(['serve'], { ...env, SERVE_PROCESSES: '2' });
    const url = await service.url;
    const post = (path: string, body: unknown, key = freshKey()) =>
      send(`${url}${path}`, { method: 'POST', body, headers: { 'idempotency-key': key } });
    // 409 where it was made, and a busy machine answered too late.
    const agent = { slug: 'a', authority: AUTHORITY };
    await until(async () => [201, 409].includes((await post('/v1/agents', agent)).status));

    const acknowledged = new Map<string, string>();
    /** Lets clients ask until the returned function is called, which resolves when none of them waits any more. */
    const keepAsking = () => {
      let has_ended = false;
      const clients = Array.from({ length: 8 }, async () => {
        while (!has_ended) {
          const key = freshKey();
          const reply = await post('/v1/decisions', spend('a', 5), key).catch(() => null);
          if (reply?.status === 201) acknowledged.set(key, reply.text);
        }
      });
      return () => {
        has_ended = true;
        return Promise.all(clients);
      };
    };
    const untilAnswered = keepAsking();
    await until(() => acknowledged.size > 40);
    const decided = async () => {
      const reply = await send(`${url}/metrics`).catch(() => null);
      if (reply === null) return null;
      return [...reply.text.matchAll(/^purser_decisions_total\{.*\} (\d+)$/gm)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const before = await until(decided);
    const [victim] = servingBelow(service.child.pid);
    // It is killed once connections have come that it does not take any more.
    process.kill(victim as number, 'SIGSTOP');
    let answered = 0;
    const met_stopped = many(8, () =>
      send(`${url}/healthz`)
        .catch(() => ({ status: 0, text: '' }))
        .finally(() => {
          answered += 1;
        }),
    );
    await until(() => answered >= 4);
    process.kill(victim as number, 'SIGKILL');
    await met_stopped;
    const at_kill = acknowledged.size;
    expect(await until(decided)).toBeGreaterThanOrEqual(before);
    const came_back = await until(() => {
      const now = servingBelow(service.child.pid);
      return now.length === 2 && !now.includes(victim as number) && now;
    });
    expect(came_back).toHaveLength(2);
    await until(() => acknowledged.size > at_kill + 40);
    await until(async () => (await send(`${url}/readyz`)).status === 200);
    await untilAnswered();

    const untilRefused = keepAsking();
    const at_end = acknowledged.size;
    await until(() => acknowledged.size > at_end);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
    await untilRefused();
    expect(servingBelow(service.child.pid)).toEqual([]);
    expect(service.output().match(/a process of the service ended/g)).toHaveLength(1);

    const again = run(['serve'], env);
    const url_again = await again.url;
    const verified = JSON.parse((await send(`${url_again}/v1/ledger/verify`)).text);
    expect(verified.valid).toBe(true);
    for (const [key, text] of acknowledged) {
      const replay = await send(`${url_again}/v1/decisions`, {
        method: 'POST',
        body: spend('a', 5),
        headers: { 'idempotency-key': key },
      });
      expect([replay.status, replay.text]).toEqual([200, text]);
    }
    again.child.kill('SIGTERM');
    await again.ended;
  });

  test('a start that fails says why in one line and leaves no process; killed, the primary takes all with it', async ({
    run,
    dataDirectory,
  }) => {
    const dir = dataDirectory();
    const missing = { BOOTSTRAP_ADMIN_EMAIL: 'ada@example.com', BOOTSTRAP_ADMIN_PASSWORD_FILE: '/none' };
    const failed = run(['serve'], {
      DATA_DIR: dir,
      SERVE_PROCESSES: '2',
      BOOTSTRAP_ADMIN_KEY: KEY,
      ...missing,
    });
    const { code, stderr } = await failed.ended;
    expect([code, stderr]).toEqual([
      1,
      'purser: BOOTSTRAP_ADMIN_PASSWORD_FILE /none cannot be read (ENOENT).\n',
    ]);
    expect(servingBelow(failed.child.pid)).toEqual([]);

    const service = run(['serve'], { DATA_DIR: dir, SERVE_PROCESSES: '2', LOG_LEVEL: 'warn' });
    await service.url;
    expect(service.output().match(/setup#/g)).toHaveLength(1);
    const serving = servingBelow(service.child.pid);
    expect(serving).toHaveLength(2);
    service.child.kill('SIGKILL');
    await service.ended;
    await until(() => serving.every((pid) => !readdirSync('/proc').includes(String(pid))));
  });

  test('one that is killed while others still start is started again, and the start goes on', async ({
    run,
    dataDirectory,
  }) => {
    const env = { DATA_DIR: dataDirectory(), SERVE_PROCESSES: '3', BOOTSTRAP_ADMIN_KEY: KEY };
    const service = run(['serve'], { ...env, LOG_LEVEL: 'error' });
    const [, killed, held] = await until(() => {
      const serving = servingBelow(service.child.pid);
      return serving.length === 3 ? serving.sort((a, b) => a - b) : null;
    });
    process.kill(held as number, 'SIGSTOP');
    process.kill(killed as number, 'SIGKILL');
    const again = await until(() => {
      const serving = servingBelow(service.child.pid);
      return serving.length === 3 && !serving.includes(killed as number) && serving;
    });
    expect(again).toContain(held);
    process.kill(held as number, 'SIGCONT');
    const url = await service.url;
    expect(ofStatus(await many(12, () => send(`${url}/readyz`)), 200)).toBe(12);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });

  test('one process is the process itself', async ({ run, dataDirectory }) => {
    const service = run(['serve'], { DATA_DIR: dataDirectory(), SERVE_PROCESSES: '1', LOG_LEVEL: 'warn' });
    await service.url;
    expect(servingBelow(service.child.pid)).toEqual([]);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });
});

test('the setting says how many connections a process opens', () => {
  expect(SETTINGS.SERVE_PROCESSES.meaning).toContain(`up to ${MAX_CONNECTIONS} database connections`);
});
