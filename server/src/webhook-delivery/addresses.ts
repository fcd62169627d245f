import dns from 'node:dns';

/** All addresses of a name, IPv4 first; empty when it has none. Throws when nobody could be asked. */
export type Resolve = (name: string) => Promise<string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/**
 * Asks the name servers of the system directly, with a time limit of its own: `dns.lookup` would occupy one of few
 * threads for as long as the slowest server takes, and hold up every other delivery. `servers`: `address:port`, in
 * place of the system's.
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

/** The name does not exist, or not with addresses of this kind: an answer, not a failure. */
function isEmpty(error: { code?: string }): boolean {
  return error.code === dns.NODATA || error.code === dns.NOTFOUND;
}

/** As the system resolves names, with `/etc/hosts`: for development, where private networks are allowed. */
export function makeSystemResolve(): Resolve {
  return async (name) => {
    const found = await dns.promises.lookup(name, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  };
}
