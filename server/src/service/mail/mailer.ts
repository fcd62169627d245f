import type { MailResult } from '@purser/contract/values/mail';
import { createTransport } from 'nodemailer';
import type { NodemailerError } from 'nodemailer/lib/errors';
import type { MailSender, SmtpServer } from '../config/mail-settings.ts';
import { foreignWords } from './foreign-words.ts';
import { type Letter, renderHtml, renderText } from './letter.ts';

/** A letter on its way. */
export interface Mail {
  /** Becomes the `Message-ID`: every attempt has the same one, so that a reader's program shows one mail. */
  id: string;
  to: readonly string[];
  letter: Letter;
  /** Where a reader turns such mail off; null where there is nothing to turn off. */
  unsubscribe_url: string | null;
}

/** The result of an attempt: `DEAD` if the server refused this mail for good; `error` shows no secret and no address. */
export type MailOutcome =
  | { result: 'SENT' }
  | { result: 'RETRY'; error: string }
  | { result: 'DEAD'; error: string };

/** The mail server as this process knows it. */
export interface MailHealth {
  state: 'UNUSED' | 'WORKING' | 'FAILING';
  /** Null: it works, or was not used. */
  last_error: string | null;
}

/** Sends mail through the installation's server. */
export interface Mailer {
  /** Sends a mail within 30 s. Never rejects. */
  send(mail: Mail): Promise<MailOutcome>;
  health(): MailHealth;
  /** Ends the connections. Mail that is being sent fails. */
  close(): void;
}

export interface MailerOptions {
  server: SmtpServer;
  sender: MailSender;
  /** Called once for each attempt. */
  countMail: (result: MailResult) => void;
  /** The time limits, ms; the defaults are right but for tests. */
  limits?: Partial<typeof LIMITS>;
  /** Beside the system's authorities, and the name in the server's certificate; for tests. */
  certified?: { ca: string; servername: string };
}

const LIMITS = {
  /** From the call until the server has taken the mail, waiting for a connection included. */
  whole_ms: 30_000,
  connect_ms: 10_000,
  /** Without a byte from the server. */
  silent_ms: 15_000,
};
const MAX_CONNECTIONS = 4;
const IDLE_MS = 30_000;
const MAX_ANSWER = 160;

/** Commands about this mail; what is refused at any other concerns the connection or the account. */
const COMMANDS_OF_MAIL = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);
const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The mail server refuses connections.',
  ENOTFOUND: "The mail server's name was not found.",
  EAI_AGAIN: "The mail server's name could not be looked up.",
  EDNS: "The mail server's name could not be looked up.",
  ETIMEDOUT: 'The mail server did not answer in time.',
  EABORT: 'The mail server did not answer in time.',
  ECONNRESET: 'The mail server closed the connection.',
  ECONNECTION: 'The mail server closed the connection.',
  ETLS: 'A TLS connection to the mail server could not be made.',
  EAUTH: 'The mail server refused the user name or password.',
  ENOAUTH: 'The mail server requires a user name and password.',
  EPROTOCOL: 'The answer of the mail server is not SMTP.',
};

/** A sentence for lists and the log. Of an answer it shows the code and, if it is about a mail, the words without addresses. */
function sentenceOf({ code, originalCode, responseCode, response, command }: NodemailerError): string {
  if (responseCode !== undefined && COMMANDS_OF_MAIL.has(command ?? '')) {
    const words = foreignWords((response ?? '').replaceAll(/<?[^\s<>]+@[^\s<>]+>?/g, '…'), MAX_ANSWER);
    return `The mail server answered: ${words}`;
  }
  const sentence =
    SYSTEM_ERRORS[originalCode ?? ''] ?? SYSTEM_ERRORS[code ?? ''] ?? 'The mail server failed.';
  return responseCode === undefined ? sentence : `${sentence.slice(0, -1)} (${responseCode}).`;
}

function outcomeOf(error: NodemailerError): Exclude<MailOutcome, { result: 'SENT' }> {
  const is_about_mail = COMMANDS_OF_MAIL.has(error.command ?? '');
  const is_dead =
    (error.permanent === true && is_about_mail) || (error.code === 'EENVELOPE' && error.permanent !== false);
  return { result: is_dead ? 'DEAD' : 'RETRY', error: sentenceOf(error) };
}

/**
 * Makes the mailer. TLS with a valid certificate is required unless the server is on this machine. Connections are kept for
 * 30 s, at most four of them.
 */
export function makeMailer(options: MailerOptions): Mailer {
  const { server, sender, countMail, certified = {} } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { user, password } = server;
  const transport = createTransport({
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    idleTimeout: IDLE_MS,
    maxRequeues: 1,
    host: server.host,
    port: server.port,
    secure: server.implicit_tls,
    requireTLS: server.requires_tls && !server.implicit_tls,
    tls: { rejectUnauthorized: server.requires_tls, minVersion: 'TLSv1.2', ...certified },
    ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
    allowInternalNetworkInterfaces: !server.requires_tls,
    connectionTimeout: limits.connect_ms,
    greetingTimeout: limits.connect_ms,
    dnsTimeout: limits.connect_ms,
    socketTimeout: limits.silent_ms,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  });
  let health: MailHealth = { state: 'UNUSED', last_error: null };

  async function attempt(mail: Mail): Promise<MailOutcome> {
    const { id, to, letter, unsubscribe_url } = mail;
    try {
      await transport.sendMail({
        from: { name: sender.name ?? '', address: sender.address },
        to: to.map((address) => ({ name: '', address })),
        messageId: `<${id}@${sender.address.split('@').at(-1)}>`,
        subject: letter.subject,
        text: renderText(letter),
        html: renderHtml(letter),
        textEncoding: 'quoted-printable',
        headers: {
          // No answering machine answers, and no two machines write to each other for ever.
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          ...(unsubscribe_url === null ? {} : { 'List-Unsubscribe': `<${unsubscribe_url}>` }),
        },
        signal: AbortSignal.timeout(limits.whole_ms),
      });
      return { result: 'SENT' };
    } catch (error) {
      return outcomeOf(error as NodemailerError);
    }
  }

  return {
    async send(mail) {
      const outcome = await attempt(mail);
      countMail(outcome.result);
      // A server that refuses one mail works.
      health =
        outcome.result === 'RETRY'
          ? { state: 'FAILING', last_error: outcome.error }
          : { state: 'WORKING', last_error: null };
      return outcome;
    },
    health: () => health,
    close: () => transport.close({ force: true }),
  };
}
