import { access, chown, cp, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { backUpCluster, type PostgresConnection } from '@purser/embedded-postgres';
import { StartError } from './open-database.ts';

/** Files of a data directory to copy beside the database. Locks and sockets belong to the running service. */
const BESIDE = ['secret-key', 'checkpoints'] as const;

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Copies the data directory of a running embedded database into a new directory below `directory`, and returns its path.
 * The copy is a data directory itself. It holds everything that was committed when this resolves, and the secret key.
 */
export async function backUpDataDirectory(
  address: PostgresConnection,
  data_dir: string,
  directory: string,
  now: Date,
): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new StartError(`${directory}: must be a directory that can be made or written: ${error.message}.`);
  });
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const name = join(directory, `purser-${stamp}`);
  const part = `${name}.part`;
  // Made by one backup alone, so none is moved into another.
  await mkdir(part, { mode: 0o700 }).catch((error: { code?: string; message: string }) => {
    throw new StartError(
      `${part}: ${error.code === 'EEXIST' ? 'another backup is in progress' : error.message}.`,
    );
  });
  try {
    if (await exists(name)) throw new StartError(`${name}: a backup was just made.`);
    const { uid, gid } = await stat(data_dir);
    await chown(part, uid, gid).catch(() => {});
    // Of the checkpoints first: what they sign is then in the database.
    for (const each of BESIDE) {
      const source = join(data_dir, each);
      if (await exists(source))
        await cp(source, join(part, each), { recursive: true, preserveTimestamps: true });
    }
    await backUpCluster(address, join(data_dir, 'postgres'), join(part, 'postgres'));
    await rename(part, name);
    return name;
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw error;
  }
}
