import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { VERSION } from '../../version.ts';
import type { Queryable } from '../storage/database.ts';
import { isHeld, whileHeld } from './held-tables.ts';

/** Thrown when the database cannot be used as it is; the message says why and what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** One file of `migrations/`. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
  /** The MD5 of the file in hexadecimal, which its record in the database must equal. */
  md5: string;
  /** The newest migration of the oldest build that still works on the schema after this one. */
  compatible_with: number;
}

const MIGRATIONS_DIR = fileURLToPath(new URL('../../../migrations/', import.meta.url));
const FILE_NAME = /^(\d{3})\.do\.([a-z0-9-]+)\.sql$/;
const COMPATIBLE_WITH = /^-- compatible-with: (\d+)$/m;

/** Reads a migration file. If it declares no compatibility, no older build is compatible with the schema after it. */
function readMigration(file: string): Migration {
  const [, version, name] = FILE_NAME.exec(file) ?? [];
  if (version === undefined || name === undefined)
    throw new Error(`migrations/${file} is not named NNN.do.name.sql`);
  const sql = readFileSync(`${MIGRATIONS_DIR}${file}`, 'utf8');
  return {
    version: Number(version),
    name,
    sql,
    md5: createHash('md5').update(sql).digest('hex'),
    compatible_with: Number(COMPATIBLE_WITH.exec(sql)?.[1] ?? version),
  };
}

/** The migrations of this build, in order. */
export const MIGRATIONS: readonly Migration[] = readdirSync(MIGRATIONS_DIR)
  .map(readMigration)
  .sort((a, b) => a.version - b.version);

/** A row of `schema_migrations`. Early installations lack the last two columns. */
interface AppliedMigration {
  version: number;
  name: string | null;
  md5: string | null;
  compatible_with?: number | null;
  applied_by?: string | null;
}

/** The compatibility of a schema with a build. */
export interface SchemaStatus {
  /** The newest migration that was applied; 0 when there is none. */
  version: number;
  /** True if it has migrations that this build does not know. */
  is_newer: boolean;
  /** The reason why this build must not work on the schema; null if it may. */
  refusal: string | null;
}

function schemaStatus(applied: readonly AppliedMigration[], known: readonly Migration[]): SchemaStatus {
  const latest = known.at(-1)?.version ?? 0;
  const version = Math.max(0, ...applied.map((row) => row.version));
  const beyond = applied.filter((row) => row.version > latest);
  // If a record names no compatible version, no older build works with its migration.
  const needed = Math.max(0, ...beyond.map((row) => row.compatible_with ?? row.version));
  const is_newer = version > latest;
  if (needed <= latest) return { version, is_newer, refusal: null };
  const maker = applied.find((row) => row.version === needed)?.applied_by;
  return {
    version,
    is_newer,
    refusal: `the schema is at migration ${version} and needs a build with migration ${needed}, but this one (${VERSION}) ends at ${latest}; start ${maker == null ? 'the newer version that migrated it' : `version ${maker} or newer`}`,
  };
}

async function listApplied(db: Queryable): Promise<AppliedMigration[]> {
  // JSON reads the table whichever columns it has.
  const text = 'select to_jsonb(m) as row from schema_migrations m order by version';
  const found = await db.query<{ row: AppliedMigration }>({ text });
  return found.rows.map(({ row }) => row);
}

/** Returns whether the schema is compatible with this build. Throws if there is no table of migrations. */
export async function readSchemaStatus(db: Queryable): Promise<SchemaStatus> {
  return schemaStatus(await listApplied(db), MIGRATIONS);
}

/** Throws MigrationError if an applied migration differs from the file of this build. */
function checkRecords(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  for (const row of applied) {
    const file = known.find((each) => each.version === row.version);
    if (file === undefined || file.md5 === row.md5) continue;
    throw new MigrationError(
      `migration ${row.version} (${file.name}) of this build differs from the one applied to the database; use a build with unedited migrations`,
    );
  }
}

export interface RunMigrationsOptions {
  /** The migrations to apply, in order; those of this build when left out. */
  migrations?: readonly Migration[];
  /** How long a migration waits for a table lock; meanwhile other transactions queue behind it. */
  lock_timeout_ms?: number;
  /** How often a migration that does not get its locks is tried, and the pause between the tries. */
  tries?: number;
  pause_ms?: number;
}

const LOCK_TIMEOUT_MS = 1_000;
const TRIES = 60;
const PAUSE_MS = 1_000;
/** A table, column, index, schema, function or other object with the name exists already. */
const EXISTS_ALREADY = /^(42P0[67]|42701|42710|42723)$/;

/** Creates the table of migrations, or adds the columns that an early installation lacks. */
const RECORD_TABLE = `create table if not exists schema_migrations (
    version bigint primary key, name text, md5 text, run_at timestamptz);
  alter table schema_migrations
    add column if not exists compatible_with integer, add column if not exists applied_by text`;

/** Applies one migration and inserts its record in one transaction, so that both are committed or neither is. */
async function applyMigration(
  client: pg.Client,
  migration: Migration,
  has_record_table: boolean,
  lock_timeout_ms: number,
): Promise<void> {
  const { version, name, md5, compatible_with, sql } = migration;
  await client.query(`begin; set local lock_timeout = ${Math.round(lock_timeout_ms)}`);
  try {
    await client.query(sql);
    if (!has_record_table) await client.query(RECORD_TABLE);
    await client.query({
      text: `insert into schema_migrations (version, name, md5, run_at, compatible_with, applied_by)
        values ($1, $2, $3, now(), $4, $5)`,
      values: [version, name, md5, compatible_with, VERSION],
    });
    await client.query('commit');
  } catch (error) {
    // If the connection is lost, the server rolls back by itself.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

function describeFailure({ version, name, md5 }: Migration, error: pg.DatabaseError): MigrationError {
  const what = `migration ${version} (${name}) failed (${error.message}) and was rolled back`;
  const advice = isHeld(error)
    ? 'end the long transactions that hold its tables, and start again'
    : EXISTS_ALREADY.test(error.code ?? '')
      ? `if an earlier version was ended after this migration and before its record, all of it is there already: record it with "insert into schema_migrations (version, name, md5, run_at) values (${version}, '${name}', '${md5}', now())" and start again`
      : 'start again once the cause is fixed';
  return new MigrationError(`${what}; ${advice}`, { cause: error });
}

/**
 * Applies the missing migrations, each with its record in a transaction of its own, and returns the names of those
 * applied. The caller must ensure that only one process runs this at a time. Throws MigrationError if a migration fails
 * or was edited, or if the schema is too new for this build; a connection failure is rethrown unchanged.
 */
export async function runMigrations(
  client: pg.Client,
  options: RunMigrationsOptions = {},
): Promise<{ applied: string[]; status: SchemaStatus }> {
  const {
    migrations = MIGRATIONS,
    lock_timeout_ms = LOCK_TIMEOUT_MS,
    tries = TRIES,
    pause_ms = PAUSE_MS,
  } = options;
  const found = await client.query("select to_regclass('schema_migrations') is not null as is_there");
  const before = found.rows[0]?.is_there === true ? await listApplied(client) : [];
  checkRecords(before, migrations);
  const status = schemaStatus(before, migrations);
  if (status.refusal !== null) throw new MigrationError(status.refusal);
  let has_record_table = before.some((row) => row.applied_by !== undefined);
  const recorded = new Set(before.map((row) => row.version));
  const applied: string[] = [];
  for (const migration of migrations.filter((each) => !recorded.has(each.version))) {
    try {
      await whileHeld({ tries, pause_ms }, () =>
        applyMigration(client, migration, has_record_table, lock_timeout_ms),
      );
    } catch (error) {
      throw error instanceof pg.DatabaseError ? describeFailure(migration, error) : error;
    }
    has_record_table = true;
    applied.push(migration.name);
  }
  return { applied, status };
}
