import { timingSafeEqual } from 'node:crypto';
import { KEY_NOT_GOOD, keyRefusal } from '../domain/keys.ts';
import { ApiError } from '../errors.ts';
import { type FoundKey, findKeys } from '../storage/api-keys.ts';
import { makeGather } from '../storage/batch-loader.ts';
import type { Queryable } from '../storage/database.ts';
import type { AuthResult } from './server-options.ts';

export interface AuthOptions {
  db: Queryable;
  keyDigest: (key: string) => Buffer;
  /** Told of every good key, with the database's clock (ms). */
  onUse: (key: FoundKey) => void;
  /** Told why keys could not be looked up. */
  onFailure: (error: unknown) => void;
}

const LONGEST_KEY = 512;
/** Keys looked up by one statement, and waiting for the next one. */
const LOOKED_UP_AT_ONCE = 500;
const MOST_WAITING = 5_000;

/**
 * Tells who holds a key. Nothing is remembered: a key that was revoked or has expired is refused on the very next
 * request, on every node. Keys are looked up together, so that a flood of unknown ones costs no more statements.
 */
export function makeAuthenticate(options: AuthOptions): (key: string | undefined) => Promise<AuthResult> {
  const find = makeGather<Buffer, FoundKey>({
    nameOf: (digest) => digest.toString('hex'),
    load: async (digests) => {
      const found = await findKeys(options.db, digests);
      return new Map(found.map((key) => [key.digest.toString('hex'), key]));
    },
    at_once: LOOKED_UP_AT_ONCE,
    most_waiting: MOST_WAITING,
    onFailure: options.onFailure,
  });

  return async (key) => {
    if (key === undefined || key.length > LONGEST_KEY || !key.startsWith('sk_')) {
      return { ok: false, message: KEY_NOT_GOOD };
    }
    const digest = options.keyDigest(key);
    let found: FoundKey | undefined;
    try {
      found = await find(digest);
    } catch (error) {
      throw new ApiError('auth_unavailable', 'The key could not be verified right now; retry.', {
        cause: error,
        retry_after_s: 1,
      });
    }
    if (found === undefined || !timingSafeEqual(found.digest, digest))
      return { ok: false, message: KEY_NOT_GOOD };
    const refusal = keyRefusal(found, found.clock_ms);
    if (refusal !== null) return { ok: false, message: refusal };
    options.onUse(found);
    const { workspace_id, key_id, kind, scopes, agent_id, principal_id } = found;
    return { ok: true, caller: { workspace_id, key_id, kind, scopes, agent_id, principal_id } };
  };
}
