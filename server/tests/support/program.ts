import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilPostgresIsGone } from '@purser/embedded-postgres';
import { test as base } from 'vitest';
import { DATA_PARENT } from './memory.ts';

/** The built program, as an operator starts it. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves with the address, or rejects with what was printed. */
  url: Promise<string>;
  output: () => string;
}

/** Starts the program with nothing in its environment but `env`, on any free port. */
function startProgram(args: string[], env: Record<string, string>): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, PORT: '0', RATE_LIMIT_PER_MINUTE: '1000000', ...env },
  });
  let stdout = '';
  let stderr = '';
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
      const found = /Purser listens on (\S+)\n/.exec(stdout);
      if (found !== null) resolve(found[1] as string);
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    ended.then(() => reject(new Error(`did not start: ${stdout}${stderr}`)));
  });
  url.catch(() => {});
  return { child, ended, url, output: () => stdout + stderr };
}

export interface ProgramFixtures {
  /** A data directory with a migrated database and nothing in it; one for each test file. */
  preparedOnce: string;
  /** Starts the program; what still runs at the end of the test is killed. */
  run: typeof startProgram;
  /** A new empty directory, removed at the end. */
  emptyDirectory: () => string;
  /** A new copy of `preparedOnce`, for tests that are not about making a database: that takes a second and more. */
  dataDirectory: () => string;
}

/** Tests of the program as a process. Each has processes and directories of its own, so they may run side by side. */
export const test = base.extend<ProgramFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
  emptyDirectory: async ({}, use) => {
    const dirs: string[] = [];
    await use(() => {
      const dir = mkdtempSync(join(DATA_PARENT, 'purser-start-'));
      dirs.push(dir);
      return dir;
    });
    for (const dir of dirs) {
      await untilPostgresIsGone(dir);
      rmSync(dir, { recursive: true, force: true });
    }
  },
  preparedOnce: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
    async ({}, use) => {
      const dir = mkdtempSync(join(DATA_PARENT, 'purser-prepared-'));
      const { code, stdout, stderr } = await startProgram(['migrate'], { DATA_DIR: dir }).ended;
      if (code !== 0) throw new Error(`no data directory was prepared: ${stdout}${stderr}`);
      await untilPostgresIsGone(dir);
      await use(dir);
      rmSync(dir, { recursive: true, force: true });
    },
    { scope: 'file' },
  ],
  dataDirectory: async ({ emptyDirectory, preparedOnce }, use) => {
    await use(() => {
      const dir = emptyDirectory();
      // Keeps whose the files are, which `cp` of Node does not.
      execFileSync('cp', ['-a', `${preparedOnce}/.`, dir]);
      return dir;
    });
  },
  run: async ({ emptyDirectory: _removedLater }, use) => {
    const running = new Set<Started>();
    await use((args, env) => {
      const started = startProgram(args, env);
      running.add(started);
      return started;
    });
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all([...running].map(({ ended }) => ended));
  },
});
