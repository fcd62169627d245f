export { backUpCluster } from './backup.ts';
export { locatePostgresBinaries } from './binaries.ts';
export { lockCluster, prepareCluster, prepareSocketDirectory, writeAccess } from './cluster.ts';
export { EmbeddedPostgresError } from './error.ts';
export { type FileLock, FileLockError, tryLock } from './file-lock.ts';
export { type GuardedProcess, spawnGuarded } from './guarded-process.ts';
export {
  answersFor,
  PORT,
  type PostgresConnection,
  readPostmasterFile,
  removeLeftLockFiles,
  SUPERUSER,
  withClient,
} from './postmaster-file.ts';
export {
  type EmbeddedPostgres,
  findRunningEmbeddedPostgres,
  startEmbeddedPostgres,
  untilPostgresIsGone,
} from './server.ts';
export { makePostgresRunner, type PostgresRunner } from './system-user.ts';
