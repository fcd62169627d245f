import { normaliseEmail } from '@purser/rules/domain/people';
import type pg from 'pg';
import type { Logger } from 'pino';
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
  log: Logger;
}

/** Asks for a password link by mail. */
export type ForgotPassword = (email: string, visit: Visit) => Promise<void>;

/** Counts a request under a name. Returns how many there are then, where that is over the limit; null: it is within it. */
async function countOver(limiter: Limiter, name: string): Promise<number | null> {
  try {
    await limiter.consume(name);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof RateLimiterRes)) throw thrown;
    return thrown.consumedPoints;
  }
}

/**
 * Makes what answers "Forgot password?". The answer is the same for every e-mail, and everything that depends on it happens
 * after the answer, so neither text nor time shows who has an account. A link goes to people who have a password; all others
 * sign in with a passkey or a provider, and a mailbox must not become another way in. Three links an hour for an e-mail, and 30
 * requests an hour of a client: further requests send nothing, and the earlier links work. The first request of a client over
 * its limit is logged, since its answer does not show it.
 */
export function makeForgotPassword(options: ForgotPasswordOptions): ForgotPassword {
  const { db, is_offered, makeLimiter, mac, behind, record, newEmailId, log } = options;
  const of_email = makeLimiter('forgot-email', MAX_LINKS, HOUR_S);
  const of_client = makeLimiter('forgot-client', MAX_REQUESTS, HOUR_S);
  const counterOf = (text: string) => String(mac(text).readUInt16BE(0));

  async function mailLink(email: string, client_address: string): Promise<void> {
    if (!is_offered || (await countOver(of_email, counterOf(email))) !== null) return;
    const user = await findUserByEmail(db, email);
    if (user === undefined || user.disabled_at !== null || user.password_hash === null) return;
    const { user_id } = user;
    if ((await listMemberships(db, user_id)).length === 0) return;
    await insertResetEmail(db, newEmailId(), user);
    await record({ kind: 'reset_link_made', method: 'reset', email, user_id, client_address });
  }

  return async (given, { client_address }) => {
    const over = await countOver(of_client, counterOf(addressBlock(client_address)));
    if (over === MAX_REQUESTS + 1) {
      log.warn({ client_address }, 'no more reset links are mailed for a client: 30 requests in an hour');
    }
    if (over === null) behind.add(() => mailLink(normaliseEmail(given), client_address));
  };
}
