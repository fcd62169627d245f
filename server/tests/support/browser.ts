import { request } from 'node:http';
import type { CallOptions, Reply, RunningService } from './running-service.ts';

/** A person in front of a browser: keeps the cookies that it is given, and sends what a page of the console sends. */
export interface Browser {
  /** By name. */
  cookies: Map<string, string>;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
}

/** Opens a browser at a node. `cookies` of another one make it the same browser at another node. */
export function openBrowser(
  service: Pick<RunningService, 'call'>,
  cookies: Map<string, string> = new Map(),
): Browser {
  return {
    cookies,
    async call(method, path, options = {}) {
      const headers: Record<string, string> = { 'sec-fetch-site': 'same-origin', ...options.headers };
      for (const [name, value] of Object.entries(headers)) if (value === '') delete headers[name];
      if (cookies.size > 0)
        headers.cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const reply = await service.call(method, path, { ...options, key: options.key ?? null, headers });
      for (const cookie of reply.headers.getSetCookie()) {
        const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(cookie) as RegExpExecArray;
        if (/max-age=0\b/i.test(attributes as string)) cookies.delete(name as string);
        else cookies.set(name as string, value as string);
      }
      return reply;
    },
  };
}

export const PASSWORD = 'correct horse battery';

/** The code that the start of a service printed. */
export const setupCodeOf = ({ service }: RunningService) => service.console_url.split('#')[1] as string;

/** Makes the first administrator; the browser is signed in. */
export async function setUp(
  service: RunningService,
  person: { email?: string; name?: string; password?: string } = {},
): Promise<Browser> {
  const browser = openBrowser(service);
  const reply = await browser.call('POST', '/v1/auth/setup', {
    body: {
      code: setupCodeOf(service),
      email: 'ada@example.com',
      name: 'Ada',
      password: PASSWORD,
      ...person,
    },
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return browser;
}

/** Signs in; the browser keeps the session. */
export async function signIn(
  service: Pick<RunningService, 'call'>,
  email: string,
  password = PASSWORD,
): Promise<Browser> {
  const browser = openBrowser(service);
  const reply = await browser.call('POST', '/v1/auth/sign-in', { body: { email, password } });
  if (reply.status !== 200) throw new Error(reply.text);
  return browser;
}

/** Posts as a browser does that knows the service by another name: `fetch` sends no `host` of one's own. Returns the status. */
export function postToHost(
  { url }: Pick<RunningService, 'url'>,
  host: string,
  path: string,
  body: object,
): Promise<number | undefined> {
  const headers = { host, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
}
