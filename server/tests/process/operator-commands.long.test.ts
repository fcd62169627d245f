import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findRunningEmbeddedPostgres, SUPERUSER } from '@purser/embedded-postgres';
import { OPERATOR } from '@purser/rules/domain/audit';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { openFilesIn, openFilesProblem } from '../../src/service/operator/open-files.ts';
import { setUp } from '../support/browser.ts';
import { connectionUrl } from '../support/postgres.ts';
import { MAIN, test } from '../support/program.ts';
import { AUTHORITY, freshKey, SECRET_KEY, spend, startTestService } from '../support/running-service.ts';
import { addPasskey, enrol } from '../support/signers.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const KEY = `sk_${'c'.repeat(24)}`;

function clientOf(url: string) {
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  return {
    async post(path: string, body: unknown) {
      const sent = {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': freshKey() },
        body: JSON.stringify(body),
      };
      const reply = await fetch(`${url}${path}`, sent);
      expect(reply.status).toBe(201);
      return (await reply.json()) as { decision_id: string };
    },
    get: async (path: string) =>
      (await fetch(`${url}${path}`, { headers })).json() as Promise<Record<string, unknown>>,
  };
}

describe('beside a running service', () => {
  test('what was skipped is added up again, a clock is confirmed, and a backup holds every decision answered before', async ({
    run,
    dataDirectory,
    emptyDirectory,
  }) => {
    const DATA_DIR = dataDirectory();
    const env = { DATA_DIR, BOOTSTRAP_ADMIN_KEY: KEY, LOG_LEVEL: 'warn' };
    const service = run(['serve'], env);
    const { post } = clientOf(await service.url);
    await post('/v1/agents', { slug: 'a', authority: AUTHORITY });
    for (let n = 1; n <= 5; n++) await post('/v1/decisions', spend('a', 100 + n));
    const command = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(args, env).ended;
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };

    const running = await findRunningEmbeddedPostgres(DATA_DIR);
    if (running === null) throw new Error('the embedded PostgreSQL does not run');
    const superuser = new pg.Client({ ...running, user: SUPERUSER.user });
    await superuser.connect();
    try {
      const counters = async () =>
        (await superuser.query('select * from report_counters order by 1, 2, 3, 4, 5')).rows;
      await until(
        async () => Number((await superuser.query('select seq from report_watermarks')).rows[0]?.seq) >= 8,
      );
      const before = await counters();
      expect(before.length).toBeGreaterThan(0);
      expect(await command('retry-skipped')).toBe('No event was skipped.\n');
      for (const follower of ['report', 'learning'])
        await superuser.query(
          `insert into skipped_events select workspace_id, $1, 2, 'a reason', now() from workspaces`,
          [follower],
        );
      const retried = JSON.parse(await command('retry-skipped', '--json'));
      expect(retried).toMatchObject([
        { follower: 'learning', skipped: 1 },
        { follower: 'report', skipped: 1 },
      ]);
      expect((await superuser.query('select 1 from skipped_events')).rowCount).toBe(0);
      const { workspace_id } = retried[0];
      const watermarks = `select seq from report_watermarks where workspace_id = '${workspace_id}'`;
      await until(async () => Number((await superuser.query(watermarks)).rows[0]?.seq) >= 8);
      expect(await command('rebuild-report', '--workspace', workspace_id)).toContain(workspace_id);
      await until(async () => Number((await superuser.query(watermarks)).rows[0]?.seq) >= 8);
      expect(await counters()).toEqual(before);
      const unknown = await run(['rebuild-report', '--workspace', 'ws_none'], env).ended;
      expect([unknown.code, unknown.stderr]).toEqual([1, 'purser: --workspace: no workspace ws_none.\n']);

      expect(JSON.parse(await command('confirm-clock', '--json')).newest_event).not.toBeNull();
      const { rows } = await superuser.query(
        'select abs(extract(epoch from clock_timestamp() - clock_confirmed_at)) < 600 as is_new from installation',
      );
      expect(rows).toEqual([{ is_new: true }]);
    } finally {
      await superuser.end();
    }

    // Decisions go on while the backup is made.
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) await post('/v1/decisions', spend('a', 1_000 + n));
    })();
    const answered: string[] = [];
    for (let n = 0; n < 20; n++)
      answered.push((await post('/v1/decisions', spend('a', 500 + n))).decision_id);
    const backups = emptyDirectory();
    const copy = (await command('backup', backups)).trim();
    writing = false;
    await writer;
    expect(existsSync(join(copy, 'secret-key'))).toBe(true);
    expect(readdirSync(backups)).toHaveLength(1);
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);

    const verified = await run(['ledger', 'verify'], { ...env, DATA_DIR: copy }).ended;
    expect([verified.code, verified.stdout], verified.stderr).toEqual([
      0,
      expect.stringMatching(/ {2}valid {2}/),
    ]);
    const restored = run(['serve'], { ...env, DATA_DIR: copy });
    const again = clientOf(await restored.url);
    for (const id of answered) expect((await again.get(`/v1/decisions/${id}`)).decision_id).toBe(id);
    restored.child.kill('SIGTERM');
    await restored.ended;
  });
});

test('signing-keys reset revokes all signing keys of a workspace, and the next one is a new root', async ({
  run,
  emptyDirectory,
}) => {
  const s = await startTestService({ plan: 'enterprise' });
  try {
    const ada = await addPasskey(s, await setUp(s));
    expect((await enrol(ada)).body.status).toBe('ACTIVE');
    const env = {
      DATABASE_URL: connectionUrl(s.database.connection),
      DATA_DIR: emptyDirectory(),
      SECRET_KEY: SECRET_KEY.toString('base64'),
    };
    const reset = (...args: string[]) => run(['signing-keys', 'reset', ...args], env).ended;
    const { workspace_id } = s;
    expect(await reset('--workspace', workspace_id)).toEqual({
      code: 0,
      stdout: `${workspace_id}  signing keys revoked: 1. The next one is a new root.\n`,
      stderr: '',
    });
    const again = await reset('--workspace', workspace_id, '--json');
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, { workspace_id, revoked: 0 }]);
    expect(await reset('--workspace', 'ws_none')).toMatchObject({
      code: 1,
      stderr: 'purser: --workspace: no workspace ws_none.\n',
    });
    expect((await reset()).code).toBe(1);
    const { data } = (await s.call('GET', '/v1/ledger/events?type=signing_key.revoked')).body;
    expect(data).toHaveLength(1);
    const { rows } = await s.sql("select actor from audit_records where action = 'signing_key.revoked'");
    expect(rows).toEqual([{ actor: OPERATOR }]);
    expect((await enrol(ada)).body).toMatchObject({ status: 'ACTIVE', endorsed_by: null });
    const verified = await run(['ledger', 'verify', '--workspace', workspace_id], env).ended;
    expect([verified.code, verified.stdout.match(/Signer root/g)?.length]).toEqual([0, 2]);
  } finally {
    await s.stop();
  }
});

describe('the limit of open files', () => {
  test('that is too low to work with stops the start in one line, with the numbers', () => {
    const found = spawnSync('sh', ['-c', `ulimit -n 64; exec "${process.execPath}" "${MAIN}" serve`], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    expect([found.status, found.stderr]).toEqual([
      1,
      expect.stringMatching(/^purser: The limit of open files is 64, .*256.*10500.*LimitNOFILE.*\n$/),
    ]);
  });
  test('is read as the system writes it, and reported if it is less than all connections need', () => {
    const line = (limit: string) =>
      `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${limit}      4096  files\n`;
    expect([openFilesIn(line('1024')), openFilesIn(line('unlimited')), openFilesIn('')]).toEqual([
      1024,
      Infinity,
      null,
    ]);
    expect(openFilesProblem(255)?.is_fatal).toBe(true);
    expect(openFilesProblem(1_024)).toMatchObject({
      is_fatal: false,
      message: expect.stringContaining('1024'),
    });
    for (const enough of [65_536, Infinity, null]) expect(openFilesProblem(enough)).toBeNull();
  });
});
