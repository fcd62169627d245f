import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { makeClientAddress } from './client-address.ts';

function from(peer: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
}

describe('the address of a client', () => {
  const CLIENT = '203.0.113.9';

  it.each([
    ['192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['192.0.2.0/24', '192.0.2.7', '192.0.3.1'],
    ['2001:db8::1', '2001:db8::1', '2001:db8::2'],
    ['2001:db8::/32', '2001:db8:1::1', '2001:db9::1'],
    ['::ffff:192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['::ffff:192.0.2.0/120', '::ffff:192.0.2.7', '192.0.3.1'],
  ])('is what a proxy in %s says, and no other peer', (range, proxy, stranger) => {
    const clientAddress = makeClientAddress([range]);
    expect(clientAddress(from(proxy, CLIENT))).toBe(CLIENT);
    expect(clientAddress(from(stranger, CLIENT))).toBe(stranger);
  });

  it('is the right-most one that no trusted proxy has', () => {
    const clientAddress = makeClientAddress(['127.0.0.1', '10.0.0.0/8']);
    expect(clientAddress(from('127.0.0.1', `6.6.6.6, ${CLIENT}, 10.1.2.3`))).toBe(CLIENT);
  });
});
