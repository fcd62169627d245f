import dns from 'node:dns';

/** Returns all addresses of a name, IPv4 first, or none. Throws if no name server answered. */
export type Resolve = (name: string) => Promise<string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/**
 * Makes a resolver that asks the system's name servers directly and has a time limit of its own. `dns.lookup` would
 * occupy one of few threads for as long as the slowest server takes, and delay all other deliveries. `servers` replaces
 * the system's; each is an `address:port`.
 */
export function makeResolve(servers?: readonly string[]): Resolve {
  const resolver = new dns.promises.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failed = answers.find((answer) => answer.status === 'rejected' && !isEmpty(answer.reason));
    if (addresses.length === 0 && failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    return addresses;
  };
}

/** Codes for a name that does not exist or has no such addresses. They are answers, not failures. */
function isEmpty(error: { code?: string }): boolean {
  return error.code === dns.NODATA || error.code === dns.NOTFOUND;
}

/**
 * Makes a resolver that resolves as the system does, with `/etc/hosts`. It is used where private networks are allowed.
 */
export function makeSystemResolve(): Resolve {
  return async (name) => {
    const found = await dns.promises.lookup(name, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  };
}
