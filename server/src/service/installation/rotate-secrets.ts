import { randomBytes } from 'node:crypto';
import { OPERATOR, type Origin } from '@purser/rules/domain/audit';
import { openRetiredKeys, retireKey } from '@purser/rules/domain/checkpoints';
import { rewrapChannel } from '../../engine/commands/notices/rewrap-channel.ts';
import { rewrapRail } from '../../engine/commands/rails/rewrap-rail.ts';
import { rewrapWebhookSecrets } from '../../engine/commands/rewrap-webhook-secrets.ts';
import {
  listUnwrappedKeys,
  readInstallation,
  replaceSecret,
  type UnwrappedApiKey,
} from '../../engine/migration/installation.ts';
import { MigrationError } from '../../engine/migration/migrate.ts';
import { loadRailsOf } from '../../engine/rails/rail-rows.ts';
import { connectOnce, type DatabaseAddress } from '../../engine/storage/database.ts';
import { loadChannelsOf } from '../../engine/storage/notices/channels.ts';
import { loadWebhookEndpoints } from '../../engine/storage/webhooks.ts';
import { listWorkspaces, readClock } from '../../engine/storage/workspaces.ts';
import type { Core } from './runtime.ts';

/** The result of a rotation, and what still needs the old secret keys. */
export interface Rotation {
  /** True if this run made the present key that of the installation. */
  replaced: boolean;
  /** Since when it is that key. Null if there never was another. */
  since: string | null;
  webhook_secrets: { rewrapped: number; unreadable: number };
  channel_settings: { rewrapped: number; unreadable: number };
  rail_secrets: { rewrapped: number; unreadable: number };
  /** The API keys that were not used since. They are rewrapped at their next use. */
  api_keys: UnwrappedApiKey[];
  /** When the last capability that was issued before expires. Null if it has expired. */
  capabilities_until: string | null;
  /** True if nothing needs the old secret keys any more. */
  done: boolean;
}

/** Makes the present secret key that of the installation, and vouches for the keys that signed checkpoints before. */
async function replaceIn(core: Core, address: DatabaseAddress): Promise<boolean> {
  const { installationChecks, checkpointKey, verifyingKeys } = core.secrets;
  // As the owner of the tables: the service's own role may not change this row.
  const owner = await connectOnce(address);
  try {
    const found = await readInstallation(owner);
    if (found === null || found.secret_check.equals(installationChecks[0])) return false;
    const now = new Date(await readClock(owner)).toISOString();
    const retired_at = new Map(
      openRetiredKeys(found.retired_keys, verifyingKeys).map((key) => [key.key_id, key.retired_at]),
    );
    const retired_keys = verifyingKeys
      .filter(({ key_id }) => key_id !== checkpointKey.key_id)
      .map((key) => retireKey(key, retired_at.get(key.key_id) ?? now, checkpointKey));
    const change = { from: found.secret_check, to: installationChecks[0], retired_keys };
    if (await replaceSecret(owner, change)) return true;
    throw new MigrationError('another rotation of SECRET_KEY is in progress; check its result and try again');
  } finally {
    await owner.end();
  }
}

async function rewrapWebhooks(core: Core): Promise<Rotation['webhook_secrets']> {
  const { db, lane, secrets } = core;
  const origin = { actor: OPERATOR, request_id: null, client_address: null };
  const counts = { rewrapped: 0, unreadable: 0 };
  for (const { workspace_id } of await listWorkspaces(db)) {
    for (const { endpoint_id, secrets: kept } of await loadWebhookEndpoints(db, workspace_id)) {
      const sealed = new Map<string, string>();
      for (const each of kept) {
        if (secrets.isSealedNow(workspace_id, each.sealed)) continue;
        try {
          const secret = secrets.openWebhookSecret(workspace_id, each.sealed);
          sealed.set(each.sealed, secrets.sealWebhookSecret(workspace_id, secret, randomBytes(12)));
        } catch {
          counts.unreadable += 1;
        }
      }
      if (sealed.size === 0) continue;
      counts.rewrapped += await lane.submit(
        workspace_id,
        rewrapWebhookSecrets,
        { endpoint_id, sealed },
        origin,
      );
    }
  }
  return counts;
}

/** A row with a text that is encrypted for its workspace. */
interface SealedText {
  workspace_id: string;
  sealed: string;
  /** Stores the same text, encrypted again. Returns the number of rows changed. */
  store: (after: string, origin: Origin) => Promise<number>;
}

async function rewrapTexts(
  { secrets }: Core,
  texts: readonly SealedText[],
): Promise<Rotation['channel_settings']> {
  const origin = { actor: OPERATOR, request_id: null, client_address: null };
  const counts = { rewrapped: 0, unreadable: 0 };
  for (const { workspace_id, sealed, store } of texts) {
    if (secrets.isSealedNow(workspace_id, sealed)) continue;
    let text: string;
    try {
      text = secrets.openWebhookSecret(workspace_id, sealed);
    } catch {
      counts.unreadable += 1;
      continue;
    }
    counts.rewrapped += await store(secrets.sealWebhookSecret(workspace_id, text, randomBytes(12)), origin);
  }
  return counts;
}

const workspaceIds = async ({ db }: Core) =>
  (await listWorkspaces(db)).map(({ workspace_id }) => workspace_id);

async function rewrapChannels(core: Core): Promise<Rotation['channel_settings']> {
  const { db, lane } = core;
  const channels = await loadChannelsOf(db, await workspaceIds(core));
  const texts = channels.map(({ workspace_id, channel_id, sealed_settings: before }) => ({
    workspace_id,
    sealed: before,
    store: (after: string, origin: Origin) =>
      lane.submit(workspace_id, rewrapChannel, { channel_id, before, after }, origin),
  }));
  return rewrapTexts(core, texts);
}

async function rewrapRails(core: Core): Promise<Rotation['rail_secrets']> {
  const { db, lane } = core;
  const rails = await loadRailsOf(db, await workspaceIds(core));
  const texts = rails.flatMap(({ workspace_id, rail_id, sealed_secrets: before }) =>
    before === null
      ? []
      : {
          workspace_id,
          sealed: before,
          store: (after: string, origin: Origin) =>
            lane.submit(workspace_id, rewrapRail, { rail_id, before, after }, origin),
        },
  );
  return rewrapTexts(core, texts);
}

/**
 * Makes the present secret key that of the installation, encrypts the secrets of webhooks and rails and the channels' settings with it, and returns what still
 * needs the old keys. All nodes must know the key before. It can be repeated at any time and then does what is left.
 * Throws MigrationError if another rotation is in progress.
 */
export async function rotateSecrets(
  core: Core,
  address: DatabaseAddress,
  options: { capability_ttl_seconds: number },
): Promise<Rotation> {
  const replaced = await replaceIn(core, address);
  const webhook_secrets = await rewrapWebhooks(core);
  const channel_settings = await rewrapChannels(core);
  const rail_secrets = await rewrapRails(core);
  const since = (await readInstallation(core.db))?.secret_since ?? null;
  const api_keys = await listUnwrappedKeys(core.db, core.secrets.secret_id);
  const last_expiry_ms = since === null ? 0 : Date.parse(since) + options.capability_ttl_seconds * 1000;
  const is_past = last_expiry_ms <= (await readClock(core.db));
  return {
    replaced,
    since,
    webhook_secrets,
    channel_settings,
    rail_secrets,
    api_keys,
    capabilities_until: is_past ? null : new Date(last_expiry_ms).toISOString(),
    done: api_keys.length === 0 && is_past,
  };
}

const MAX_SHOWN_KEYS = 100;

/** Returns the result of a rotation as lines for a person. */
export function rotationLines(rotation: Rotation): string[] {
  const {
    replaced,
    since,
    webhook_secrets,
    channel_settings,
    rail_secrets,
    api_keys,
    capabilities_until,
    done,
  } = rotation;
  const { rewrapped, unreadable } = webhook_secrets;
  const channels = channel_settings;
  const rails = rail_secrets;
  const lines = [
    replaced
      ? 'SECRET_KEY is now the key of this installation.'
      : `SECRET_KEY has been the key of this installation ${since === null ? 'from the beginning' : `since ${since}`}.`,
    `Webhook secrets  ${rewrapped} re-wrapped${unreadable === 0 ? '' : `, ${unreadable} sealed with an unknown key: replace them with rotate-secret`}`,
    `Channels         ${channels.rewrapped} re-wrapped${channels.unreadable === 0 ? '' : `, ${channels.unreadable} sealed with an unknown key: set their URLs or addresses again`}`,
    `Rails            ${rails.rewrapped} re-wrapped${rails.unreadable === 0 ? '' : `, ${rails.unreadable} sealed with an unknown key: give their signing secrets again`}`,
    `API keys         ${api_keys.length === 0 ? 'all under this key' : `${api_keys.length} not used since; each is re-wrapped within seconds of its next use`}`,
    ...api_keys
      .slice(0, MAX_SHOWN_KEYS)
      .map(
        (key) =>
          `  ${key.workspace_id}  ${key.key_id}  ${key.hint}  ${key.name}  last used ${key.last_used_at ?? 'never'}`,
      ),
    `Capabilities     ${capabilities_until === null ? 'none from before' : `from before expire by ${capabilities_until}`}`,
    'Checkpoints      signatures of the old keys verify without them',
  ];
  lines.push(
    done
      ? 'SECRET_KEYS_OLD may go.'
      : 'Keep SECRET_KEYS_OLD until then, and run this again. Without it those keys and capabilities are refused.',
  );
  return lines;
}
