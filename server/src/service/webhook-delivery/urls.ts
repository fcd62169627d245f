import { MAX_URL_LENGTH } from '@purser/contract/values/webhooks';
import ipaddr from 'ipaddr.js';

export { MAX_URL_LENGTH };

/**
 * The kind of network that an address belongs to. `forbidden` addresses are refused even where private networks are
 * allowed, because none is a host of one's own network: multicast, metadata, formats that embed another address.
 */
export type Reach = 'public' | 'private' | 'forbidden';

const v4 = (text: string) => ipaddr.IPv4.parseCIDR(text);
const v6 = (text: string) => ipaddr.IPv6.parseCIDR(text);

const IPV4_PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10'].map(
  v4,
);
/**
 * Special ranges that the library does not know: benchmarking, the relay anycast of 6to4, AMT and AS112 servers, the
 * platform's virtual host on Azure, and Alibaba's metadata server in the range of carrier-grade NAT.
 */
const IPV4_FORBIDDEN = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '100.100.100.200/32',
  '168.63.129.16/32',
].map(v4);

const IPV6_PRIVATE = ['::1/128', 'fc00::/7'].map(v6);
/** Only 2000::/3 is allocated. Not public within it: Teredo and other protocols of 2001::/23, documentation, 6to4. */
const IPV6_GLOBAL = v6('2000::/3');
const IPV6_FORBIDDEN = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', 'fd00:ec2::254/128'].map(v6);

/** Returns whether a text is an address in its usual form. Short forms that old resolvers complete are not accepted. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** Returns the kind of an address in text form. A text that cannot be parsed is forbidden. */
export function reachOf(address: string): Reach {
  if (!isAddress(address)) return 'forbidden';
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) {
    if (IPV4_FORBIDDEN.some((range) => parsed.match(range))) return 'forbidden';
    if (IPV4_PRIVATE.some((range) => parsed.match(range))) return 'private';
    return parsed.range() === 'unicast' ? 'public' : 'forbidden';
  }
  const v6address = parsed as ipaddr.IPv6;
  if (IPV6_FORBIDDEN.some((range) => v6address.match(range))) return 'forbidden';
  if (IPV6_PRIVATE.some((range) => v6address.match(range))) return 'private';
  // ISATAP embeds an IPv4 address after 0:5efe or 200:5efe, under any prefix.
  const isatap = v6address.parts[5] === 0x5efe && [0, 0x200].includes(v6address.parts[4] as number);
  return v6address.match(IPV6_GLOBAL) && !isatap && v6address.range() === 'unicast' ? 'public' : 'forbidden';
}

/** Returns whether a connection to this address is allowed. */
export function mayConnect(address: string, allow_private: boolean): boolean {
  const reach = reachOf(address);
  return reach === 'public' || (allow_private && reach === 'private');
}

/** Returns whether two texts are the same address. */
export function sameAddress(a: string, b: string): boolean {
  if (!isAddress(a) || !isAddress(b)) return false;
  return ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();
}

/** Returns the address in a URL's host, `[::1]` without its brackets, or null if the host is a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isAddress(bare) ? bare : null;
}

/** Names that exist only inside a network. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'svc',
  'home.arpa',
];

const NAME = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const MAX_NAME_LENGTH = 253;
/** Returns whether a name may be public. */
function isPublicName(name: string): boolean {
  if (!name.includes('.')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

export type JudgedUrl = { ok: true; url: string } | { ok: false; problem: string };

const NOT_PUBLIC = 'must name a public host, not a private, local or reserved one';

/**
 * Checks an endpoint's URL without resolving its name, and returns its canonical form. `allow_private` also allows
 * `http://`, loopback and private networks. The addresses of the name are checked at each connection.
 */
export function judgeUrl(text: string, allow_private: boolean): JudgedUrl {
  const wrong = (problem: string): JudgedUrl => ({ ok: false, problem });
  if (text.length > MAX_URL_LENGTH) return wrong(`must have at most ${MAX_URL_LENGTH} characters`);
  // The parser would remove line breaks and repair slashes. Such a URL is refused instead of guessing its meaning.
  if (/[\s\p{C}\\]/u.test(text)) return wrong('must not contain spaces, control characters or backslashes');
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/[^/?#]/i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== 'https' && !(allow_private && scheme === 'http')) {
    return wrong(allow_private ? 'must be an https:// or http:// URL' : 'must be a public https:// URL');
  }
  if (!URL.canParse(text)) return wrong('must be a URL');
  const url = new URL(text);
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return wrong('must not contain a user name or password');
  if (url.hash !== '' || text.includes('#')) return wrong('must not have a fragment');
  if (url.port === '0') return wrong('must not use port 0');
  const host = url.hostname.replace(/\.$/, '');
  const address = literalAddress(host);
  if (address !== null)
    return mayConnect(address, allow_private) ? { ok: true, url: url.href } : wrong(NOT_PUBLIC);
  if (host.length > MAX_NAME_LENGTH || !NAME.test(host)) return wrong('must name a host');
  if (!allow_private && !isPublicName(host)) return wrong(NOT_PUBLIC);
  url.hostname = host;
  return { ok: true, url: url.href };
}
