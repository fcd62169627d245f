import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, PASSWORD, setUp, setupCodeOf, signIn } from '../support/browser.ts';
import { connectionUrl } from '../support/postgres.ts';
import { type RunningService, refusal, SECRET_KEY, startTestService } from '../support/running-service.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START_MS = Date.parse('2026-11-22T08:00:00Z');
const HOUR_MS = 3_600_000;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'purser-people-'));
});
afterAll(() => rm(dir, { recursive: true }));

describe('the first person of the settings', () => {
  const start = async (password: string) => {
    const file = join(dir, 'password');
    await writeFile(file, password);
    return startTestService({
      env: { BOOTSTRAP_ADMIN_EMAIL: 'Ada@Example.com', BOOTSTRAP_ADMIN_PASSWORD_FILE: file },
    });
  };
  test('is there before anybody can connect, and no code is printed', async () => {
    const s = await start(`${PASSWORD}\n`);
    expect(s.service.console_url).toMatch(/\/console\/$/);
    expect((await s.sql('select 1 from setup_codes')).rowCount).toBe(0);
    const browser = await signIn(s, 'ada@example.com');
    expect((await browser.call('GET', '/v1/me')).body.role).toBe('admin');
    expect((await browser.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
    // Another start changes nothing, whatever the file holds now.
    await writeFile(join(dir, 'password'), 'x');
    const again = await startTestService({
      beside: s,
      env: { BOOTSTRAP_ADMIN_EMAIL: 'eve@example.com', BOOTSTRAP_ADMIN_PASSWORD_FILE: join(dir, 'password') },
    });
    expect((await s.sql('select 1 from users')).rowCount).toBe(1);
    await again.stop();
    await s.stop();
  });
  test.each(['short', 'passwordpassword', 'ada@example.com'])(
    'with the password %s stops the start in one line',
    async (password) => {
      await expect(start(password)).rejects.toThrow(
        /^BOOTSTRAP_ADMIN_PASSWORD_FILE .* has a password that .*\.$/,
      );
    },
  );
});

describe('codes of several nodes', () => {
  test('each is good, after an hour none is, and each start makes a new one while there is nobody', async () => {
    const s = await startTestService({ stopped_at_ms: START_MS });
    const other = await startTestService({ beside: s });
    expect(setupCodeOf(other)).not.toBe(setupCodeOf(s));
    const { rows } = await s.sql('select expires_at from setup_codes');
    expect(rows.map(({ expires_at }) => Date.parse(expires_at))).toEqual(
      [0, 0].map(() => START_MS + HOUR_MS),
    );
    await s.setClock(START_MS + HOUR_MS);
    for (const node of [s, other]) await expect(setUp(node)).rejects.toThrow(/unauthenticated/);
    const third = await startTestService({ beside: s });
    await setUp(third);
    for (const node of [s, other]) await expect(setUp(node)).rejects.toThrow(/already_set_up/);
    for (const node of [third, other, s]) await node.stop();
  });
});

test('a code stays good for its hour after another start, which prints its own', async () => {
  const s = await startTestService();
  const code = setupCodeOf(s);
  const again = await startTestService({ beside: s });
  expect(setupCodeOf(again)).not.toBe(code);
  const body = { code, email: 'ada@example.com', name: 'Ada', password: PASSWORD };
  expect((await openBrowser(again).call('POST', '/v1/auth/setup', { body })).status).toBe(201);
  for (const node of [again, s]) await node.stop();
});

describe('the operator’s commands', () => {
  let s: RunningService;
  beforeAll(async () => {
    s = await startTestService();
  });
  afterAll(() => s.stop());
  const type = (args: string[], more: object = {}) => {
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: connectionUrl(s.database.connection),
      SECRET_KEY: SECRET_KEY.toString('hex'),
      DATA_DIR: dir,
      PUBLIC_URL: 'https://purser.example',
      ...more,
    };
    return run(process.execPath, [MAIN, 'user', ...args], { env });
  };
  const purser = async (...args: string[]) => JSON.parse((await type([...args, '--json'])).stdout);
  const secretOf = ({ url }: { url: string }) => url.split('#')[1] as string;

  test('print a way in for the first, invite, give a new password, sign out and disable', async () => {
    const link = await purser('setup-link');
    expect(link.url).toMatch(/^https:\/\/purser\.example\/console\/setup#/);
    const made = await openBrowser(s).call('POST', '/v1/auth/setup', {
      body: { code: secretOf(link), email: 'ada@example.com', name: 'Ada', password: PASSWORD },
    });
    expect(made.status).toBe(201);
    await expect(purser('setup-link')).rejects.toThrow(/already has an administrator/);

    const invited = await purser('invite', '--email', 'Bob@example.com', '--role', 'viewer');
    const joined = await openBrowser(s).call('POST', '/v1/auth/invitations/accept', {
      body: { token: secretOf(invited), name: 'Bob', password: PASSWORD },
    });
    expect([joined.status, joined.body.role]).toEqual([201, 'viewer']);
    expect((await purser('list')).map((each: { email: string }) => each.email)).toEqual([
      'ada@example.com',
      'bob@example.com',
    ]);

    const bob = await signIn(s, 'bob@example.com');
    const token = secretOf(await purser('reset-link', '--email', 'bob@example.com'));
    const reset = (password: string) =>
      openBrowser(s).call('POST', '/v1/auth/password/reset', { body: { token, password } });
    expect(refusal(await reset('passwordpassword'))).toEqual([400, 'invalid_request']);
    const at_once = await Promise.all([1, 2, 3].map(() => reset('a brand new password')));
    expect(at_once.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(refusal(await reset('a brand new password 2'))).toEqual([401, 'unauthenticated']);
    expect(refusal(await bob.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    await expect(signIn(s, 'bob@example.com')).rejects.toThrow(/unauthenticated/);

    const again = await signIn(s, 'bob@example.com', 'a brand new password');
    await purser('revoke-sessions', '--email', 'bob@example.com');
    expect(refusal(await again.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    const last = await signIn(s, 'bob@example.com', 'a brand new password');
    await purser('disable', '--email', 'bob@example.com');
    expect(refusal(await last.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    await expect(signIn(s, 'bob@example.com', 'a brand new password')).rejects.toThrow(/unauthenticated/);
    await expect(purser('disable', '--email', 'nobody@example.com')).rejects.toThrow(/no account has/);

    const statusOfBob = async () =>
      (await s.call('GET', '/v1/members')).body.data.find(
        ({ email }: { email: string }) => email === 'bob@example.com',
      ).status;
    expect(await statusOfBob()).toBe('disabled');
    await purser('enable', '--email', 'bob@example.com');
    expect(await statusOfBob()).toBe('active');
    await expect(purser('enable', '--email', 'bob@example.com')).rejects.toThrow(/is not disabled/);
    await signIn(s, 'bob@example.com', 'a brand new password');
    const { body: told } = await s.call('GET', '/v1/sign-ins?member=true&limit=200');
    const of_operator = told.data.filter(({ method }: { method: string }) => method === 'operator');
    expect(of_operator).toMatchObject(
      ['account_enabled', 'account_disabled', 'reset_link_made'].map((kind) => ({
        kind,
        email: 'bob@example.com',
        client_address: null,
      })),
    );
    await purser('disable', '--email', 'bob@example.com');

    const audit = await s.call('GET', '/v1/audit?limit=2');
    for (const each of audit.body.data) {
      expect([each.action, each.actor.type]).toEqual(['sessions.revoked', 'operator']);
    }
    expect((await s.call('GET', '/v1/ledger/verify')).body.valid).toBe(true);
  });

  test('say what they did in words too, and lead where the settings say', async () => {
    const { stdout: listed } = await type(['list']);
    const [ada, bob] = listed.trim().split('\n');
    expect(ada).toMatch(/^usr_\w{26} {2}ada@example\.com {2}ws_\w{26} admin$/);
    expect(bob).toMatch(/^usr_\w{26} {2}bob@example\.com {2}disabled$/);
    const cleo = ['--email', 'cleo@example.com', '--role', 'reviewer', '--principal', 'user:cleo'];
    const { stdout: invited } = await type(['invite', ...cleo, '--workspace', s.workspace_id]);
    expect(invited).toMatch(/^Invitation {2}https:\/\/purser\.example\/console\/invitation#ws_\S+\n$/);
    const { stdout: reset } = await type(['reset-link', '--email', 'ada@example.com']);
    expect(reset).toMatch(/^New password {2}https:\/\/purser\.example\/console\/reset#usr_\S+\n$/);
    const { stdout: ended } = await type(['revoke-sessions', '--email', ' ADA@example.com']);
    expect(ended).toBe('ada@example.com is signed out everywhere.\n');
    const { stdout: help } = await type(['--help']);
    for (const name of [
      'list',
      'invite',
      'reset-link',
      'disable',
      'enable',
      'revoke-sessions',
      'setup-link',
    ]) {
      expect(help).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    }
  });
  const invite = (email: string, ...more: string[]) => [
    'invite',
    '--email',
    email,
    '--role',
    'viewer',
    ...more,
  ];
  const off = { PASSWORD_SIGN_IN: 'off', OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'purser' };
  test.each<[string[], RegExp, object?]>([
    [['reset-link', '--email', 'nobody@example.com'], /^purser: --email: no account has the e-mail nobody@/],
    [['reset-link', '--email', 'bob@example.com'], /^purser: --email: bob@example\.com is disabled\.$/],
    [['reset-link', '--email', 'ada@example.com'], /^purser: PASSWORD_SIGN_IN is off: /, off],
    [['revoke-sessions', '--email', 'nobody@example.com'], /^purser: --email: no account has the e-mail/],
    [['disable'], /^error: required option '--email <email>' not specified$/],
    [invite('nobody'), /'--email <email>' argument 'nobody' is invalid\. must be an e-mail address\.$/],
    [['invite', '--email', 'a@b.de', '--role', 'boss'], /Allowed choices are admin, reviewer, viewer\.$/],
    [invite('a@b.de', '--workspace', 'ws_none'), /^purser: --workspace: no workspace ws_none\.$/],
    [invite('a@b.de', '--principal', 'ada'), /^purser: --principal: must be user: and 1 to 128 visible/],
    [invite('ada@example.com'), /^purser: This person is already a member of the workspace\.$/],
  ])('refuse %j in one line, with exit code 1', async (args, said, more) => {
    const ended = await type(args, more).catch((error: object) => error);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    const { stderr } = ended as { stderr: string };
    expect(stderr.trim()).toMatch(said);
    expect(stderr.trim()).not.toContain('\n');
  });
});
