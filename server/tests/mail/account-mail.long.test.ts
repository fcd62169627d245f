import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Browser, openBrowser, PASSWORD, setUp, signIn } from '../support/browser.ts';
import { type MailServer, type ReceivedMail, startMailServer } from '../support/mail-server.ts';
import { type RunningService, refusal, startTestService } from '../support/running-service.ts';
import { until } from '../support/until.ts';

let mail: MailServer;
let s: RunningService;
let ada: Browser;
const log_lines: string[] = [];
beforeAll(async () => {
  mail = await startMailServer();
  s = await startTestService({
    log_lines,
    env: { SMTP_URL: mail.url, SMTP_FROM: 'Purser <purser@example.com>' },
  });
  ada = await setUp(s);
});
afterAll(async () => {
  await s.stop();
  await mail.close();
});
beforeEach(() => {
  mail.received.length = 0;
  mail.refuse = null;
});

let count = 0;
const somebody = () => `somebody-${++count}@example.com`;
const invite = (email: string, role = 'viewer') =>
  ada.call('POST', '/v1/invitations', { body: { email, role } });
const forgot = (email: string, browser = openBrowser(s)) =>
  browser.call('POST', '/v1/auth/password/forgot', { body: { email } });
const linkIn = ({ mail: { text } }: ReceivedMail): string =>
  /^http:\/\/\S+#(\S+)$/m.exec(text ?? '')?.[1] as string;
const accept = (token: string) =>
  openBrowser(s).call('POST', '/v1/auth/invitations/accept', {
    body: { token, name: 'Somebody', password: PASSWORD },
  });
const reset = (token: string, password: string) =>
  openBrowser(s).call('POST', '/v1/auth/password/reset', { body: { token, password } });
/** Has somebody new join; their mail is taken away. */
async function member(): Promise<string> {
  const email = somebody();
  await invite(email);
  expect((await accept(linkIn(await mail.mailTo(email)))).status).toBe(201);
  mail.received.length = 0;
  return email;
}
/** The state of the mail to an address, once its last attempt has ended. */
const stateOf = async (recipient: string) =>
  (await s.sql('select kind, status, attempts, error from emails where recipient = $1', [recipient])).rows;
/** Everything that was asked for so far is sent: mails are sent in order of time. */
async function settled(): Promise<void> {
  const last = somebody();
  await invite(last);
  await mail.mailTo(last);
}

describe('an invitation', () => {
  test('goes to the mailbox alone: no answer, list, audit record or row has its link', async () => {
    const email = somebody();
    const reply = await invite(email);
    expect(reply.body).toMatchObject({ email, url: null, emailed: true });
    const received = await mail.mailTo(email);
    const token = linkIn(received);
    expect(received.envelope.to).toEqual([email]);
    expect(received.mail.messageId).toBe(`<${reply.body.id}@example.com>`);
    expect(received.mail.html).toContain(token);
    for (const path of ['/v1/invitations', '/v1/audit', '/v1/ledger/events']) {
      expect((await ada.call('GET', path)).text).not.toContain(token.split('.')[2]);
    }
    const { rows } = await s.sql("select string_agg(e::text, ' ') as all from emails e");
    expect(rows[0].all).not.toContain(token.split('.')[2]);
    expect((await accept(token)).status).toBe(201);
  });
  test('proves the e-mail of a new account, since nobody else saw the link: a password link sets nothing aside', async () => {
    const email = await member();
    await forgot(email);
    const reply = await reset(linkIn(await mail.mailTo(email)), 'another horse battery staple');
    expect(reply.body).toMatchObject({ role: 'viewer', workspaces: [{ status: 'active' }] });
  });
  test('that was revoked before its mail could be sent is not mailed', async () => {
    mail.refuse = { code: 451, text: '4.3.0 later' };
    const email = somebody();
    const { body } = await invite(email);
    await until(async () => (await stateOf(email))[0]?.error !== null);
    expect(await stateOf(email)).toMatchObject([{ status: 'QUEUED', attempts: 1 }]);
    await ada.call('DELETE', `/v1/invitations/${body.id}`);
    mail.refuse = null;
    await s.sql('update emails set due_at = now() where recipient = $1', [email]);
    await until(async () => (await stateOf(email))[0]?.status === 'OBSOLETE');
    expect(mail.received).toEqual([]);
  });
  test('is mailed once the server takes it, under the same id', async () => {
    mail.refuse = { code: 450, text: '4.7.1 greylisted' };
    const email = somebody();
    await invite(email);
    await until(async () => (await stateOf(email))[0]?.error !== null);
    mail.refuse = null;
    await s.sql('update emails set due_at = now() where recipient = $1', [email]);
    await mail.mailTo(email);
    await until(async () => (await stateOf(email))[0]?.status === 'SENT');
    expect(await stateOf(email)).toMatchObject([{ attempts: 2, error: null }]);
  });
  test('to a mailbox that does not exist is given up at once', async () => {
    mail.refuse = { code: 550, text: '5.1.1 no such user' };
    const email = somebody();
    await invite(email);
    await until(async () => (await stateOf(email))[0]?.status === 'FAILED');
    expect(await stateOf(email)).toMatchObject([{ attempts: 1, error: 'smtp_550' }]);
  });
});

describe('“Forgot password?”', () => {
  const NEW = 'another horse battery staple';

  test('mails a link that sets a password once and ends every session', async () => {
    const email = await member();
    const before = await signIn(s, email);
    const reply = await forgot(`  ${email.toUpperCase()} `);
    expect([reply.status, reply.text]).toEqual([202, '']);
    const token = linkIn(await mail.mailTo(email));
    expect((await reset(token, NEW)).status).toBe(200);
    expect(refusal(await before.call('GET', '/v1/me'))).toEqual([401, 'unauthenticated']);
    expect(refusal(await reset(token, NEW))).toEqual([401, 'unauthenticated']);
    await signIn(s, email, NEW);
    const { body } = await ada.call('GET', '/v1/sign-ins?limit=50');
    expect(body.data).toContainEqual(
      expect.objectContaining({ kind: 'reset_link_made', method: 'reset', email }),
    );
  });
  test('answers the same, and mails nothing, where there is no account, password or membership', async () => {
    const [without_password, disabled] = [await member(), await member()];
    await s.sql('update users set password_hash = null where email = $1', [without_password]);
    await s.sql('update users set disabled_at = now() where email = $1', [disabled]);
    const invited = somebody();
    await invite(invited);
    await mail.mailTo(invited);
    mail.received.length = 0;
    for (const email of [without_password, disabled, invited, somebody()]) {
      const reply = await forgot(email);
      expect([reply.status, reply.text]).toEqual([202, '']);
    }
    await settled();
    expect(mail.received).toHaveLength(1);
  });
  test('mails three links an hour to an e-mail, each of which works until one is used', async () => {
    const email = await member();
    for (let i = 0; i < 5; i++) expect((await forgot(email)).status).toBe(202);
    await settled();
    await until(() => mail.received.filter(({ envelope }) => envelope.to.includes(email)).length === 3);
    const tokens = mail.received.filter(({ envelope }) => envelope.to.includes(email)).map(linkIn);
    expect(tokens).toHaveLength(3);
    expect((await reset(tokens[0] as string, NEW)).status).toBe(200);
    for (const token of tokens) expect(refusal(await reset(token, NEW))).toEqual([401, 'unauthenticated']);
  });
  test('a link that was asked for before another password was set is neither mailed nor good', async () => {
    const email = await member();
    mail.refuse = { code: 451, text: '4.3.0 later' };
    await forgot(email);
    const stateOfReset = async () => (await stateOf(email)).find(({ kind }) => kind === 'RESET');
    await until(async () => (await stateOfReset())?.error);
    const browser = await signIn(s, email);
    const body = { current_password: PASSWORD, new_password: NEW };
    expect((await browser.call('POST', '/v1/auth/password', { body })).status).toBe(204);
    mail.refuse = null;
    await s.sql("update emails set due_at = now() where recipient = $1 and kind = 'RESET'", [email]);
    await until(async () => (await stateOfReset())?.status === 'OBSOLETE');
    expect(mail.received).toEqual([]);
  });
  test('mails a client nothing after 30 requests in an hour, without a word of it, and takes requests of the console alone', async () => {
    const email = await member();
    const elsewhere = { 'sec-fetch-site': 'cross-site' };
    const body = { email: somebody() };
    const foreign = await openBrowser(s).call('POST', '/v1/auth/password/forgot', {
      body,
      headers: elsewhere,
    });
    expect(refusal(foreign)).toEqual([403, 'cross_site_request']);
    const answers = new Set<string>();
    const ask = async (of: string) => {
      const { status, text } = await forgot(of);
      answers.add(`${status} ${text}`);
    };
    for (let i = 0; i < 32; i++) await ask(somebody());
    await ask(email);
    await settled();
    expect(answers).toEqual(new Set(['202 ']));
    expect(mail.received.flatMap(({ envelope }) => envelope.to)).not.toContain(email);
    expect(log_lines.filter((line) => line.includes('no more reset links are mailed'))).toHaveLength(1);
  });
});

test('what sends mail is shown: to the sign-in page, the readiness probe and the metrics', async () => {
  await settled();
  const options = await s.call('GET', '/v1/auth/options', { key: null });
  expect(options.body.mail).toBe(true);
  const { body } = await s.call('GET', '/readyz', { key: null });
  expect(body.detail.mail).toBe('WORKING');
  const { text } = await s.call('GET', '/metrics', { key: null });
  expect(text).toMatch(/purser_mails_total\{result="sent"\} [1-9]/);
});

test('without a mail server links are returned as ever, and “Forgot password?” answers the same', async () => {
  const plain = await startTestService();
  try {
    const admin = await setUp(plain);
    const { body } = await admin.call('POST', '/v1/invitations', {
      body: { email: 'lea@example.com', role: 'viewer' },
    });
    expect(body).toMatchObject({ emailed: false, url: expect.stringContaining('/console/invitation#ws_') });
    const asked = await openBrowser(plain).call('POST', '/v1/auth/password/forgot', {
      body: { email: 'ada@example.com' },
    });
    expect([asked.status, asked.text]).toEqual([202, '']);
    expect((await plain.sql('select 1 from emails')).rows).toEqual([]);
    expect((await plain.call('GET', '/v1/auth/options', { key: null })).body.mail).toBe(false);
  } finally {
    await plain.stop();
  }
});
