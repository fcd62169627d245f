import type { MailResult, MailState } from '@purser/contract/values/mail';
import { cleanClaim } from '@purser/rules/notices/text';
import { createTransport } from 'nodemailer';
import type { NodemailerError } from 'nodemailer/lib/errors';
import type { MailSender, SmtpServer } from '../config/mail-settings.ts';
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

/**
 * The result of an attempt: `DEAD` if the server refused this mail for good. `error` is a code such as `timeout` or
 * `smtp_550`; `answer` has the server's words, for the log alone. Neither contains a password or an address.
 */
export type MailOutcome =
  | { result: 'SENT' }
  | { result: 'RETRY' | 'DEAD'; error: string; answer: string | null };

/** Sends mail through the installation's server. */
export interface Mailer {
  /** Sends a mail within 30 s, or until `abort`. Never rejects. */
  send(mail: Mail, abort?: AbortSignal): Promise<MailOutcome>;
  /** The mail server as this process last saw it. */
  state(): MailState;
  /** Ends the connections, after mail that is being sent, at most 5 s later. Mail that was not sent by then is tried again. */
  stop(): Promise<void>;
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
const DRAIN_MS = 5_000;
const DRAIN_PAUSE_MS = 20;

/** Commands about this mail; what is refused at any other concerns the connection or the account. */
const COMMANDS_OF_MAIL = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ENOTFOUND: 'dns_failed',
  EAI_AGAIN: 'dns_failed',
  EDNS: 'dns_failed',
  ETIMEDOUT: 'timeout',
  EABORT: 'timeout',
  ECONNRESET: 'connection_closed',
  ECONNECTION: 'connection_closed',
  ETLS: 'tls_failed',
  EAUTH: 'login_refused',
  ENOAUTH: 'login_refused',
  EPROTOCOL: 'not_smtp',
};

function codeOf({ code, originalCode, responseCode, command }: NodemailerError): string {
  if (code === 'ETLS' || command === 'STARTTLS') return 'tls_failed';
  if (responseCode !== undefined && code !== 'EAUTH') return `smtp_${responseCode}`;
  return CODES[originalCode ?? ''] ?? CODES[code ?? ''] ?? 'connection_failed';
}

/** The words of an answer about a mail, without addresses. An answer to a login may repeat the password, so it is left out. */
function wordsOf({ response, command }: NodemailerError): string | null {
  if (response === undefined || !COMMANDS_OF_MAIL.has(command ?? '')) return null;
  return cleanClaim(response.replaceAll(/<?[^\s<>]+@[^\s<>]+>?/g, '…'), MAX_ANSWER);
}

function outcomeOf(error: NodemailerError): Exclude<MailOutcome, { result: 'SENT' }> {
  const is_about_mail = COMMANDS_OF_MAIL.has(error.command ?? '');
  const is_dead =
    (error.permanent === true && is_about_mail) || (error.code === 'EENVELOPE' && error.permanent !== false);
  return { result: is_dead ? 'DEAD' : 'RETRY', error: codeOf(error), answer: wordsOf(error) };
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
  let state: MailState = 'UNUSED';

  let sending = 0;

  async function attempt(mail: Mail, signal: AbortSignal): Promise<MailOutcome> {
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
        signal,
      });
      return { result: 'SENT' };
    } catch (error) {
      return outcomeOf(error as NodemailerError);
    }
  }

  return {
    async send(mail, abort) {
      const late = AbortSignal.timeout(limits.whole_ms);
      sending += 1;
      const outcome = await attempt(mail, abort === undefined ? late : AbortSignal.any([late, abort]));
      sending -= 1;
      countMail(outcome.result);
      // A server that refuses one mail works.
      state = outcome.result === 'RETRY' ? 'FAILING' : 'WORKING';
      return outcome;
    },
    state: () => state,
    async stop() {
      for (let waited_ms = 0; sending > 0 && waited_ms < DRAIN_MS; waited_ms += DRAIN_PAUSE_MS) {
        await new Promise((wait) => setTimeout(wait, DRAIN_PAUSE_MS));
      }
      transport.close({ force: true });
    },
  };
}
