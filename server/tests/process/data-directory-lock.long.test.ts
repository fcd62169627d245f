import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeRandom } from '../../../tools/chaos/random.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

/**
 * Tries to lock the directory, as often as told, and writes down what came of it; then keeps the lock. Appends to one
 * file come one after the other, whoever makes them, so what stands there is the order in which it happened.
 */
const CONTENDER = `
import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openDataDirectory } from ${JSON.stringify(new URL('../../dist/service/installation/data-directory.js', import.meta.url).href)};
const [dir, journal, tries] = process.argv.slice(1);
const write = (what) => appendFileSync(journal, what + ' ' + process.pid + '\\n');
for (let tried = 0; tried < Number(tries); tried++) {
  const held = await openDataDirectory(dir).catch((error) => {
    if (error.name !== 'DataDirectoryInUse') throw error;
  });
  if (held !== undefined) {
    write('got');
    await wait(2 ** 30);
  }
  if (tries === '1') write('refused');
}
`;

let parent_dir = '';
let dir = '';
let journal = '';
const running = new Set<ChildProcess>();

beforeEach(() => {
  parent_dir = mkdtempSync(join(tmpdir(), 'purser-lock-'));
  dir = join(parent_dir, 'data');
  journal = join(parent_dir, 'journal');
  appendFileSync(journal, '');
});
afterEach(async () => {
  for (const child of running) await kill(child);
  rmSync(parent_dir, { recursive: true, force: true });
});

function contend(tries = 2 ** 30, env: Record<string, string | undefined> = process.env): ChildProcess {
  const args = ['--input-type=module', '-e', CONTENDER, dir, journal, String(tries)];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  running.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.on('exit', resolve));
  // From here on it may be gone at any moment, and another may hold the lock.
  appendFileSync(journal, `left ${child.pid}\n`);
  child.kill('SIGKILL');
  await ended;
}

const events = () => readFileSync(journal, 'utf8').split('\n').slice(0, -1);
const pidOf = (child: ChildProcess) => child.pid as number;
const untilWritten = (event: string) =>
  until(() => {
    const failed = [...running].find((child) => (child.exitCode ?? 0) > 0);
    if (failed !== undefined) throw new Error(`a process ended with ${failed.exitCode}`);
    return events().includes(event);
  });

/** Everybody who got the lock while somebody else had it. */
function secondHolders(): string[] {
  const found: string[] = [];
  let holder: string | undefined;
  for (const [at, event] of events().entries()) {
    const [what, pid] = event.split(' ');
    if (what === 'got') {
      if (holder !== undefined) found.push(`event ${at}: ${pid} got what ${holder} had`);
      holder = pid;
    } else if (what === 'left' && pid === holder) holder = undefined;
  }
  return found;
}

test('there are never two holders, whichever holder is killed, wherever the others are stopped meanwhile', async () => {
  const random = makeRandom(7);
  const contenders = Array.from({ length: 6 }, () => contend());
  const pick = () => contenders[Math.floor(random() * contenders.length)] as ChildProcess;
  const holder = () => contenders.find((each) => events().at(-1) === `got ${pidOf(each)}`);
  for (let round = 0; round < 25; round++) {
    // The lock goes on being got: nobody who was killed has it for good.
    await until(() => holder() !== undefined);
    const killed = holder() as ChildProcess;
    await kill(killed);
    contenders.splice(contenders.indexOf(killed), 1, contend());
    for (let stops = 0; stops < 10; stops++) {
      const [shortly, long] = [pick(), pick()];
      shortly.kill('SIGSTOP');
      await wait(random() * 8);
      if (stops % 4 === 0) {
        long.kill('SIGSTOP');
        await wait(110);
        long.kill('SIGCONT');
      }
      shortly.kill('SIGCONT');
    }
  }
  expect(secondHolders()).toEqual([]);
});

test('one that is stopped holds the lock, and is followed by the next that comes when it is killed', async () => {
  const holder = contend(1);
  await untilWritten(`got ${pidOf(holder)}`);
  holder.kill('SIGSTOP');
  const second = contend(1);
  await untilWritten(`refused ${pidOf(second)}`);
  await kill(holder);
  const third = contend(1);
  await until(() => events().some((event) => event.endsWith(` ${pidOf(third)}`)));
  expect(events().at(-1)).toBe(`got ${pidOf(third)}`);
});

// Elsewhere the lock is taken by one call of the system, which cannot be stopped half-way.
test.runIf(process.platform === 'linux')(
  'one that is stopped before or after the very step that locks holds the lock exactly when that step is done',
  async () => {
    const real = execFileSync('which', ['flock'], { encoding: 'utf8' }).trim();
    const bin = join(parent_dir, 'bin');
    execFileSync('mkdir', [bin]);
    const script = `#!/bin/sh
stop() { [ "$STOP" != "$1" ] || { echo $$ > ${parent_dir}/stopped-$1; kill -STOP $$; }; }
stop before
${real} "$@"
status=$?
stop after
exit $status
`;
    writeFileSync(join(bin, 'flock'), script, { mode: 0o755 });
    const stopped = async (where: string) => {
      const file = join(parent_dir, `stopped-${where}`);
      await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
      const pid = Number(readFileSync(file, 'utf8'));
      await until(() => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
      return pid;
    };
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };

    const early = contend(1, { ...env, STOP: 'before' });
    const waiting = await stopped('before');
    const late = contend(1, { ...env, STOP: 'after' });
    const locked = await stopped('after');
    // It does not know yet that it holds the lock; everybody else does.
    const other = contend(1);
    await untilWritten(`refused ${pidOf(other)}`);
    process.kill(waiting, 'SIGCONT');
    await untilWritten(`refused ${pidOf(early)}`);
    process.kill(locked, 'SIGCONT');
    await untilWritten(`got ${pidOf(late)}`);
    expect(events().filter((event) => event.startsWith('got'))).toEqual([`got ${pidOf(late)}`]);
  },
);
