import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SYSTEM } from '@purser/rules/domain/audit';
import { keyStatus } from '@purser/rules/domain/keys';
import { createApiKey } from '../../engine/commands/create-api-key.ts';
import { findKeys } from '../../engine/storage/api-keys.ts';
import { listWorkspaces } from '../../engine/storage/workspaces.ts';
import { DataDirectoryError, makeSecretFile } from '../installation/data-directory.ts';
import { StartError } from '../installation/open-database.ts';
import { type Core, newKey } from '../installation/runtime.ts';
import { keyHint } from '../installation/secrets.ts';

const FILE = 'gateway-key';

async function readOrMake(data_dir: string): Promise<string> {
  await makeSecretFile(data_dir, FILE, newKey());
  const file = join(data_dir, FILE);
  const key = (await readFile(file, 'utf8')).trim();
  if (/^sk_[0-9A-Za-z]{38}$/.test(key)) return key;
  throw new DataDirectoryError(
    `The gateway's key ${file} is damaged. Remove the file for a new key, or set PURSER_ADAPTER_KEY.`,
  );
}

/** The only workspace, but for samples. Throws `StartError` if there are more. */
async function onlyWorkspace({ db }: Core): Promise<string> {
  const [first, ...others] = (await listWorkspaces(db)).filter(({ sample }) => !sample);
  if (first !== undefined && others.length === 0) return first.workspace_id;
  throw new StartError(
    'PURSER_ADAPTER_KEY is unset, but must be a key with the scope consume when GATEWAY_PORT is set and there is more than one workspace.',
  );
}

/**
 * Returns the key with which a gateway beside the service consumes leases: that of the data directory. The file is made first,
 * then the key in the only workspace, recorded as made by the system, so that a start that was cut off is finished by the next
 * one. Throws `StartError` if the key was revoked, or if there is more than one workspace.
 */
export async function gatewayKey(core: Core, data_dir: string): Promise<string> {
  const value = await readOrMake(data_dir);
  const [stored, ...old] = core.secrets.keyDigests(value);
  const [found] = await findKeys(
    core.keys_db,
    [stored, ...old].map(({ digest }) => digest),
  );
  if (found !== undefined && 'error' in found) throw found.error;
  if (found !== undefined && keyStatus(found, found.clock_ms) === 'active') return value;
  if (found !== undefined)
    throw new StartError(
      `PURSER_ADAPTER_KEY is unset, and the gateway's own key in ${join(data_dir, FILE)} was revoked. Remove the file for a new key, or set PURSER_ADAPTER_KEY.`,
    );
  await core.lane.submit(
    await onlyWorkspace(core),
    createApiKey,
    {
      name: 'Gateway beside the service',
      agent: null,
      bound_to: [],
      scopes: ['consume'],
      principal_id: null,
      acting_principal: null,
      expires_in_seconds: null,
      ...stored,
      hint: keyHint(value),
    },
    { actor: SYSTEM, request_id: null, client_address: null },
  );
  return value;
}
