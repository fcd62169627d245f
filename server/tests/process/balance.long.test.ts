import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { test } from '../support/program.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const PROCESSES = 3;
const CONNECTIONS = 60;

const childrenOf = (pid: number | undefined): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1];
        return (
          parent === String(pid) && readFileSync(`/proc/${each}/cmdline`, 'utf8').includes('serve-process')
        );
      } catch {
        return false;
      }
    });

/** How many established connections to the port each process holds. */
function held(port: number, pids: readonly number[]): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set(
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === '01')
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return pids.map((pid) => {
    const fds = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
    return fds.filter((each) => inodes.has(each)).length;
  });
}

const isStopped = (pid: number) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

const sumOf = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

/** True if all connections are open, and no process holds more of them than a quarter and 2 over the mean. */
const areSpread = (counts: readonly number[]) =>
  sumOf(counts) === CONNECTIONS && Math.max(...counts) <= 1.25 * (CONNECTIONS / PROCESSES) + 2;

/** A connection that asks once and then stays open without a word, unless it is to `ask` again. */
const openIdle = (port: number) =>
  new Promise<{ socket: Socket; ask: () => void; answers: () => number }>((resolve, reject) => {
    let text = '';
    const ask = () => void socket.write('GET /healthz HTTP/1.1\r\nhost: purser\r\n\r\n');
    const answers = () => text.split('HTTP/1.1 200 ').length - 1;
    const socket = connect(port, '127.0.0.1', () => {
      ask();
      resolve({ socket, ask, answers });
    });
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      text += bytes;
    });
  });

describe.runIf(process.platform === 'linux').concurrent('connections to several processes', () => {
  test('that one process accepts are spread over all that answer, idle ones too, and each is answered', async ({
    run,
    dataDirectory,
  }) => {
    const service = run(['serve'], {
      DATA_DIR: dataDirectory(),
      SERVE_PROCESSES: String(PROCESSES),
      LOG_LEVEL: 'error',
      KEEP_ALIVE_SECONDS: '600',
    });
    const port = Number(new URL(await service.url).port);
    const pids = childrenOf(service.child.pid);
    const passedOn = () => held(port, [service.child.pid as number])[0] as number;
    const others = pids.slice(1);
    /** How many each process holds after one of them has accepted all, because the others stood still meanwhile. */
    const acceptedByOne = async () => {
      for (const pid of others) process.kill(pid, 'SIGSTOP');
      await until(() => others.every(isStopped));
      const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => openIdle(port)));
      await until(() => passedOn() > 0 || sumOf(held(port, pids)) === CONNECTIONS);
      for (const pid of others) process.kill(pid, 'SIGCONT');
      await until(() => opened.every(({ answers }) => answers() === 1));
      await until(() => passedOn() === 0);
      const counts = held(port, pids);
      for (const { socket } of opened) socket.destroy();
      await until(() => held(port, pids).every((count) => count === 0));
      return counts;
    };
    // On a busy machine the others may be passed over before they go on. Without a router none of the rounds is spread.
    const rounds: number[][] = [];
    while (!rounds.some(areSpread) && rounds.length < 20) rounds.push(await acceptedByOne());
    expect(rounds.find(areSpread), `spread in none of ${JSON.stringify(rounds)}`).toBeDefined();
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });

  test('pass over a stopped process, and are still answered, by one process each, once it goes on', async ({
    run,
    dataDirectory,
  }) => {
    const service = run(['serve'], {
      DATA_DIR: dataDirectory(),
      SERVE_PROCESSES: String(PROCESSES),
      LOG_LEVEL: 'error',
      KEEP_ALIVE_SECONDS: '600',
    });
    const port = Number(new URL(await service.url).port);
    const pids = childrenOf(service.child.pid);
    const stopped = pids[0] as number;
    process.kill(stopped, 'SIGSTOP');
    await until(() => isStopped(stopped));
    const opened = await Promise.all(Array.from({ length: CONNECTIONS }, () => openIdle(port)));
    await until(() => opened.every(({ answers }) => answers() === 1));
    expect(isStopped(stopped)).toBe(true);
    expect(held(port, [stopped])).toEqual([0]);
    process.kill(stopped, 'SIGCONT');
    // It takes new ones again, and none of those that others have.
    const more: Awaited<ReturnType<typeof openIdle>>[] = [];
    while (held(port, [stopped])[0] === 0) {
      more.push(...(await Promise.all(Array.from({ length: CONNECTIONS / 2 }, () => openIdle(port)))));
      await until(() => more.every(({ answers }) => answers() === 1));
    }
    for (const { ask } of opened) ask();
    await until(() => opened.every(({ answers }) => answers() === 2));
    for (const { socket } of [...opened, ...more]) socket.destroy();
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });

  test('that are kept and used are spread again after a process was killed, without an answer lost', async ({
    run,
    dataDirectory,
  }) => {
    const service = run(['serve'], {
      DATA_DIR: dataDirectory(),
      SERVE_PROCESSES: String(PROCESSES),
      LOG_LEVEL: 'silent',
      KEEP_ALIVE_SECONDS: '600',
    });
    const url = await service.url;
    const port = Number(new URL(url).port);
    const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const ask = (agent: Agent) =>
      new Promise<boolean>((resolve) => {
        const sent = request(`${url}/healthz`, { agent }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode === 200));
        });
        sent.on('error', () => resolve(false)).end();
      });
    const askAll = async () => (await Promise.all(agents.map(ask))).filter((is_well) => !is_well).length;
    await until(async () => (await askAll()) === 0 && areSpread(held(port, childrenOf(service.child.pid))));
    const [victim] = childrenOf(service.child.pid);
    process.kill(victim as number, 'SIGKILL');
    await until(() => !childrenOf(service.child.pid).includes(victim as number));
    // Those of the killed one break once.
    await askAll();
    let lost = 0;
    await until(async () => {
      lost += await askAll();
      const pids = childrenOf(service.child.pid);
      return pids.length === PROCESSES && areSpread(held(port, pids));
    });
    expect(lost).toBe(0);
    for (const agent of agents) agent.destroy();
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);
  });
});
