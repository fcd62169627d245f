import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type EmbeddedPostgres,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from '@purser/embedded-postgres';
import { openRetiredKeys, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import type { Logger } from 'pino';
import { findUntestedEngine } from '../../engine/distribution/untested-engines.ts';
import { type Installation, readInstallation } from '../../engine/migration/installation.ts';
import {
  checkReady,
  checkSecret,
  LATEST_MIGRATION,
  MigrationError,
  migrate,
} from '../../engine/migration/migrate.ts';
import { checkSessions, NoSessionError } from '../../engine/migration/sessions-hold.ts';
import {
  canWorkAs,
  connectOnce,
  type DatabaseAddress,
  SERVICE_ROLE,
  sqlState,
} from '../../engine/storage/database.ts';
import type { Config } from '../config/config.ts';
import { DataDirectoryInUse, loadSecretKey, openDataDirectory } from './data-directory.ts';
import type { Database } from './runtime.ts';
import { deriveSecrets, type Secrets } from './secrets.ts';

/** The start has to stop. The message is one line with the problem and what to do. */
export class StartError extends Error {
  override name = 'StartError';
}

/** The time that a command waits for a starting service, which may have to create or recover its database first. */
const COMMAND_PATIENCE_MS = 60_000;
const COMMAND_PAUSE_MS = 100;
/** SQL states of a database that is not ready: no such database, role or table yet, starting up, shutting down. */
const UNDER_WAY = new Set(['3D000', '28000', '42P01', '57P01', '57P03']);

export interface OpenedDatabase extends Database {
  /** Stops the embedded PostgreSQL if this process started it, and unlocks the data directory. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /**
   * `service` locks the data directory. `command` works beside a running service, and starts the embedded PostgreSQL
   * for the time of the command if none is running.
   */
  as: 'service' | 'command';
  log: Logger;
  signal?: AbortSignal;
  /** Overrides of the settings of an embedded PostgreSQL that is started here. */
  settings?: Readonly<Record<string, string>>;
}

/** Makes sure there is a migrated database: the server of `DATABASE_URL`, or the embedded one. */
export async function openDatabase(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  return config.database_url === null ? openEmbedded(config, options) : openServer(config, options);
}

/** Returns the directory in which this node keeps its copies of checkpoints, with either kind of database. */
function checkpointDir(config: Pick<Config, 'data_dir'>): string {
  return join(config.data_dir, 'checkpoints');
}

async function openServer(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const address = { url: config.database_url as string };
  const secrets = secretsOf(config, config.secret_key as Buffer);
  await checkServer(address, config);
  const guarded =
    options.as === 'service'
      ? await migrated(address, secrets, options.log)
      : await checked(address, secrets);
  return { address, ...secrets, ...guarded, checkpoint_dir: checkpointDir(config), close: async () => {} };
}

/**
 * Opens the embedded database. A command waits while a service or another command is starting or stopping. The directory is then locked and no PostgreSQL runs
 * in it. Soon after, either PostgreSQL is running or the directory is unlocked.
 */
async function openEmbedded(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const deadline_ms = performance.now() + (options.as === 'command' ? COMMAND_PATIENCE_MS : 0);
  for (;;) {
    try {
      return await openEmbeddedNow(config, options);
    } catch (error) {
      if (performance.now() > deadline_ms || !isUnderWay(error)) throw error;
    }
    await wait(COMMAND_PAUSE_MS);
  }
}

/** Returns whether another process is just opening, setting up, migrating or closing the directory. */
function isUnderWay(error: unknown): boolean {
  if (error instanceof DataDirectoryInUse || error instanceof MigrationError) return true;
  const cause = error instanceof StartError ? error.cause : error;
  return UNDER_WAY.has(sqlState(cause) ?? '');
}

async function openEmbeddedNow(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const { data_dir } = config;
  const running = options.as === 'command' ? await findRunningEmbeddedPostgres(data_dir) : null;
  if (running !== null) {
    const secrets = secretsOf(config, config.secret_key ?? (await loadSecretKey(data_dir)));
    return {
      address: running,
      ...secrets,
      ...(await checked(running, secrets)),
      checkpoint_dir: checkpointDir(config),
      close: async () => {},
    };
  }
  const directory = await openDataDirectory(data_dir);
  let postgres: EmbeddedPostgres | undefined;
  const close = async () => {
    await postgres?.stop();
    directory.release();
  };
  try {
    // The key is read first. An existing database is useless without it and must not be touched.
    const secrets = secretsOf(config, config.secret_key ?? (await loadSecretKey(data_dir)));
    postgres = await startEmbeddedPostgres({
      data_dir: directory.dir,
      log: options.log,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.settings === undefined ? {} : { settings: options.settings }),
    });
    const address = postgres.connection;
    const opened = await migrated(address, secrets, options.log);
    return { address, ...secrets, ...opened, checkpoint_dir: checkpointDir(config), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Cause and cure of a failed connection, by SQLSTATE or error code; other errors are reported unchanged. */
const CONNECTION_PROBLEMS: readonly [RegExp, string, string][] = [
  [/^28/, 'refused this user', 'check the user and its password in the URL, and pg_hba.conf'],
  [/^3D000$/, 'does not exist', 'create it, or give another one in the URL'],
  [/^53300$/, 'has no free connection', 'raise max_connections; each of SERVE_PROCESSES opens up to 36'],
  [/^57P03$/, 'is starting up or shutting down', 'start again once it is ready'],
  [
    /^(DEPTH_ZERO|SELF_SIGNED|CERT_|UNABLE_TO|ERR_TLS|EPROTO)/,
    'has a certificate that is not accepted',
    'check sslmode and sslrootcert in the URL',
  ],
  [/^E[A-Z]+$/, 'cannot be reached', 'check that the server runs and that the URL names it'],
];

/** Throws StartError unless the database lets this user in, with connections that are sessions of their own. */
export async function checkServer(
  address: DatabaseAddress,
  { allow_untested_engine }: Pick<Config, 'allow_untested_engine'> = { allow_untested_engine: false },
): Promise<void> {
  try {
    const untested = allow_untested_engine ? null : await findUntestedEngine(address);
    if (untested !== null)
      throw new NoSessionError(
        `DATABASE_URL: ${untested} is not tested and not supported; use PostgreSQL 15 or newer, or Citus, or set ALLOW_UNTESTED_ENGINE=true to try it.`,
      );
    await checkSessions(address);
  } catch (error) {
    if (error instanceof NoSessionError) throw new StartError(error.message, { cause: error });
    const { message, code = '' } = error as { message?: string; code?: string };
    const is_silent = /timeout|terminated/i.test(message ?? '');
    const known = CONNECTION_PROBLEMS.find(
      ([codes]) => codes.test(code) || (is_silent && codes.test('ETIMEDOUT')),
    );
    const [, problem, cure] = known ?? ['', 'refused the connection', 'see the reason in brackets'];
    throw new StartError(
      `DATABASE_URL: the database ${problem} (${message || code || 'no answer'}); ${cure}.`,
      {
        cause: error,
      },
    );
  }
}

/** The secret keys of this process. */
type SecretKeys = Required<Pick<Database, 'secret_key' | 'old_secret_keys'>>;
/** Facts found when opening a database. */
type Opened = Required<Pick<Database, 'guarded' | 'retired_keys'>>;

function secretsOf(config: Config, secret_key: Buffer): SecretKeys {
  const is_old = config.secret_keys_old.some((old) => old.equals(secret_key));
  if (is_old) throw new StartError('SECRET_KEYS_OLD contains the current secret key; give only the others.');
  return { secret_key, old_secret_keys: config.secret_keys_old };
}

/** The keys that signed checkpoints before, of which the database keeps what one of ours vouches for. */
function retiredKeys(
  installation: Installation,
  { verifyingKeys }: Pick<Secrets, 'verifyingKeys'>,
): VerifyingKey[] {
  return openRetiredKeys(installation.retired_keys, verifyingKeys);
}

async function migrated(
  address: DatabaseAddress,
  { secret_key, old_secret_keys }: SecretKeys,
  log: Logger,
): Promise<Opened> {
  const secrets = deriveSecrets(secret_key, { old: old_secret_keys });
  const { applied, newer, guarded, installation } = await migrate(address, secrets.installationChecks);
  if (applied.length > 0) log.info({ applied }, 'the schema was migrated');
  if (newer !== null) {
    log.warn(
      { schema: newer, known: LATEST_MIGRATION },
      'the schema is newer than this version, which still works with it; update this node soon',
    );
  }
  if (!guarded) {
    log.warn(
      'the database user may not create roles, so history is not guarded by a separate role; see docs/guides/operating.md',
    );
  }
  if (installation?.secret_check.equals(secrets.installationChecks[0]) === false) {
    log.info('SECRET_KEY is not yet the key of this installation; run rotate-secrets once every node has it');
  }
  return { guarded, retired_keys: installation === null ? [] : retiredKeys(installation, secrets) };
}

/** Checks the schema for a command, which never migrates. Only the start of the service and `migrate` do. */
async function checked(
  address: DatabaseAddress,
  { secret_key, old_secret_keys }: SecretKeys,
): Promise<Opened> {
  const secrets = deriveSecrets(secret_key, { old: old_secret_keys });
  const client = await connectOnce(address);
  try {
    await checkReady(client);
    const installation = await readInstallation(client);
    if (installation !== null) checkSecret(installation, secrets.installationChecks);
    return {
      guarded: await canWorkAs(client, SERVICE_ROLE),
      retired_keys: installation === null ? [] : retiredKeys(installation, secrets),
    };
  } catch (error) {
    if ((error as { code?: string }).code === '42P01') {
      throw new StartError(
        'The database has no schema yet; start the service once, or run `npm run purser -- migrate`.',
        { cause: error },
      );
    }
    throw error;
  } finally {
    await client.end();
  }
}
