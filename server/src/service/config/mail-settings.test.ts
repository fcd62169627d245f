import { expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const FROM = 'Purser <purser@example.com>';

test.each([
  [
    'smtp://mail.example.com',
    { host: 'mail.example.com', port: 587, implicit_tls: false, requires_tls: true },
  ],
  [
    'smtps://mail.example.com/',
    { host: 'mail.example.com', port: 465, implicit_tls: true, requires_tls: true },
  ],
  ['smtp://10.0.0.4:25', { host: '10.0.0.4', port: 25, requires_tls: true }],
  ['smtp://localhost:1025', { host: 'localhost', port: 1025, requires_tls: false }],
  ['smtp://127.0.0.1:1025', { host: '127.0.0.1', requires_tls: false }],
  ['smtp://[::1]:1025', { host: '::1', requires_tls: false }],
  ['smtp://127.0.0.1.example.com', { requires_tls: true }],
  ['smtp://localhost.example.com', { requires_tls: true }],
  ['smtp://u%40example.com:p%3A%2F@m.example', { user: 'u@example.com', password: 'p:/' }],
])('SMTP_URL %s', (SMTP_URL, expected) => {
  expect(readConfig({ SMTP_URL, SMTP_FROM: FROM }).smtp_url).toMatchObject(expected);
});

test.each([
  'mail.example.com',
  'https://u:hunter2@mail.example.com',
  'smtp://u:hunter2@',
  'smtp://u:hunter2@mail.example.com/path',
  'smtp://u:hunter2@mail.example.com?requireTLS=false',
  'smtp://u:hunter2@mail.example.com#x',
  'smtp://hunter2@mail.example.com',
  'smtp://:hunter2@mail.example.com',
  'smtp://u:hunter2%0d%0aQUIT@mail.example.com',
  'smtp://u:hunter2%@mail.example.com',
  'smtp://u:hunter2@mail.example.com:99999',
])('SMTP_URL %s is refused in one line that shows nothing of it', (SMTP_URL) => {
  const read = () => readConfig({ SMTP_URL, SMTP_FROM: FROM });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/^SMTP_URL [^\n]+ but must be [^\n]+\.$/);
  expect(read).not.toThrow(/hunter2|mail\.example\.com/);
});

test.each([
  ['purser@example.com', { name: null, address: 'purser@example.com' }],
  ['<purser@example.com>', { name: null, address: 'purser@example.com' }],
  [FROM, { name: 'Purser', address: 'purser@example.com' }],
  ['Zahlungen Müller & Co. <p@example.com>', { name: 'Zahlungen Müller & Co.', address: 'p@example.com' }],
])('SMTP_FROM %s', (SMTP_FROM, expected) => {
  expect(readConfig({ SMTP_URL: 'smtp://localhost', SMTP_FROM }).smtp_from).toEqual(expected);
});

test.each([
  'purser',
  'a <b> <c@example.com>',
  'a@example.com, b@example.com',
  'A\r\nBcc: x@example.com <p@example.com>',
  'pürser@example.com',
  `${'n'.repeat(65)} <p@example.com>`,
])('SMTP_FROM %j is refused', (SMTP_FROM) => {
  expect(() => readConfig({ SMTP_URL: 'smtp://localhost', SMTP_FROM })).toThrow(/^SMTP_FROM is "/);
});

test('one without the other is refused', () => {
  expect(() => readConfig({ SMTP_URL: 'smtp://localhost' })).toThrow(/^SMTP_FROM is unset, but must be/);
  expect(() => readConfig({ SMTP_FROM: FROM })).toThrow(/^SMTP_URL is unset, but must be/);
});
