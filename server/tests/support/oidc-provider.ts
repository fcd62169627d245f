import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openBrowser } from './browser.ts';
import type { Reply, RunningService } from './running-service.ts';

type Claims = Record<string, unknown>;

/** A real identity provider in this process, and what tests change about it. */
export interface TestProvider {
  issuer: string;
  /** Who is at the provider's page of sign-in: the subject, and what is said of them. */
  person: { sub: string; claims: Claims };
  /** Changes what an id_token says before it is signed anew with the provider's key. */
  alterClaims: ((claims: Claims) => Claims) | null;
  /** Changes the id_token itself. */
  alterToken: ((token: string) => string) | null;
  /** Answers 500 at paths that begin so. */
  broken: string | null;
  /** Lets the provider know where its client's browsers come back to. */
  begin(redirect_uri: string): Promise<void>;
  stop(): Promise<void>;
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = { ...privateKey.export({ format: 'jwk' }), kid: 'test', use: 'sig', alg: 'RS256' };

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs claims as the provider does. */
function signed(claims: Claims): string {
  const text = `${encode({ alg: 'RS256', kid: 'test', typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
}

const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());

/** Starts it on a free port. */
export async function startProvider(): Promise<TestProvider> {
  const server: Server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const test: TestProvider = {
    issuer,
    person: { sub: 'sub-1', claims: {} },
    alterClaims: null,
    alterToken: null,
    broken: null,
    async begin(redirect_uri) {
      // biome-ignore lint/suspicious/noExplicitAny: the library comes without types.
      const { default: Provider }: any = await import('oidc-provider' as string);
      const provider = new Provider(issuer, {
        clients: [{ client_id: 'purser', client_secret: 'a-client-secret', redirect_uris: [redirect_uri] }],
        jwks: { keys: [KEY] },
        cookies: { keys: ['a key of the cookies'] },
        claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        findAccount: (_: unknown, sub: string) => ({
          accountId: sub,
          claims: async () => ({ sub, ...test.person.claims }),
        }),
        async loadExistingGrant(ctx: {
          oidc: { session: { accountId: string }; client: { clientId: string }; provider: typeof provider };
        }) {
          const { session, client } = ctx.oidc;
          const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
          grant.addOIDCScope('openid email profile');
          await grant.save();
          return grant;
        },
      });
      provider.use(
        async (
          ctx: { oidc?: { route?: string }; body?: { id_token?: string } },
          next: () => Promise<void>,
        ) => {
          await next();
          const token = ctx.oidc?.route === 'token' ? ctx.body?.id_token : undefined;
          if (token === undefined) return;
          const altered = test.alterClaims === null ? token : signed(test.alterClaims(claimsOf(token)));
          (ctx.body as { id_token: string }).id_token = test.alterToken?.(altered) ?? altered;
        },
      );
      const handle = provider.callback();
      server.on('request', async (request, response) => {
        if (test.broken !== null && request.url?.startsWith(test.broken)) {
          response.writeHead(500).end();
        } else if (request.url?.startsWith('/interaction/')) {
          const login = { accountId: test.person.sub };
          await provider.interactionFinished(request, response, { login });
        } else handle(request, response);
      });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return test;
}

/** Goes from page to page at the provider as a browser does, and gives the address that leads back to the service. */
export async function visitProvider(url: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = new URL(url);
  const { origin } = next;
  while (next.origin === origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) as RegExpExecArray;
      cookies.set(name as string, value as string);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${next}: ${response.status} ${await response.text()}`);
    next = new URL(location, next);
  }
  return next.href;
}

/** Signs in through the provider: the browser, and the answer of the callback. */
export async function signInByProvider(
  service: RunningService,
  { again, alterCallback = () => {} }: { again?: string; alterCallback?: (url: URL) => void } = {},
): Promise<{ browser: ReturnType<typeof openBrowser>; reply: Reply; callback: string; code: string | null }> {
  const browser = openBrowser(service);
  const page = { headers: { 'sec-fetch-site': '', accept: 'text/html' } };
  const started = await browser.call('GET', `/v1/auth/oidc/start${again ? `?again=${again}` : ''}`, page);
  const back = new URL(await visitProvider(started.headers.get('location') as string));
  alterCallback(back);
  const callback = `${back.pathname}${back.search}`;
  const reply = await browser.call('GET', callback, page);
  const location = new URL(reply.headers.get('location') ?? 'http://none.invalid');
  return { browser, reply, callback, code: location.searchParams.get('error') };
}
