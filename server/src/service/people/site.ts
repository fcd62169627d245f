import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { ApiError } from '@purser/rules/errors';

const MAX_PORT_DIGITS = 5;
const HASH_CHARACTERS = 6;
const FOREIGN =
  "The request did not come from this service's console: open the console at the address of this service; behind a proxy, set PUBLIC_URL to the address that browsers use.";
const FOREIGN_HOST =
  'Host: is not an address of this service. Set PUBLIC_URL to the address that clients use, or call the service at its PUBLIC_URL.';
const FOREIGN_ORIGIN = 'Origin: is not this service; programs should omit it.';
const NOT_LOOPBACK =
  'Over plain http, sign-in works only on the same machine: use https and set PUBLIC_URL to the address that browsers use.';

/** Where browsers find the service, and what follows from it: links, cookies, and which requests are the console's own. */
export interface Site {
  /** Told once the service listens, because port 0 stands for any. */
  listensOn(port: number): void;
  /** `https://purser.example`, or `http://localhost:8080`. */
  origin(): string;
  /** All origins that are the console's own. */
  origins(): readonly string[];
  /** The host name that passkeys are made for; null where there is none, since they know no IP addresses. */
  relyingParty(): string | null;
  /** The address of a page of the console; `path` has no slash at its beginning. */
  consoleUrl(path?: string): string;
  /** The value of a session's cookie in a request; undefined if there is none. */
  sessionCookie(headers: IncomingHttpHeaders): string | undefined;
  /** A `set-cookie` that gives the browser a session. */
  setSession(value: string, max_age_s: number): string;
  /** A `set-cookie` that takes it away. */
  clearSession(): string;
  /** The same for the cookie by which a browser is known that somebody signed in with. It lets nobody in. */
  deviceCookie(headers: IncomingHttpHeaders): string | undefined;
  setDevice(value: string, max_age_s: number): string;
  /** The same for what a browser keeps while it is with an identity provider. Sent with the way back, hence Lax. */
  transactionCookie(headers: IncomingHttpHeaders): string | undefined;
  setTransaction(value: string, max_age_s: number): string;
  clearTransaction(): string;
  /**
   * Throws `cross_site_request` unless the request comes from the console: each of `Sec-Fetch-Site` and `Origin` that
   * is there must be right, and with `required` one of them must be there.
   */
  checkSameSite(headers: IncomingHttpHeaders, options: { required: boolean }): void;
  /** Throws `cross_site_request` where a cookie would travel in the clear: beyond loopback without https. */
  checkTransport(headers: IncomingHttpHeaders): void;
  /**
   * Throws `cross_site_request` unless somebody may come in by this request: from no other site, and not in the clear.
   * Asked before anything is done for it, since a session that cannot be given must use up no code and no invitation.
   */
  checkDoor(headers: IncomingHttpHeaders): void;
  /**
   * Throws `misdirected_request` unless `Host` names this service (loopback, the address that the connection came in at,
   * or `PUBLIC_URL`), and `cross_site_request` where there is an `Origin` of anybody else. So a page whose host name
   * was made to point here gets no answer.
   */
  checkEntrance(message: Pick<IncomingMessage, 'headers' | 'socket'>): void;
}

/** Reads one cookie. Of several with the same name the first counts. */
function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Returns whether a `Host` header names this machine itself. */
export function isLoopbackHost(host: string | undefined): boolean {
  return new RegExp(`^(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d{1,${MAX_PORT_DIGITS}})?$`, 'i').test(
    host ?? '',
  );
}

/** The host name of an address; null where it is none. */
function hostName(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

/**
 * Makes it. `public_url` is null where browsers run on the same machine. `installation` tells apart the cookies of several
 * services on one loopback address, since cookies know no ports.
 */
export function makeSite({
  public_url,
  installation,
}: {
  public_url: string | null;
  installation: string;
}): Site {
  let port = 0;
  const public_host = public_url === null ? null : hostName(public_url);
  const is_secure = public_url?.startsWith('https:') === true;
  const suffix = is_secure ? '' : `_${installation.slice(0, HASH_CHARACTERS)}`;
  const session = is_secure ? '__Host-purser' : `purser${suffix}`;
  const device = is_secure ? '__Host-purser-device' : `purser_device${suffix}`;
  const transaction = is_secure ? '__Host-purser-oidc' : `purser_oidc${suffix}`;
  const attributes = `Path=/; HttpOnly${is_secure ? '; Secure' : ''}`;
  const origins = () =>
    public_url === null ? [`http://localhost:${port}`, `http://127.0.0.1:${port}`] : [public_url];
  const origin = () => origins()[0] as string;
  const site: Site = {
    listensOn(given) {
      port = given;
    },
    origin,
    origins,
    relyingParty() {
      const { hostname } = new URL(public_url ?? 'http://localhost');
      return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : null;
    },
    consoleUrl: (path = '') => `${origin()}/console/${path}`,
    sessionCookie: (headers) => readCookie(headers, session),
    setSession: (value, max_age_s) =>
      `${session}=${value}; ${attributes}; SameSite=Strict; Max-Age=${max_age_s}`,
    clearSession: () => `${session}=; ${attributes}; SameSite=Strict; Max-Age=0`,
    deviceCookie: (headers) => readCookie(headers, device),
    setDevice: (value, max_age_s) =>
      `${device}=${value}; ${attributes}; SameSite=Strict; Max-Age=${max_age_s}`,
    transactionCookie: (headers) => readCookie(headers, transaction),
    setTransaction: (value, max_age_s) =>
      `${transaction}=${value}; ${attributes}; SameSite=Lax; Max-Age=${max_age_s}`,
    clearTransaction: () => `${transaction}=; ${attributes}; SameSite=Lax; Max-Age=0`,
    checkSameSite(headers, { required }) {
      const site = headers['sec-fetch-site'];
      const { origin: from } = headers;
      const is_told = site !== undefined || from !== undefined;
      const is_right =
        (site === undefined || site === 'same-origin') && (from === undefined || origins().includes(from));
      if (!is_right || (required && !is_told)) throw new ApiError('cross_site_request', FOREIGN);
    },
    checkTransport(headers) {
      if (public_url === null && !isLoopbackHost(headers.host)) {
        throw new ApiError('cross_site_request', NOT_LOOPBACK);
      }
    },
    checkEntrance({ headers: { host, origin: from }, socket }) {
      const name = hostName(`http://${host}`);
      const is_own = name !== null && [public_host, hostName(`http://${socket.localAddress}`)].includes(name);
      if (!is_own && !isLoopbackHost(host)) throw new ApiError('misdirected_request', FOREIGN_HOST);
      if (from === undefined || origins().includes(from) || from === `http://${host}`) return;
      throw new ApiError('cross_site_request', FOREIGN_ORIGIN);
    },
    checkDoor(headers) {
      site.checkSameSite(headers, { required: false });
      site.checkTransport(headers);
    },
  };
  return site;
}
