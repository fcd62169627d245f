import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Database } from './app.ts';
import type { Config } from './config.ts';
import { type DataDirectory, loadSecretKey, openDataDirectory } from './storage/data-directory.ts';
import { canWorkAs, connectOnce, type DatabaseAddress, SERVICE_ROLE } from './storage/database.ts';
import {
  type EmbeddedPostgres,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
} from './storage/embedded-postgres.ts';
import { checkReady, migrate } from './storage/migrate.ts';

/** The start cannot go on; the message says what is wrong and what to do, in one line. */
export class StartError extends Error {
  override name = 'StartError';
}

export interface OpenedDatabase extends Database {
  /** Stops the embedded PostgreSQL if this process started it, and gives the data directory back. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /**
   * `service` keeps the data directory for itself. `command` works beside a running service, and starts the
   * embedded PostgreSQL for its own time when none runs.
   */
  as: 'service' | 'command';
  log: Logger;
  onWait?: (message: string) => void;
  signal?: AbortSignal;
}

/** Makes sure there is a migrated database: the server of `DATABASE_URL`, or the embedded one. */
export async function openDatabase(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  return config.database_url === null ? openEmbedded(config, options) : openServer(config, options);
}

/** Where this node keeps its copies of checkpoints, whichever the database is. */
export function checkpointDir(config: Pick<Config, 'data_dir'>): string {
  return join(config.data_dir, 'checkpoints');
}

async function openServer(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const address = { url: config.database_url as string };
  const secret_key = config.secret_key as Buffer;
  await checkReachable(address);
  const guarded = options.as === 'service' ? await migrated(address, options.log) : await checked(address);
  return { address, secret_key, guarded, checkpoint_dir: checkpointDir(config), close: async () => {} };
}

async function openEmbedded(config: Config, options: OpenOptions): Promise<OpenedDatabase> {
  const { data_dir } = config;
  const running = options.as === 'command' ? await findRunningEmbeddedPostgres(data_dir) : null;
  if (running !== null) {
    const secret_key = config.secret_key ?? (await loadSecretKey(data_dir));
    return {
      address: running,
      secret_key,
      guarded: await checked(running),
      checkpoint_dir: checkpointDir(config),
      close: async () => {},
    };
  }
  const directory: DataDirectory = await openDataDirectory(data_dir, {
    lock: 'exclusive',
    ...(options.onWait === undefined ? {} : { onWait: options.onWait }),
    onLockLost: () => options.log.error({ data_dir }, 'the lock file of the data directory was removed'),
  });
  let postgres: EmbeddedPostgres | undefined;
  const close = async () => {
    await postgres?.stop();
    await directory.release();
  };
  try {
    // The key comes first: without it an existing database is of no use and must not be touched.
    const secret_key = config.secret_key ?? (await loadSecretKey(data_dir));
    postgres = await startEmbeddedPostgres({
      data_dir: directory.dir,
      log: options.log,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const address = postgres.connection;
    const guarded = await migrated(address, options.log);
    return { address, secret_key, guarded, checkpoint_dir: checkpointDir(config), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function checkReachable(address: DatabaseAddress): Promise<void> {
  try {
    await (await connectOnce(address)).end();
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string };
    throw new StartError(
      `DATABASE_URL: the database cannot be reached (${message || code || 'no answer'}); check that the server runs and that the URL names it.`,
    );
  }
}

async function migrated(address: DatabaseAddress, log: Logger): Promise<boolean> {
  const { applied, guarded } = await migrate(address);
  if (applied.length > 0) log.info({ applied }, 'the schema was brought up to date');
  if (!guarded) {
    log.warn(
      'the database user may not create roles, so history is not guarded by a role of its own; see docs/guides/operating.md',
    );
  }
  return guarded;
}

/** A command changes no schema: the service's start does, or `migrate`. */
async function checked(address: DatabaseAddress): Promise<boolean> {
  const client = await connectOnce(address);
  try {
    await checkReady(client);
    return await canWorkAs(client, SERVICE_ROLE);
  } catch (error) {
    if ((error as { code?: string }).code === '42P01') {
      throw new StartError(
        'The database has no schema yet; start the service once, or run `npm run purser -- migrate`.',
      );
    }
    throw error;
  } finally {
    await client.end();
  }
}
