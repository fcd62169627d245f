import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SYSTEM } from '@purser/rules/domain/audit';
import { ApiError } from '@purser/rules/errors';
import { type DatabaseAddress, exclusively } from '../../engine/storage/database.ts';
import { listWorkspaces } from '../../engine/storage/workspaces.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { addWorkspace, type Core } from '../installation/runtime.ts';
import type { PeopleServices } from './make-people.ts';
import { passwordProblem } from './passwords.ts';
import { formatSetupCode, SETUP_CODE_BYTES, saveSetupCode } from './setup-code.ts';
import { hasPeople } from './user-rows.ts';

/** The advisory lock under which one of several starting nodes makes the first workspace. */
const BOOTSTRAP_LOCK = 7_291_664_302;

/**
 * Makes the first workspace if there is none; otherwise returns undefined. If several nodes start at once, one of them
 * makes it, and it exists when this resolves.
 */
export async function bootstrap(
  core: Core,
  address: DatabaseAddress,
  config: Config,
): Promise<{ admin_key: string } | undefined> {
  const isThere = async () => (await listWorkspaces(core.db)).length > 0;
  if (await isThere()) return undefined;
  return exclusively(address, BOOTSTRAP_LOCK, async () => {
    if (await isThere()) return undefined;
    const given = config.bootstrap_admin_key;
    return addWorkspace(core, {
      name: 'First workspace',
      plan: config.bootstrap_plan,
      trial_days: null,
      by: 'system',
      ...(given === null ? {} : { admin_key: given }),
    });
  });
}

/**
 * While there is nobody: makes the first person of the settings and returns null, or returns the code that makes one.
 * Throws `ConfigError` if the settings' password cannot be read or may not be chosen.
 */
export async function prepareFirstPerson(
  core: Core,
  { flows }: PeopleServices,
  config: Config,
): Promise<string | null> {
  const { bootstrap_admin_email: email, bootstrap_admin_password_file: file } = config;
  if (await hasPeople(core.db)) return null;
  if (email === null || file === null) {
    const code = formatSetupCode(randomBytes(SETUP_CODE_BYTES));
    await saveSetupCode(core.db, code, core.secrets.macs('setup-code')[0]);
    return code;
  }
  const name = email.split('@')[0] as string;
  const password = await readFile(file, 'utf8').then(
    (text) => text.replace(/\r?\n$/, ''),
    (error: NodeJS.ErrnoException) => {
      throw new ConfigError(`BOOTSTRAP_ADMIN_PASSWORD_FILE ${file} cannot be read (${error.code}).`);
    },
  );
  const problem = passwordProblem(password, { email, name });
  if (problem !== null) {
    throw new ConfigError(`BOOTSTRAP_ADMIN_PASSWORD_FILE ${file} has a password that ${problem}.`);
  }
  const origin = { actor: SYSTEM, request_id: null, client_address: null };
  await flows.makeFirst({ email, name, password }, origin, 'bootstrap').catch((error: unknown) => {
    // Another node was faster.
    if (!(error instanceof ApiError && error.code === 'already_set_up')) throw error;
  });
  return null;
}
