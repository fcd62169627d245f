import { SYSTEM } from '@purser/rules/domain/audit';
import { pushTo } from '@purser/rules/values/maps';
import type { Logger } from 'pino';
import { type RewrappedApiKey, rewrapApiKeys } from '../../engine/commands/rewrap-api-keys.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import { type Installation, readInstallation } from '../../engine/migration/installation.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { type Secrets, secretIdOf } from '../installation/secrets.ts';

/** Replaces the digests of keys that were found by a digest of an old secret key. */
export interface KeyRewrapping {
  /** Notes a key in memory only, since it is called for every use of such a key. */
  note(workspace_id: string, key: RewrappedApiKey): void;
  /** Rewraps the noted keys, once the operator has made the current secret key that of the installation. */
  flush(): Promise<void>;
}

/** Further keys are noted when they are used again. */
const MAX_NOTED = 10_000;
/** The keys of a workspace that one command rewraps. */
const REWRAPPED_AT_ONCE = 100;

/**
 * Makes the rewrapping of one process. During a rolling change some nodes still have only the old secret key, or have it
 * first. Nothing is rewrapped until `rotate-secrets` states that all nodes know the new key, so that no node rejects a
 * key that another has rewrapped, and none reverts the work of another.
 */
export function makeKeyRewrapping(options: {
  db: Queryable;
  lane: Lane;
  log: Logger;
  secrets: Pick<Secrets, 'installationChecks' | 'verifyingKeys'>;
}): KeyRewrapping {
  const { db, lane, log } = options;
  const { installationChecks, verifyingKeys } = options.secrets;
  const noted = new Map<string, RewrappedApiKey & { workspace_id: string }>();

  /** Returns the ids of retired secret keys. The next one is not among them: some node may use it for new keys already. */
  function retiredIds({ retired_keys }: Installation): Set<string> {
    const retired = new Set(retired_keys.map(({ public_key }) => public_key));
    // Both lists begin with one entry per secret key, in the same order.
    const checks = installationChecks.filter((_, i) =>
      retired.has(verifyingKeys[i]?.public_key.toString('base64') as string),
    );
    return new Set(checks.map(secretIdOf));
  }

  return {
    note(workspace_id, key) {
      if (noted.size < MAX_NOTED) noted.set(key.key_id, { ...key, workspace_id });
    },
    async flush() {
      if (noted.size === 0) return;
      const installation = await readInstallation(db);
      if (installation?.secret_check.equals(installationChecks[0]) !== true) return;
      const retired = retiredIds(installation);
      const by_workspace = new Map<string, RewrappedApiKey[]>();
      for (const { workspace_id, ...key } of noted.values()) {
        if (!retired.has(key.from.secret_id)) {
          noted.delete(key.key_id);
          continue;
        }
        pushTo(by_workspace, workspace_id, key);
      }
      for (const [workspace_id, keys] of by_workspace) {
        for (let i = 0; i < keys.length; i += REWRAPPED_AT_ONCE) {
          const some = keys.slice(i, i + REWRAPPED_AT_ONCE);
          const origin = { actor: SYSTEM, request_id: null, client_address: null };
          try {
            await lane.submit(workspace_id, rewrapApiKeys, some, origin);
          } catch (error) {
            log.warn(
              { err: error, workspace_id },
              'keys could not be re-wrapped under the current secret key',
            );
            return;
          }
          for (const { key_id } of some) noted.delete(key_id);
        }
      }
    },
  };
}
