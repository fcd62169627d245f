import type { NoticeText } from '@purser/rules/notices/text';
import type { MakeSender, Outcome, OutgoingNotice, Senders } from '../webhook-delivery/sender.ts';
import type { Letter } from './letter.ts';
import type { Mailer, MailOutcome } from './mailer.ts';

/** The letter of a notice. The agent's words are quoted below the facts, under a heading that says whose they are. */
export function noticeLetter({ title, facts, claims, link }: NoticeText, settings_url: string): Letter {
  return {
    subject: title,
    parts: [
      { kind: 'facts', rows: facts.map(({ label, text }) => [label, text]) },
      ...claims.map(({ label, text }) => ({ kind: 'quote' as const, heading: label, text })),
      { kind: 'link', ...link },
      { kind: 'note', text: `Which notices are sent, and when: ${settings_url}` },
    ],
  };
}

/** The most deliveries of one receiver that are remembered, so that a second attempt leaves out who has the mail. */
const MAX_REMEMBERED = 1_000;

/** One result for all addresses: a mail that some of them got is not sent to those again. */
function sumOf(outcomes: readonly MailOutcome[]): Outcome {
  const failed = outcomes.filter((each) => each.result !== 'SENT');
  const retried = failed.find(({ result }) => result === 'RETRY');
  if (retried !== undefined) return { kind: 'retry', error: retried.error };
  const [dead] = failed;
  if (dead === undefined || failed.length < outcomes.length) return { kind: 'delivered' };
  return { kind: 'dead', reason: dead.error };
}

/**
 * Makes the senders of mail: to each address of a channel, and to a member. A mail is under way for at most 30 s; the mailer's
 * connections are shared, so a slow recipient occupies no other's place for longer.
 */
export function makeMailSenders(
  mailer: Mailer,
  urls: {
    /** Where administrators change channels. */ channels: () => string /** Where a person changes their own notices. */;
    own: () => string;
  },
): Pick<Senders, 'email' | 'person'> {
  const makeSender =
    (settings_url: () => string): MakeSender =>
    ({ settings: { addresses = [] } }) => {
      const has_mail = new Set<string>();
      const aborting = new AbortController();
      const sendTo = async ({ notice_id, text }: OutgoingNotice, address: string): Promise<MailOutcome> => {
        const name = `${notice_id} ${address}`;
        if (has_mail.has(name)) return { result: 'SENT' };
        const unsubscribe_url = settings_url();
        const letter = noticeLetter(text, unsubscribe_url);
        const outcome = await mailer.send(
          { id: notice_id, to: [address], letter, unsubscribe_url },
          aborting.signal,
        );
        if (outcome.result === 'SENT') {
          if (has_mail.size >= MAX_REMEMBERED) has_mail.clear();
          has_mail.add(name);
        }
        return outcome;
      };
      return {
        send: async (notice) => sumOf(await Promise.all(addresses.map((address) => sendTo(notice, address)))),
        retire() {},
        close: () => aborting.abort(),
      };
    };
  return { email: makeSender(urls.channels), person: makeSender(urls.own) };
}
