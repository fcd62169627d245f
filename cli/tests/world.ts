import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { spend } from '../../server/tests/support/running-service.ts';
import { serviceTest } from '../../server/tests/support/service-test.ts';
import { type Context, makeContext } from '../src/context.ts';
import { runProgram } from '../src/program.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const OBJECTIVE = 'Keep the staging servers running: cloud servers and hosting.';
export const AUTHORITY = {
  purpose: { objective: OBJECTIVE },
  currency: 'EUR',
  per_transaction_limit_minor: 20_000,
  review_threshold_minor: 8_000,
  blocked_merchants: ['Evil Corporation'],
};

interface Ended {
  code: number | null;
  out: string;
  err: string;
}
interface Given {
  env?: Record<string, string>;
  input?: string;
}

let agents = 0;
let asked = 0;
export const lines = (text: string) => text.trim().split('\n');

/** The program for one test file, beside a service with these settings and in a folder of its own, which is its home too. */
export function programTest(settings: Record<string, string> = {}) {
  const { test, s } = serviceTest({ plan: 'enterprise', env: settings });
  const place = { folder: '' };
  test.beforeAll(async () => {
    place.folder = await mkdtemp(join(tmpdir(), 'purser-cli-'));
  });
  test.afterAll(() => rm(place.folder, { recursive: true, force: true }));

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env.PATH,
    HOME: place.folder,
    PURSER_BASE_URL: s.url,
    PURSER_API_KEY: s.admin_key,
    ...more,
  });

  /** Starts it with nothing in its environment but this; with `input` null its standard input stays open. */
  function start(
    args: string[],
    { env = {}, input = '' }: Omit<Given, 'input'> & { input?: string | null } = {},
  ) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: place.folder,
      env: environment(env),
    });
    const told = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      told.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      told.err += chunk;
    });
    if (input !== null) child.stdin.end(input);
    const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...told })));
    return { child, told, ended };
  }

  /** Runs a command in this process: starting one of its own takes longer than most commands. */
  async function run(args: string[], { env, input = '' }: Given = {}): Promise<Ended> {
    const said = { out: '', err: '' };
    const into = (name: keyof typeof said) =>
      new Writable({
        write(chunk, _encoding, done) {
          said[name] += chunk;
          done();
        },
      });
    const context = makeContext({
      stdin: Readable.from([Buffer.from(input)]),
      stdout: into('out'),
      stderr: into('err'),
      env: environment(env),
      signal: new AbortController().signal,
    } as unknown as Context);
    return { code: await runProgram(context, args), ...said };
  }

  return {
    test,
    s,
    start,
    run,
    /** A path in its folder. */
    pathOf: (name: string) => join(place.folder, name),
    async makeAgent(more: object = {}): Promise<string> {
      const slug = `cli-${++agents}`;
      await s.call('POST', '/v1/agents', { body: { slug, authority: AUTHORITY, ...more } });
      return slug;
    },
    async decide(agent: string, amount_minor: number, merchant = 'Hetzner Online') {
      const body = spend(agent, amount_minor, { action: { merchant } });
      return (await s.call('POST', '/v1/decisions', { body, idempotency_key: `cli-${++asked}` })).body;
    },
  };
}
