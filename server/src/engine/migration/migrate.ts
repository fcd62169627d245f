import type pg from 'pg';
import {
  canWorkAs,
  connectOnce,
  type DatabaseAddress,
  type Queryable,
  SERVICE_ROLE,
  sqlState,
} from '../storage/database.ts';
import { type Installation, rememberSecret } from './installation.ts';
import { placeNewTables } from './placement.ts';
import { refoldStates } from './refold-states.ts';
import {
  MIGRATIONS,
  MigrationError,
  type RunMigrationsOptions,
  readSchemaStatus,
  runMigrations,
} from './run-migrations.ts';

export { MigrationError } from './run-migrations.ts';

/** The number of the advisory lock that nodes take while they migrate. */
export const MIGRATION_LOCK = 7_291_664_301;
const OLDEST_POSTGRESQL = 150_000;
const ROLE_ATTEMPTS = 5;
const ROLE_RETRY_MS = 50;
const INSUFFICIENT_PRIVILEGE = '42501';
const READ_ONLY = '25006';

/** Tables of history and of permanent notes. Their rows can be added and read, never changed. */
const APPEND_ONLY = [
  'ledger_events',
  'audit_records',
  'authorities',
  'decisions',
  'idempotency_keys',
  'reviews',
  'labels',
  'notes',
  'outcomes',
  'consumptions',
  'consumption_keys',
  'expired_reservations',
  'skipped_events',
  'search_texts',
  'question_events',
  'review_policies',
  'imports',
  'lines',
  'instrument_assignments',
  'line_resolutions',
  'unmatched_lines',
  'allowance_labels',
  'allowance_decisions',
  'rail_authorizations',
] as const;
const CHANGEABLE = [
  'workspaces',
  'ledger_heads',
  'agents',
  'api_keys',
  'api_key_uses',
  'decision_states',
  'budgets',
  'counters',
  'feedback',
  'decision_lessons',
  'feedback_watermarks',
  'report_counters',
  'report_counted',
  'report_watermarks',
  'search_watermarks',
  'coverage_watermarks',
  'asked_spends',
  'line_matches',
  'model_usage',
  'last_verifications',
  'webhook_endpoints',
  'webhook_deliveries',
  'webhook_queues',
  'channels',
  'channel_health',
  'notices',
  'notice_bursts',
  'users',
  'user_identities',
  'user_passkeys',
  'sessions',
  'sign_ins',
  'members',
  'invitations',
  'merchant_entries',
  'shared_budgets',
  'allowances',
  'allowance_issuers',
  'limit_alerts',
  'signing_keys',
  'decision_links',
  'slack_links',
  'slack_codes',
  'slack_connections',
  'known_merchants',
  'known_merchants_to_fill',
  'questions',
  'emails',
  'notification_settings',
  'digests',
  'import_progress',
  'import_problems',
  'sample_clocks',
  'rails',
  'rail_health',
] as const;
/** Tables whose rows are deleted once they are settled, obsolete or past their retention. */
const REMOVABLE = [
  // Small ones are joined.
  'search_groups',
  'api_key_digests',
  'expiring_holds',
  'counters',
  'checkpoints',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
  'webhook_queues',
  'webhook_attempts',
  'channels',
  'channel_health',
  'notices',
  'user_passkeys',
  'passkey_challenges',
  'used_oidc_states',
  'sessions',
  'sign_ins',
  'setup_codes',
  'emails',
  'slack_codes',
  'slack_connections',
  'known_merchants_to_fill',
  // Deleted with their import.
  'imports',
  'import_progress',
  'import_problems',
  'lines',
  // Derived; deleted with their lines.
  'line_matches',
  'sample_clocks',
  'rails',
  'rail_health',
] as const;

export interface Migrated {
  /** The names of the migrations that were applied now. */
  applied: string[];
  /** The version of a schema that is newer than this build but compatible with it; null if it is not newer. */
  newer: number | null;
  /** True if the service's own role protects history; false if the role could not be created. */
  guarded: boolean;
  /** Null if no `secret_checks` were given. */
  installation: Installation | null;
}

/**
 * Brings the schema up to date, only once however many nodes start at the same time, and grants the service's role the
 * rights that it needs: it can add to history but neither change nor remove it. `secret_checks` are the values derived
 * from the secret keys, the current one first; the database must know one of them. Throws MigrationError if the
 * database cannot be used, also if its schema is too new for this build.
 */
export async function migrate(
  address: DatabaseAddress,
  secret_checks?: readonly [Buffer, ...Buffer[]],
  options: RunMigrationsOptions = {},
): Promise<Migrated> {
  const client = await connectOnce(address);
  try {
    const version = await client.query<{ server_version_num: string }>('show server_version_num');
    if (Number(version.rows[0]?.server_version_num) < OLDEST_POSTGRESQL) {
      throw new MigrationError('the database server is older than PostgreSQL 15; use 15 or newer');
    }
    const encoding = await client.query<{ server_encoding: string }>('show server_encoding');
    if (encoding.rows[0]?.server_encoding !== 'UTF8') {
      throw new MigrationError(
        `the database encoding is ${encoding.rows[0]?.server_encoding}; use a database with encoding UTF8`,
      );
    }
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const { applied, status } = await runMigrations(client, options);
    if (!status.is_newer) await placeNewTables(client);
    if (!status.is_newer) await refoldStates(client);
    const installation = secret_checks === undefined ? null : await rememberSecret(client, secret_checks[0]);
    if (installation !== null) checkSecret(installation, secret_checks ?? []);
    const guarded = await guardHistory(client);
    return { applied, newer: status.is_newer ? status.version : null, guarded, installation };
  } catch (error) {
    const refused = error instanceof MigrationError ? error.cause : error;
    if (sqlState(refused) !== INSUFFICIENT_PRIVILEGE && sqlState(refused) !== READ_ONLY) throw error;
    throw new MigrationError(
      `the schema could not be migrated (${(refused as Error).message}); use a writable database and a user that owns it`,
      { cause: error },
    );
  } finally {
    // Ending the session also releases the advisory lock.
    await client.end();
  }
}

/** Throws MigrationError if the current secret key of the database is none of those that these values belong to. */
export function checkSecret(installation: Installation, secret_checks: readonly Buffer[]): void {
  if (secret_checks.some((check) => installation.secret_check.equals(check))) return;
  throw new MigrationError(
    'SECRET_KEY is not the key that this database was set up with, so none of its API keys would work; use that key, or give it in SECRET_KEYS_OLD and run `npm run purser -- rotate-secrets`',
  );
}

/** Throws MigrationError unless the database takes writes and its schema is compatible with this build. */
export async function checkReady(db: Queryable): Promise<void> {
  const found = await db.query<{ standby: boolean }>({ text: 'select pg_is_in_recovery() as standby' });
  if (found.rows[0]?.standby !== false) {
    throw new MigrationError('the database is a standby and does not accept writes');
  }
  const { version, refusal } = await readSchemaStatus(db);
  if (refusal !== null) throw new MigrationError(refusal);
  if (version < LATEST_MIGRATION) {
    throw new MigrationError('the schema is not up to date; run `npm run purser -- migrate`');
  }
}

/** The newest migration of this build. */
export const LATEST_MIGRATION = MIGRATIONS.at(-1)?.version ?? 0;

/**
 * Creates the service's role and lets this user take it. Returns false if this user lacks the privilege. Roles belong to
 * the whole server, so the migration of another database may do the same concurrently; a failure is therefore retried.
 */
async function takeServiceRole(client: pg.Client): Promise<boolean> {
  for (let attempt = 1; attempt <= ROLE_ATTEMPTS; attempt++) {
    try {
      const role = await client.query('select 1 from pg_roles where rolname = $1', [SERVICE_ROLE]);
      if (role.rowCount === 0) await client.query(`create role ${SERVICE_ROLE} nologin`);
      if (await canWorkAs(client, SERVICE_ROLE)) return true;
      await client.query(`grant ${SERVICE_ROLE} to current_user`);
      if (await canWorkAs(client, SERVICE_ROLE)) return true;
    } catch (error) {
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return false;
    }
    await new Promise((wait) => setTimeout(wait, ROLE_RETRY_MS * attempt));
  }
  return false;
}

async function guardHistory(client: pg.Client): Promise<boolean> {
  if (!(await takeServiceRole(client))) return false;
  await client.query(
    [
      `grant usage on schema public to ${SERVICE_ROLE}`,
      `grant select on schema_migrations, installation to ${SERVICE_ROLE}`,
      `grant update (clock_confirmed_at) on installation to ${SERVICE_ROLE}`,
      `grant select, insert on ${APPEND_ONLY.join(', ')} to ${SERVICE_ROLE}`,
      `grant select, insert, update on ${CHANGEABLE.join(', ')} to ${SERVICE_ROLE}`,
      `grant select, insert, delete on ${REMOVABLE.join(', ')} to ${SERVICE_ROLE}`,
    ].join('; '),
  );
  return true;
}
