import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { parseSender, parseSmtpUrl, type SmtpServer } from '../../src/service/config/mail-settings.ts';
import { type Mail, type Mailer, type MailerOptions, makeMailer } from '../../src/service/mail/mailer.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(options: Parameters<typeof startMailServer>[0] = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  ends.push(server.close);
  return server;
}

/** A bare server that writes nothing but what `onConnection` does. */
async function serveRaw(onConnection: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function mailerFor(
  url: string,
  changes: Partial<SmtpServer> = {},
  more: Partial<MailerOptions> = {},
): Mailer & { counted: string[] } {
  const counted: string[] = [];
  const mailer = makeMailer({
    server: { ...(parseSmtpUrl(url) as SmtpServer), ...changes },
    sender: parseSender('Purser <purser@example.com>') as { name: string; address: string },
    countMail: (result) => counted.push(result),
    ...more,
  });
  ends.push(mailer.stop);
  return { ...mailer, counted };
}

const MAIL: Mail = {
  id: 'eml_1',
  to: ['ada@example.com'],
  letter: { subject: 'A subject', parts: [{ kind: 'paragraph', text: 'A text.' }] },
  unsubscribe_url: 'https://purser.example/console/notifications',
};

const file = (name: string) => readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8');
const CERTIFICATE = { key: file('good.key'), cert: file('good.pem') };
const CERTIFIED = { ca: file('authority.pem'), servername: 'hooks.example.com' };

test('a mail arrives with both parts, one id for every attempt, and the marks of a machine', async () => {
  const server = await serve();
  const mailer = mailerFor(server.url);
  expect(mailer.state()).toBe('UNUSED');
  for (let i = 0; i < 2; i++) expect(await mailer.send(MAIL)).toEqual({ result: 'SENT' });
  expect(server.received).toHaveLength(2);
  for (const { envelope, mail } of server.received) {
    expect(envelope).toEqual({ from: 'purser@example.com', to: ['ada@example.com'] });
    expect(mail.from).toMatchObject({ name: 'Purser', address: 'purser@example.com' });
    expect(mail.messageId).toBe('<eml_1@example.com>');
    expect(mail.subject).toBe('A subject');
    expect(mail.text?.trim()).toBe('A subject\n\nA text.');
    expect(mail.html).toContain('<p style="margin:0 0 16px">A text.</p>');
    const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
    expect(headers).toMatchObject({
      'auto-submitted': 'auto-generated',
      'list-unsubscribe': '<https://purser.example/console/notifications>',
    });
  }
  expect(mailer.state()).toBe('WORKING');
  expect(mailer.counted).toEqual(['SENT', 'SENT']);
});

describe('TLS', () => {
  test('a server elsewhere gets neither mail nor password without it', async () => {
    const server = await serve({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
    const mailer = mailerFor(server.url, { requires_tls: true, user: 'u', password: 'hunter2' });
    const outcome = await mailer.send(MAIL);
    expect(outcome).toMatchObject({ result: 'RETRY', error: 'tls_failed' });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
    expect(server.received).toEqual([]);
  });
  test('nor with a certificate that nobody vouches for, or of another name', async () => {
    const server = await serve(CERTIFICATE);
    for (const certified of [undefined, { ...CERTIFIED, servername: 'other.example.com' }]) {
      const more = certified === undefined ? {} : { certified };
      const mailer = mailerFor(server.url, { requires_tls: true }, more);
      expect(await mailer.send(MAIL)).toMatchObject({ result: 'RETRY' });
    }
    expect(server.received).toEqual([]);
  });
  test.each([
    ['STARTTLS', false],
    ['TLS from the first byte', true],
  ])('with a valid certificate it gets both, by %s', async (_, secure) => {
    const server = await serve({ ...CERTIFICATE, secure });
    const changes = { requires_tls: true, implicit_tls: secure, user: 'purser', password: 'p@ss:word' };
    const mailer = mailerFor(server.url, changes, { certified: CERTIFIED });
    expect(await mailer.send(MAIL)).toEqual({ result: 'SENT' });
    expect(server.received[0]).toMatchObject({ is_over_tls: true, user: 'purser' });
  });
});

describe('a failure that may pass is tried again, and one of this mail is not', () => {
  test.each([
    [450, 'RETRY'],
    [550, 'DEAD'],
  ])('%i is %s', async (code, result) => {
    const server = await serve();
    server.refuse = { code, text: `${code === 450 ? '4.2.0' : '5.1.1'} <ada@example.com>: no such box` };
    const mailer = mailerFor(server.url);
    const outcome = await mailer.send(MAIL);
    expect(outcome).toMatchObject({
      result,
      error: `smtp_${code}`,
      answer: expect.stringContaining('no such box'),
    });
    expect(JSON.stringify(outcome)).not.toContain('ada@');
    expect(mailer.state()).toBe(result === 'RETRY' ? 'FAILING' : 'WORKING');
    server.refuse = null;
    expect(await mailer.send(MAIL)).toEqual({ result: 'SENT' });
    expect(mailer.state()).toBe('WORKING');
  });
  test('a refused password', async () => {
    const server = await serve({
      onAuth: (_auth, _session, answer) => answer(new Error('no: hunter2')),
    });
    const outcome = await mailerFor(server.url, { user: 'u', password: 'hunter2' }).send(MAIL);
    expect(outcome).toEqual({ result: 'RETRY', error: 'login_refused', answer: null });
  });
  test('nobody listens', async () => {
    const server = await startMailServer();
    await server.close();
    const outcome = await mailerFor(server.url).send(MAIL);
    expect(outcome).toEqual({ result: 'RETRY', error: 'connection_refused', answer: null });
  });
  test.each([
    ['says nothing', 'timeout', () => {}],
    ['hangs up', 'connection_closed', (socket: net.Socket) => socket.end()],
    ['speaks another protocol', 'not_smtp', (socket: net.Socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'never comes to an end',
      'timeout',
      (socket: net.Socket) => {
        socket.write('220 slow ESMTP\r\n');
        const trickle = setInterval(() => socket.write('250-AGAIN\r\n'), 5);
        socket.on('close', () => clearInterval(trickle));
      },
    ],
  ])('the server %s', async (_, error, onConnection) => {
    const url = await serveRaw(onConnection);
    const limits = { whole_ms: 500, connect_ms: 300, silent_ms: 300 };
    const mailer = mailerFor(url, {}, { limits });
    expect(await mailer.send(MAIL)).toMatchObject({ result: 'RETRY', error });
    expect(mailer.state()).toBe('FAILING');
  });
  test('a server that refuses everybody', async () => {
    const url = await serveRaw((socket) => socket.end('554 no service for you\r\n'));
    expect(await mailerFor(url).send(MAIL)).toMatchObject({ result: 'RETRY' });
  });
});

test('more mails than connections all arrive', async () => {
  const server = await serve();
  const mailer = mailerFor(server.url);
  const ids = Array.from({ length: 40 }, (_, i) => `eml_${i}`);
  const outcomes = await Promise.all(ids.map((id) => mailer.send({ ...MAIL, id })));
  expect(new Set(outcomes.map(({ result }) => result))).toEqual(new Set(['SENT']));
  expect(new Set(server.received.map(({ mail }) => mail.messageId)).size).toBe(40);
});
