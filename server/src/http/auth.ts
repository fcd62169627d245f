import { timingSafeEqual } from 'node:crypto';
import { KEY_NOT_GOOD, keyRefusal } from '../domain/keys.ts';
import { ApiError } from '../errors.ts';
import { type FoundKey, findKeys } from '../storage/api-keys.ts';
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

interface Wanted {
  digest: Buffer;
  answer: { resolve: (found: FoundKey | undefined) => void; reject: (error: unknown) => void }[];
}

/**
 * Tells who holds a key. Nothing is remembered: a key that was revoked or has expired is refused on the very next
 * request, on every node. One look-up is under way at a time and takes along all keys that came meanwhile, so
 * that thousands of requests a second cost some hundred small statements, and a flood of unknown keys no more.
 */
export function makeAuthenticate(options: AuthOptions): (key: string | undefined) => Promise<AuthResult> {
  const waiting = new Map<string, Wanted>();
  let busy = false;

  async function lookUp(): Promise<void> {
    busy = true;
    while (waiting.size > 0) {
      const batch: [string, Wanted][] = [];
      for (const entry of waiting) {
        batch.push(entry);
        if (batch.length === LOOKED_UP_AT_ONCE) break;
      }
      for (const [hex] of batch) waiting.delete(hex);
      try {
        const found = await findKeys(
          options.db,
          batch.map(([, wanted]) => wanted.digest),
        );
        const by_digest = new Map(found.map((key) => [key.digest.toString('hex'), key]));
        for (const [hex, { answer }] of batch) for (const one of answer) one.resolve(by_digest.get(hex));
      } catch (error) {
        options.onFailure(error);
        for (const [, { answer }] of batch) for (const one of answer) one.reject(error);
      }
    }
    busy = false;
  }

  function find(digest: Buffer): Promise<FoundKey | undefined> {
    return new Promise((resolve, reject) => {
      const hex = digest.toString('hex');
      const wanted = waiting.get(hex);
      if (wanted !== undefined) wanted.answer.push({ resolve, reject });
      else if (waiting.size >= MOST_WAITING) reject(new Error('too many keys wait to be looked up'));
      else waiting.set(hex, { digest, answer: [{ resolve, reject }] });
      if (!busy) void lookUp();
    });
  }

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
