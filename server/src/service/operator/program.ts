import { EmbeddedPostgresError } from '@purser/embedded-postgres';
import { ApiError } from '@purser/rules/errors';
import { MigrationError } from '../../engine/migration/migrate.ts';
import { ConfigError } from '../config/config.ts';
import { DataDirectoryError } from '../installation/data-directory.ts';
import { StartError } from '../installation/open-database.ts';
import { type Log, makeLog } from '../observability/log.ts';

const LOG_FLUSH_MS = 500;

/** The program's log: flushed twice a second, and by `end` or the process's exit. */
export function startLog(level: string, stream: NodeJS.WriteStream): Log {
  const started = makeLog(level, stream, Date.now);
  setInterval(started.flush, LOG_FLUSH_MS).unref();
  process.once('exit', started.flush);
  return started;
}

/** Errors whose message is all that the operator needs. Any other error is a bug and is shown with its stack. */
export function tell(error: unknown): string {
  if (
    error instanceof ConfigError ||
    error instanceof StartError ||
    error instanceof DataDirectoryError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof MigrationError ||
    error instanceof ApiError
  ) {
    return error.message;
  }
  const { code, address, hostname, port } = error as {
    code?: string;
    address?: string;
    hostname?: string;
    port?: number;
  };
  if (code === 'EADDRINUSE')
    return `PORT: ${address}:${port} is in use; stop the program that listens there, or set PORT to another port.`;
  if (code === 'EACCES' && port !== undefined)
    return `PORT: this user may not listen on ${address}:${port}; set PORT to 1024 or higher.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `HOST: ${address ?? hostname} is not an address of this machine.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Tells the operator why and ends the program with 1. */
export function fail(error: unknown): never {
  process.stderr.write(`purser: ${tell(error)}\n`);
  process.exit(1);
}
