import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Returns the address of a request's sender as text. IPv4-mapped IPv6 addresses are written as IPv4. */
export type ClientAddress = (
  message: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } },
) => string;

const UNKNOWN = 'unknown';
/** The prefix of an IPv4-mapped IPv6 address. */
const MAPPED_BITS = 96;
/** The most peers for which the cache keeps whether they are trusted proxies. When it is full it is emptied. */
const MAX_REMEMBERED_PEERS = 1_000;

/**
 * Makes the function that returns a client's address: the peer's, or, if the peer is in one of `trusted_proxies` (CIDR
 * ranges or single addresses), the right-most address of `x-forwarded-for` that is in none of them. Entries further
 * left were written by the client and are never trusted. Throws if an entry of `trusted_proxies` is neither.
 */
export function makeClientAddress(trusted_proxies: readonly string[]): ClientAddress {
  if (trusted_proxies.length === 0) return (message) => folded(message.socket.remoteAddress ?? UNKNOWN);

  const ranges = trusted_proxies.map(parseRange);
  const remembered = new Map<string, boolean>();

  function isTrusted(address: string): boolean {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    const parsed = parse(address);
    const trusted =
      parsed !== null &&
      ranges.some(({ network, bits }) => network.kind() === parsed.kind() && parsed.match(network, bits));
    if (remembered.size >= MAX_REMEMBERED_PEERS) remembered.clear();
    remembered.set(address, trusted);
    return trusted;
  }

  return (message) => {
    let address = folded(message.socket.remoteAddress ?? UNKNOWN);
    const forwarded = message.headers['x-forwarded-for'];
    if (forwarded === undefined || !isTrusted(address)) return address;
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',');
    for (let index = hops.length - 1; index >= 0 && isTrusted(address); index--) {
      const hop = parse((hops[index] as string).trim());
      // A trusted proxy wrote something that is not an address, so the request is counted as that proxy's.
      if (hop === null) return address;
      address = hop.toString();
    }
    return address;
  };
}

/**
 * Returns the name under which requests with unknown keys are counted: an IPv4 address, or the /64 of an IPv6 address,
 * because one client usually owns a whole /64.
 */
export function addressBlock(address: string): string {
  const parsed = parse(address);
  if (parsed === null || parsed.kind() === 'ipv4') return address;
  const [a, b, c, d] = (parsed as ipaddr.IPv6).parts as [number, number, number, number];
  return `${[a, b, c, d].map((part) => part.toString(16)).join(':')}::/64`;
}

/** Parses a CIDR range or a single address. IPv4-mapped ranges become IPv4 ranges, as the peers' addresses do. */
function parseRange(range: string): { network: ipaddr.IPv4 | ipaddr.IPv6; bits: number } {
  const whole = range.includes('/') ? range : `${range}/${ipaddr.parse(range).kind() === 'ipv4' ? 32 : 128}`;
  const [network, bits] = ipaddr.parseCIDR(whole);
  const is_mapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits > MAPPED_BITS;
  return is_mapped ? { network: network.toIPv4Address(), bits: bits - MAPPED_BITS } : { network, bits };
}

function folded(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** Parses an address. It also accepts `1.2.3.4:5678` and `[2001:db8::1]:5678`, which some proxies write. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address);
  const text = bare?.[1] ?? bare?.[2] ?? address;
  // ipaddr.process also reads "10.1" and "0x7f.1" as IPv4; no proxy writes those.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return null;
  return ipaddr.process(text);
}
