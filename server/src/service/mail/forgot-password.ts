import { normaliseEmail } from '@purser/rules/domain/people';
import { ApiError } from '@purser/rules/errors';
import type pg from 'pg';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from '../http/client-address.ts';
import type { Limiter, MakeLimiter } from '../http/limiters.ts';
import type { Mac } from '../installation/secrets.ts';
import type { Visit } from '../people/sessions.ts';
import type { DeferredRecords, SignIn } from '../people/sign-in-rows.ts';
import { findUserByEmail, listMemberships } from '../people/user-rows.ts';
import { insertResetEmail } from './email-rows.ts';

const MAX_LINKS = 3;
/** For all people behind one address. */
const MAX_REQUESTS = 30;
const HOUR_S = 3_600;

export interface ForgotPasswordOptions {
  db: pg.Pool;
  /** False without a mail server, or while password sign-in is disabled: nothing is sent. */
  is_offered: boolean;
  makeLimiter: MakeLimiter;
  /** Names the counters: an hour has at most 65,536 of them, however many e-mails are made up. */
  mac: Mac;
  behind: DeferredRecords;
  record: (signIn: SignIn) => Promise<void>;
  newEmailId: () => string;
}

/** Asks for a password link by mail. */
export type ForgotPassword = (email: string, visit: Visit) => Promise<void>;

/** Returns how long a name is still over its limit, s; null if this was within it. */
async function overLimitFor(limiter: Limiter, name: string): Promise<number | null> {
  try {
    await limiter.consume(name);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof RateLimiterRes)) throw thrown;
    return Math.max(1, Math.ceil(thrown.msBeforeNext / 1000));
  }
}

/**
 * Makes what answers "Forgot password?". The answer is the same for every e-mail, and everything that depends on it happens
 * after the answer, so neither text nor time shows who has an account. A link goes to people who have a password; all others
 * sign in with a passkey or a provider, and a mailbox must not become another way in. Three links an hour for an e-mail:
 * further requests send nothing, and the earlier links work. Throws `rate_limited` after 30 requests of a client in an hour.
 */
export function makeForgotPassword(options: ForgotPasswordOptions): ForgotPassword {
  const { db, is_offered, makeLimiter, mac, behind, record, newEmailId } = options;
  const of_email = makeLimiter('forgot-email', MAX_LINKS, HOUR_S);
  const of_client = makeLimiter('forgot-client', MAX_REQUESTS, HOUR_S);
  const counterOf = (text: string) => String(mac(text).readUInt16BE(0));

  async function mailLink(email: string, client_address: string): Promise<void> {
    if (!is_offered || (await overLimitFor(of_email, counterOf(email))) !== null) return;
    const user = await findUserByEmail(db, email);
    if (user === undefined || user.disabled_at !== null || user.password_hash === null) return;
    const { user_id } = user;
    if ((await listMemberships(db, user_id)).length === 0) return;
    await insertResetEmail(db, newEmailId(), user);
    await record({ kind: 'reset_link_made', method: 'reset', email, user_id, client_address });
  }

  return async (given, { client_address }) => {
    const retry_after_s = await overLimitFor(of_client, counterOf(addressBlock(client_address)));
    if (retry_after_s !== null) {
      throw new ApiError('rate_limited', `Too many requests; retry after ${retry_after_s} s.`, {
        retry_after_s,
      });
    }
    behind.add(() => mailLink(normaliseEmail(given), client_address));
  };
}
