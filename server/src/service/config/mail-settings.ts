import { EMAIL } from '@purser/contract/values/people';
import { is, isLoopbackName, optional, type Setting, Wrong } from './parse.ts';

/** A mail server, and how it is spoken to. */
export interface SmtpServer {
  host: string;
  port: number;
  /** True: TLS from the first byte (`smtps://`); false: STARTTLS. */
  implicit_tls: boolean;
  /** False only for a server on this machine: no mail and no password leaves it without TLS. */
  requires_tls: boolean;
  user: string | null;
  password: string | null;
}

/** The sender of every mail. */
export interface MailSender {
  /** Null: the address alone. */
  name: string | null;
  address: string;
}

const PORTS: Readonly<Record<string, { port: number; implicit_tls: boolean }>> = {
  'smtp:': { port: 587, implicit_tls: false },
  'smtps:': { port: 465, implicit_tls: true },
};
const MAX_URL = 2_000;

function decoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text);
    return /\p{Cc}/u.test(plain) ? null : plain;
  } catch {
    return null;
  }
}

/** The address of a mail server. Nothing of a refused one is shown, because it usually contains a password. */
export function parseSmtpUrl(text: string): Readonly<SmtpServer> | Wrong {
  if (text.length > MAX_URL || !URL.canParse(text)) return new Wrong('is not a URL (its value is not shown)');
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  const kind = PORTS[protocol];
  if (kind === undefined)
    return new Wrong('begins with neither smtp:// nor smtps:// (its value is not shown)');
  if (hostname === '') return new Wrong('names no server (its value is not shown)');
  if (!['', '/'].includes(pathname) || search + hash !== '') {
    return new Wrong('has something after the server and its port (its value is not shown)');
  }
  if ((username === '') !== (password === '')) {
    return new Wrong('has a user name or a password without the other (its value is not shown)');
  }
  const [user, pass] = [decoded(username), decoded(password)];
  if (user === null || pass === null) {
    return new Wrong('has a user name or password that is not percent-encoded (its value is not shown)');
  }
  return Object.freeze({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? kind.port : Number(port),
    implicit_tls: kind.implicit_tls,
    requires_tls: !isLoopbackName(hostname.toLowerCase()),
    user: user === '' ? null : user,
    password: pass === '' ? null : pass,
  });
}

const MAX_NAME = 64;

/** "Purser <purser@example.com>", or the address alone. */
export function parseSender(text: string): Readonly<MailSender> | Wrong {
  const named = /^([^<>"\p{Cc}]*?)\s*<([^<>]*)>$/u.exec(text);
  const [name, address] = named === null ? ['', text] : [named[1] as string, named[2] as string];
  // Mail servers that take letters beyond ASCII in an address are rare.
  if (!EMAIL.test(address) || !/^[\x21-\x7e]+$/.test(address) || name.length > MAX_NAME) return is(text);
  return Object.freeze({ name: name.trim() === '' ? null : name.trim(), address });
}

/** The settings of the mail server. */
export const MAIL_SETTINGS = {
  SMTP_URL: optional('no mail is sent', {
    allowed:
      'a URL of the form smtp://user:password@server:587 (STARTTLS) or smtps://user:password@server:465, user name and password percent-encoded or both left out',
    meaning:
      'Mail server for invitations, password links and notices; needs SMTP_FROM. TLS with a valid certificate is required, except on localhost and loopback addresses. With it, invitations and password links go to the mailbox alone.',
    parse: parseSmtpUrl,
  }),
  SMTP_FROM: optional('no mail is sent', {
    allowed:
      'an e-mail address in ASCII, or a name of at most 64 characters and the address in angle brackets',
    meaning: 'Sender of all mail, for example Purser <purser@example.com>; needs SMTP_URL.',
    parse: parseSender,
  }),
} as const satisfies Record<string, Setting<unknown>>;
