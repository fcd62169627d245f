import { describe, expect, it } from 'vitest';
import { addressBlock } from './client-address.ts';
import { makeOwnLimiter } from './limiters.ts';
import { makeKeyLimit, makeUnknownKeyLimit } from './rate-limit.ts';

describe('the limit by key', () => {
  it('lets exactly the given number through, each key by itself', async () => {
    const count = makeKeyLimit(600, makeOwnLimiter);
    const within = await Promise.all(Array.from({ length: 601 }, () => count('key_a')));
    expect(within.map((one) => one.within)).toEqual([...Array(600).fill(true), false]);
    expect(within[600]).toEqual({
      within: false,
      policy: '"default";q=600;w=60',
      state: '"default";r=0;t=60',
    });
    expect((await count('key_b')).state).toBe('"default";r=599;t=60');
  });
});

describe('the limit of unknown keys', () => {
  it('counts an IPv6 client by its /64, an IPv4 client by itself', async () => {
    const count = makeUnknownKeyLimit(1, () => 0, makeOwnLimiter);
    expect((await count('2001:db8::1')).within).toBe(true);
    expect((await count('2001:db8:0:0:dead:beef::')).within).toBe(false);
    expect((await count('2001:db8:0:1::1')).within).toBe(true);
    expect((await count('192.0.2.1')).within).toBe(true);
    expect((await count('192.0.2.2')).within).toBe(true);
    expect((await count('192.0.2.1')).within).toBe(false);
  });

  it('remembers a bounded number of addresses: beyond it the new ones share a count, the known keep theirs', async () => {
    let now_ms = 0;
    const count = makeUnknownKeyLimit(2, () => now_ms, makeOwnLimiter);
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    for (let n = 0; n < 20_000; n++) await count(address(n));
    expect((await count('192.0.2.1')).within).toBe(true);
    expect((await count('192.0.2.2')).within).toBe(true);
    expect((await count('192.0.2.3')).within).toBe(false);
    expect((await count(address(5))).within).toBe(true);
    now_ms = 60_000;
    expect((await count('192.0.2.4')).within).toBe(true);
  });
});

describe('the block of an address', () => {
  it('is the /64 of IPv6 and the address itself of IPv4 and of what is no address', () => {
    expect(addressBlock('2001:db8:a:b:1:2:3:4')).toBe('2001:db8:a:b::/64');
    expect(addressBlock('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
    expect(addressBlock('203.0.113.9')).toBe('203.0.113.9');
    expect(addressBlock('unknown')).toBe('unknown');
  });
});
