import type { Logger } from 'pino';
import type { Queryable } from '../../engine/storage/database.ts';
import type { LinkTokens } from '../people/links.ts';
import type { Site } from '../people/site.ts';
import { invitationLetter, resetLetter } from './account-letters.ts';
import { type DueEmail, endAttempt, pruneOldEmails, takeDueEmails } from './email-rows.ts';
import type { Letter } from './letter.ts';
import type { Mailer } from './mailer.ts';

const AT_ONCE = 10;
/** Longer than ten attempts over the mailer's connections can take. */
const LEASE_S = 120;
/** Waits between attempts, about four hours in total: many servers refuse a first mail for some minutes. */
const RETRY_S = [30, 60, 300, 900, 3_600, 10_800];

export interface SendEmailsOptions {
  db: Queryable;
  mailer: Mailer;
  links: LinkTokens;
  site: Pick<Site, 'consoleUrl'>;
  log: Logger;
}

/**
 * Makes the round of the worker that sends invitations and password links. Any number of processes may run it: each mail is
 * taken by one, and sent at least once. Tokens are computed here, so that the database never has one.
 */
export function makeSendEmails({ db, mailer, links, site, log }: SendEmailsOptions): () => Promise<void> {
  const letterOf = (email: DueEmail): Letter => {
    if (email.kind === 'INVITATION') {
      const token = links.invitation(email.workspace_id as string, email.invitation_id as string);
      return invitationLetter({
        workspace_name: email.workspace_name as string,
        inviter: email.inviter,
        expires_at: email.expires_at as string,
        url: `${site.consoleUrl('invitation')}#${token}`,
      });
    }
    const user = {
      user_id: email.user_id as string,
      credential_epoch: email.credential_epoch as number,
    };
    return resetLetter(`${site.consoleUrl('reset')}#${links.reset(user, email.clock_ms)}`);
  };

  async function send(email: DueEmail): Promise<void> {
    const { email_id, kind, recipient, attempts } = email;
    if (!email.is_wanted) {
      await endAttempt(db, email_id, { status: 'OBSOLETE', error: null, retry_s: null });
      return;
    }
    const letter = letterOf(email);
    const outcome = await mailer.send({ id: email_id, to: [recipient], letter, unsubscribe_url: null });
    if (outcome.result === 'SENT') {
      await endAttempt(db, email_id, { status: 'SENT', error: null, retry_s: null });
      return;
    }
    const { error, answer } = outcome;
    const retry_s = outcome.result === 'DEAD' ? null : (RETRY_S[attempts - 1] ?? null);
    await endAttempt(db, email_id, { status: retry_s === null ? 'FAILED' : 'QUEUED', error, retry_s });
    log.warn({ email_id, kind, attempts, error, answer, retry_s }, 'a mail could not be sent');
  }

  return async () => {
    await pruneOldEmails(db);
    for (;;) {
      const due = await takeDueEmails(db, AT_ONCE, LEASE_S);
      await Promise.all(due.map(send));
      if (due.length < AT_ONCE) return;
    }
  };
}
