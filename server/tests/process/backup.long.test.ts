import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { test as base } from '../support/program.ts';
import { AUTHORITY, freshKey, SECRET_KEY, spend } from '../support/running-service.ts';
import { takesMinutes, until } from '../support/until.ts';

takesMinutes(10);

const SCRIPTS = fileURLToPath(new URL('../../../deploy/backup/', import.meta.url));
/** PostgreSQL as Debian installs it, the newest: the embedded one has neither pg_dump nor pg_basebackup. */
const DEBIAN = '/usr/lib/postgresql';
const version = (existsSync(DEBIAN) ? readdirSync(DEBIAN) : []).map(Number).sort((a, b) => b - a)[0] ?? 0;
const BIN = join(DEBIAN, String(version), 'bin');
const has_postgres = version >= 15 && existsSync(join(BIN, 'pg_dump')) && process.getuid?.() === 0;
if (!has_postgres) {
  console.warn(
    'Debian’s PostgreSQL, or the right to run it as its own user, is not here: backups are not tried.',
  );
}

const KEY = `sk_${'b'.repeat(24)}`;
const started = new Set<string>();
/** Runs a program of PostgreSQL as its own user, which it insists on. */
function asPostgres(program: string, ...args: string[]): string {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const options = { uid: id('-u'), gid: id('-g'), encoding: 'utf8', cwd: '/', stdio: 'pipe' } as const;
  return execFileSync(join(BIN, program), args, options);
}

/** The checkpoints of a data directory, by the names of their files. */
function checkpointsIn(data_dir: string): Map<string, string> {
  const dir = join(data_dir, 'checkpoints');
  if (!existsSync(dir)) return new Map();
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((each) =>
    each.endsWith('.txt'),
  );
  return new Map(files.map((file) => [file, readFileSync(join(dir, file), 'utf8')]));
}

function startPostgres(data_dir: string, socket_dir: string): void {
  const options = `-c listen_addresses= -c unix_socket_directories=${socket_dir} -c port=5432`;
  started.add(data_dir);
  execFileSync(
    'su',
    [
      'postgres',
      '-s',
      '/bin/sh',
      '-c',
      `${BIN}/pg_ctl -D ${data_dir} -o '${options}' -l ${data_dir}.log -w start > /dev/null`,
    ],
    { stdio: 'ignore', cwd: '/' },
  );
}

function stopPostgres(data_dir: string, how: 'fast' | 'immediate'): void {
  asPostgres('pg_ctl', '-D', data_dir, '-m', how, '-w', 'stop');
  started.delete(data_dir);
}

const test = base.extend<{ stopped: undefined }>({
  // Before its directory is removed, whatever has failed.
  stopped: async ({ emptyDirectory: _removedLater }, use) => {
    await use(undefined);
    for (const data_dir of started) stopPostgres(data_dir, 'immediate');
  },
});

describe.skipIf(!has_postgres)('what is lost with a machine', () => {
  test('comes back from a dump with its checkpoints, and from the archived log up to the last decision; each ends verified', async ({
    run,
    emptyDirectory,
    stopped: _stopped,
  }) => {
    const dir = emptyDirectory();
    execFileSync('chmod', ['755', dir]);
    const [archive, primary, copy] = ['archive', 'primary', 'copy'].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
    ) as [number, number];
    const place = (name: string) => {
      mkdirSync(name, { mode: 0o700 });
      chownSync(name, uid, gid);
    };
    for (const name of [archive, primary, copy, join(dir, 'socket'), join(dir, 'socket2')]) place(name);
    chownSync(dir, uid, gid);
    asPostgres('initdb', '-D', primary, '--auth=trust', '--no-sync');
    execFileSync('sh', [
      '-c',
      `printf "archive_mode = on\\narchive_command = 'test ! -f ${archive}/%%f && cp %%p ${archive}/%%f'\\n" >> ${primary}/postgresql.conf`,
    ]);
    const at = (database: string, socket = 'socket') =>
      `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(join(dir, socket))}&port=5432`;
    const sql = (text: string, socket?: string) =>
      execFileSync('psql', [at('postgres', socket), '-Atc', text], { encoding: 'utf8' });
    startPostgres(primary, join(dir, 'socket'));
    sql('create database purser');
    sql('create database restored');

    const env = {
      SECRET_KEY: SECRET_KEY.toString('base64'),
      DATABASE_URL: at('purser'),
      DATA_DIR: join(dir, 'data'),
      BOOTSTRAP_ADMIN_KEY: KEY,
      LOG_LEVEL: 'warn',
    };
    const service = run(['serve'], env);
    const url = await service.url;
    const post = async (path: string, body: unknown) => {
      const headers = { 'x-api-key': KEY, 'content-type': 'application/json', 'idempotency-key': freshKey() };
      const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(reply.status).toBe(201);
      return (await reply.json()) as { decision_id: string };
    };
    await post('/v1/agents', { slug: 'a', authority: AUTHORITY });
    for (let n = 1; n <= 5; n++) await post('/v1/decisions', spend('a', 100 + n));
    // The service signs in rounds of its own: a backup of before the first has no checkpoints.
    await until(() => checkpointsIn(env.DATA_DIR).size > 0);
    asPostgres(
      'pg_basebackup',
      '-D',
      copy,
      '-d',
      at('postgres'),
      '-X',
      'stream',
      '--checkpoint=fast',
      '--no-sync',
    );

    const script = (name: string, argument: string, settings: Record<string, string>) =>
      spawnSync(join(SCRIPTS, name), [argument], {
        encoding: 'utf8',
        env: { PATH: `${BIN}:${process.env.PATH}`, ...env, ...settings },
      });
    const backups = join(dir, 'backups');
    for (const old of ['purser-20200101T000000Z', 'purser-20200102T000000Z'])
      mkdirSync(join(backups, old), { recursive: true });
    const backup = script('backup.sh', backups, { KEEP: '2' });
    expect(backup.status, backup.stderr).toBe(0);
    const name = backup.stdout.trim();
    expect(readdirSync(backups).map((each) => join(backups, each))).toEqual([
      join(backups, 'purser-20200102T000000Z'),
      name,
    ]);

    const last = await post('/v1/decisions', spend('a', 999));
    service.child.kill('SIGTERM');
    expect((await service.ended).code).toBe(0);

    const restore = (settings: Record<string, string>) => script('restore.sh', name, settings);
    const into = { DATABASE_URL: at('restored'), DATA_DIR: join(dir, 'data2') };
    const restored = restore(into);
    expect([restored.status, restored.stdout], restored.stderr).toEqual([
      0,
      expect.stringMatching(/ {2}valid {2}/),
    ]);
    // The service may have signed more since the backup.
    const written = checkpointsIn(env.DATA_DIR);
    const brought_back = checkpointsIn(into.DATA_DIR);
    expect(brought_back.size).toBeGreaterThan(0);
    for (const [file, note] of brought_back) expect([file, note]).toEqual([file, written.get(file)]);
    // As every user that the guide names: any that owns the database, whether or not it may make or take the role.
    for (const [user, rights, guarded] of [
      ['creator', 'createrole', 't'],
      ['restricted', '', 't'],
      ['plain', '', 'f'],
    ] as const) {
      sql(`create role ${user} login ${rights}`);
      sql(`create database of_${user} owner ${user}`);
      if (user === 'restricted') sql('grant purser_service to restricted');
      const mine = at(`of_${user}`).replace('postgres@', `${user}@`);
      const as_user = restore({ DATABASE_URL: mine, DATA_DIR: join(dir, `data-${user}`) });
      expect([user, as_user.status, as_user.stdout], as_user.stderr).toEqual([
        user,
        0,
        expect.stringMatching(/ {2}valid {2}/),
      ]);
      const may = `select has_table_privilege('purser_service', 'ledger_events', 'insert')`;
      expect([user, execFileSync('psql', [mine, '-Atc', may], { encoding: 'utf8' }).trim()]).toEqual([
        user,
        guarded,
      ]);
    }
    // Backups that begin within one second are two, and neither is moved into the other.
    const twice = join(dir, 'twice');
    const started_at_once = await Promise.all(
      [1, 2].map(
        () =>
          new Promise<string>((resolve) => {
            const child = spawn(join(SCRIPTS, 'backup.sh'), [twice], {
              env: { PATH: `${BIN}:${process.env.PATH}`, ...env },
            });
            let printed = '';
            child.stdout.on('data', (chunk) => {
              printed += chunk;
            });
            child.on('close', () => resolve(printed.trim()));
          }),
      ),
    );
    expect(readdirSync(twice).map((each) => join(twice, each))).toEqual([...started_at_once].sort());
    for (const each of started_at_once)
      expect(readdirSync(each).sort()).toEqual(['checkpoints', 'database.dump']);
    // What is there already is not written over.
    expect([restore(into).status, restore(into).stderr]).toEqual([1, expect.stringContaining('empty one')]);
    // A backup that somebody has changed does not verify.
    sql('create database edited');
    expect(restore({ ...into, DATABASE_URL: at('edited'), DATA_DIR: join(dir, 'data3') }).status).toBe(0);
    execFileSync('psql', [
      at('edited'),
      '-qc',
      'update decisions set document = replace(document, \'"a"\', \'"b"\')',
    ]);
    const verify = run(['ledger', 'verify'], {
      ...env,
      DATABASE_URL: at('edited'),
      DATA_DIR: join(dir, 'data3'),
    });
    expect((await verify.ended).code).toBe(1);
    // It works on, and knows its keys.
    const again = run(['serve'], { ...env, ...into });
    const listed = await fetch(`${await again.url}/v1/decisions`, { headers: { 'x-api-key': KEY } });
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(5);
    again.child.kill('SIGTERM');
    await again.ended;

    // The machine is lost: what is left is the copy of before, and the log that was archived since.
    sql('select pg_switch_wal()');
    stopPostgres(primary, 'fast');
    rmSync(primary, { recursive: true });
    execFileSync('sh', [
      '-c',
      `printf "restore_command = 'cp ${archive}/%%f %%p'\\narchive_mode = off\\n" >> ${copy}/postgresql.conf`,
    ]);
    cpSync('/dev/null', join(copy, 'recovery.signal'));
    chownSync(join(copy, 'recovery.signal'), uid, gid);
    startPostgres(copy, join(dir, 'socket2'));
    await until(() => sql('select pg_is_in_recovery()', 'socket2').startsWith('f'));
    const recovered = run(['ledger', 'verify'], { ...env, DATABASE_URL: at('purser', 'socket2') });
    expect(await recovered.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/ {2}valid {2}/) });
    const kept = execFileSync(
      'psql',
      [at('purser', 'socket2'), '-Atc', 'select decision_id from decisions'],
      { encoding: 'utf8' },
    );
    expect(kept).toContain(last.decision_id);
    expect(readFileSync(`${copy}.log`, 'utf8')).toContain('archive recovery complete');
    stopPostgres(copy, 'fast');
  });
});
