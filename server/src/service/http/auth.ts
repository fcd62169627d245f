import { timingSafeEqual } from 'node:crypto';
import { INVALID_KEY, keyRefusal } from '@purser/rules/domain/keys';
import { authUnavailable } from '@purser/rules/errors';
import type { ClockWatch } from '../../engine/clock-watch.ts';
import { type FoundKey, findKeys, type UnreadableKey } from '../../engine/storage/api-keys.ts';
import { makeBatchLoader } from '../../engine/storage/batch-loader.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import type { KeyDigest, Secrets } from '../installation/secrets.ts';
import type { AuthResult } from './server-options.ts';

export interface AuthOptions {
  db: Queryable;
  /** The watch over the database's clock. */
  clock: Pick<ClockWatch, 'passedMs'>;
  keyDigests: Secrets['keyDigests'];
  /** Called with a valid key that is stored under a digest of an old secret key. */
  onOtherDigest: (key: FoundKey, digests: { from: KeyDigest; to: KeyDigest }) => void;
  /** Called with every valid key. Its `clock_ms` is the database's clock. */
  onUse: (key: FoundKey) => void;
  /** Called with the error if keys could not be looked up. */
  onFailure: (error: unknown) => void;
}

const MAX_KEY_LENGTH = 512;
/** The most keys in one statement, and the most that wait for the next one. */
const LOOKED_UP_AT_ONCE = 500;
const MAX_WAITING = 5_000;

const keyOf = ([{ digest }]: ReturnType<Secrets['keyDigests']>) => digest.toString('hex');

/**
 * Makes the function that finds the holder of a key. Nothing is cached: a key that was revoked or has expired is
 * refused on the very next request, on every node. Keys are looked up in batches, so a flood of unknown ones costs no
 * more statements.
 */
export function makeAuthenticate(options: AuthOptions): (key: string | undefined) => Promise<AuthResult> {
  const find = makeBatchLoader<ReturnType<Secrets['keyDigests']>, FoundKey | UnreadableKey>({
    keyOf,
    load: async (wanted) => {
      const found = await findKeys(
        options.db,
        wanted.flatMap((digests) => digests.map(({ digest }) => digest)),
      );
      const by_digest = new Map(found.map((key) => [key.digest.toString('hex'), key]));
      return new Map(
        wanted.flatMap((digests) => {
          const key = digests.flatMap(({ digest }) => by_digest.get(digest.toString('hex')) ?? [])[0];
          return key === undefined ? [] : [[keyOf(digests), key]];
        }),
      );
    },
    max_batch: LOOKED_UP_AT_ONCE,
    max_waiting: MAX_WAITING,
    onFailure: options.onFailure,
  });

  return async (key) => {
    if (key === undefined || key.length > MAX_KEY_LENGTH || !key.startsWith('sk_')) {
      return { ok: false, message: INVALID_KEY };
    }
    const digests = options.keyDigests(key);
    let found: FoundKey | UnreadableKey | undefined;
    try {
      found = await find(digests);
    } catch (error) {
      throw authUnavailable(error);
    }
    if (found !== undefined && 'error' in found) {
      options.onFailure(found.error);
      throw authUnavailable(found.error);
    }
    const kept = found?.digest;
    const by = kept === undefined ? -1 : digests.findIndex(({ digest }) => timingSafeEqual(kept, digest));
    if (found === undefined || by === -1) return { ok: false, message: INVALID_KEY };
    const refusal = keyRefusal(found, Math.max(found.clock_ms, options.clock.passedMs()));
    if (refusal !== null) return { ok: false, message: refusal };
    options.onUse(found);
    if (by > 0) options.onOtherDigest(found, { from: digests[by] as KeyDigest, to: digests[0] });
    const { workspace_id, key_id, kind, scopes, agent_id, principal_id } = found;
    const { allowance_path, maker_key_ids } = found;
    const bound = allowance_path.length === 0 ? {} : { bound: { allowance_path, maker_key_ids } };
    const caller = { workspace_id, key_id, session: null, kind, scopes, agent_id, principal_id, ...bound };
    return { ok: true, caller };
  };
}
