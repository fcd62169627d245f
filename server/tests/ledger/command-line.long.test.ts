import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { connectionUrl } from '../support/postgres.ts';
import { SECRET_KEY } from '../support/running-service.ts';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const { test, s, ask, makeAgent } = serviceTest();
let directory: string;
let file: string;
test.beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'purser-ledger-'));
  await makeAgent({}, { slug: 'a' });
  for (let i = 1; i <= 5; i++) await ask('a', i);
  file = join(directory, 'export.jsonl');
  await writeFile(file, (await s.call('GET', '/v1/ledger/export')).text);
});
test.afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs the operator's command line; with no settings it knows neither a database nor a secret. */
function purser(args: string[], env: Record<string, string> = {}, input?: string) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env }, cwd: directory };
    const child = execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
    child.stdin?.end(input ?? '');
  });
}
const settings = () => ({
  DATABASE_URL: connectionUrl(s.database.connection),
  SECRET_KEY: SECRET_KEY.toString('base64'),
  DATA_DIR: directory,
});

describe('ledger verify-file', () => {
  test('needs nothing but the file and the public key, in any of its forms', async () => {
    const jwks = await (await fetch(`${s.url}/.well-known/jwks.json`)).text();
    const key_file = join(directory, 'jwks.json');
    await writeFile(key_file, jwks);
    const keys = [jwks, key_file];
    for (const format of ['jwk', 'pem', 'base64']) {
      const printed = await purser(['ledger', 'public-key', '--format', format], settings());
      expect([printed.code, printed.stderr]).toEqual([0, '']);
      keys.push(printed.stdout.trim());
    }
    for (const key of keys) {
      const found = await purser(['ledger', 'verify-file', file, '--public-key', key]);
      expect([key, found.code, found.stdout.split('\n')[0]]).toEqual([
        key,
        0,
        `VALID: the history of ${s.workspace_id} is unaltered, 9 events.`,
      ]);
    }
  });
  test('says what is wrong, exits 1, and gives the same as JSON; also from standard input', async () => {
    const { stdout: key } = await purser(['ledger', 'public-key'], settings());
    const edited = (await s.call('GET', '/v1/ledger/export')).text.replaceAll('Hetzner', 'Metzner');
    const plain = await purser(['ledger', 'verify-file', '-', '--public-key', key], {}, edited);
    expect([plain.code, plain.stdout]).toEqual([1, expect.stringContaining('INVALID: the history of ws_')]);
    expect(plain.stdout).toMatch(/\n {2}event 5 {2}ROW_MISMATCH {2}/);
    const json = await purser(['ledger', 'verify-file', '-', '--public-key', key, '--json'], {}, edited);
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      1,
      expect.objectContaining({ valid: false, first_break_seq: 5, workspace_id: s.workspace_id }),
    ]);
  });
  test('exits 2 when it cannot tell: no such file, no key, no Ed25519 key', async () => {
    const { stdout: key } = await purser(['ledger', 'public-key'], settings());
    const missing = await purser(['ledger', 'verify-file', 'nothing.jsonl', '--public-key', key]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/^purser: ENOENT[^\n]+\n$/)]);
    const bad = await purser(['ledger', 'verify-file', file, '--public-key', 'nonsense']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringMatching(/^purser: --public-key: [^\n]+\n$/)]);
  });
});

describe('ledger verify', () => {
  test('verifies every workspace, and those of which only checkpoints are left', async () => {
    const gone = await s.addWorkspace({ plan: 'free' });
    const signed = 'select 1 from checkpoints where workspace_id = $1';
    await until(async () => (await s.sql(signed, [gone.workspace_id])).rowCount === 1, 100);
    const before = await purser(['ledger', 'verify', '--json'], settings());
    expect([before.code, before.stderr]).toEqual([0, '']);
    const found = before.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found.map((each) => [each.workspace_id, each.valid]).sort()).toEqual(
      [
        [s.workspace_id, true],
        [gone.workspace_id, true],
      ].sort(),
    );
    for (const table of [
      'workspaces',
      'ledger_heads',
      'ledger_events',
      'audit_records',
      'api_keys',
      'api_key_digests',
    ]) {
      await s.sql(`delete from ${table} where workspace_id = $1`, [gone.workspace_id]);
    }
    const after = await purser(['ledger', 'verify'], settings());
    expect(after.code).toBe(1);
    expect(after.stdout).toContain(`${s.workspace_id}  valid`);
    expect(after.stdout).toMatch(
      new RegExp(`${gone.workspace_id} {2}INVALID[^\\n]+\\n {2}event 1 {2}TRUNCATED`),
    );
    expect((await purser(['ledger', 'verify', '--workspace', gone.workspace_id], settings())).code).toBe(1);
  });
});
