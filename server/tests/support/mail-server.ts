import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from './until.ts';

/** A mail as its reader's program has it. */
export interface ReceivedMail {
  envelope: { from: string; to: string[] };
  /** As it came over the wire. */
  raw: string;
  mail: Email;
  is_over_tls: boolean;
  /** The user that signed in; undefined: nobody did. */
  user: string | undefined;
}

export interface MailServer {
  /** For SMTP_URL, without user and password. */
  url: string;
  port: number;
  received: ReceivedMail[];
  /** Refuses recipients from now on, with this answer of the server; null: takes them. */
  refuse: { code: number; text: string } | null;
  /** The first mail to a recipient, with a subject like this, once it is there. */
  mailTo(address: string, subject?: RegExp): Promise<ReceivedMail>;
  close(): Promise<void>;
}

/** A mail server on loopback; `options` are those of `smtp-server`. STARTTLS is offered with its certificate of its own. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    closeTimeout: 1,
    onAuth: ({ username }, _session, answer) => answer(null, { user: username ?? '' }),
    onRcptTo(_address, _session, answer) {
      const refused = mail_server.refuse;
      answer(
        refused === null ? null : Object.assign(new Error(refused.text), { responseCode: refused.code }),
      );
    },
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          envelope: {
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
          },
          raw: raw.toString('latin1'),
          mail: await PostalMime.parse(raw),
          is_over_tls: session.secure === true,
          user: session.user as string | undefined,
        });
        answer();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const mail_server: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received,
    refuse: null,
    async mailTo(address, subject = /./) {
      const find = () =>
        received.find(
          ({ envelope, mail }) => envelope.to.includes(address) && subject.test(mail.subject ?? ''),
        );
      await until(() => find() !== undefined);
      return find() as ReceivedMail;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mail_server;
}
