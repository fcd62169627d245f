import { routes } from '@purser/contract/routes/people/oidc';
import { ApiError } from '@purser/rules/errors';
import { type Call, type Route, serve } from '../../http/route.ts';
import { fromOf } from '../../people/callers.ts';
import { type ProvedIdentity, type Provider, ProviderRefusal } from '../../people/oidc.ts';
import { OidcRefusal, type OidcRefusalCode } from '../../people/oidc-people.ts';
import type { Sessions } from '../../people/sessions.ts';
import type { From, SignedIn, SignInFlows } from '../../people/sign-in.ts';
import type { Site } from '../../people/site.ts';
import { verifying } from '../../people/verifying.ts';

/** Signing in through the identity provider of the settings. Browsers come here by themselves, not through scripts. */
export function makeOidcRoutes(options: {
  provider: Provider | null;
  flows: SignInFlows;
  site: Site;
  sessions: Pick<Sessions, 'digestsOf'>;
  signIn: (proved: ProvedIdentity, from: From, earlier: readonly Buffer[]) => Promise<SignedIn>;
}): Route[] {
  const { provider, flows, site, sessions, signIn } = options;

  const toSignIn = (code: OidcRefusalCode | 'auth_unavailable', cookies: string[]) => ({
    status: 302 as const,
    headers: { location: site.consoleUrl(`sign-in?error=${code}`), 'set-cookie': cookies },
  });

  /** Redirects a browser to the page that shows the error. Other clients receive the error itself. */
  function unavailable(error: unknown, call: Pick<Call, 'headers'>, cookies: string[]) {
    const is_unavailable = error instanceof ApiError && error.code === 'auth_unavailable';
    if (!is_unavailable || !String(call.headers.accept).includes('text/html')) throw error;
    return toSignIn('auth_unavailable', cookies);
  }

  function theProvider(): Provider {
    if (provider === null) throw new ApiError('not_found', 'No identity provider is configured.');
    return provider;
  }

  async function finish(
    call: Parameters<typeof fromOf>[0],
    { proved, again, earlier }: Awaited<ReturnType<Provider['finish']>>,
  ) {
    const from = fromOf(call);
    const cleared = site.clearTransaction();
    try {
      const { cookies } = await signIn(proved, from, earlier);
      const location = site.consoleUrl(again === undefined ? '' : 'signed-in');
      return { status: 302 as const, headers: { location, 'set-cookie': [...cookies, cleared] } };
    } catch (error) {
      if (!(error instanceof OidcRefusal)) throw error;
      if (proved.email !== null) {
        flows.recordRefusal({
          kind: 'oidc_failed',
          method: 'oidc',
          email: proved.email.slice(0, 512),
          client_address: from.client_address,
        });
      }
      return toSignIn(error.code, [cleared]);
    }
  }

  return [
    serve(routes.startOidc)(async (call) => {
      try {
        site.checkTransport(call.headers);
        const { again } = call.query;
        const { url, cookie } = await theProvider().begin({
          again,
          earlier: sessions.digestsOf(call.headers),
        });
        return { status: 302, headers: { location: url, 'set-cookie': cookie } };
      } catch (error) {
        return unavailable(error, call, []);
      }
    }),
    serve(routes.finishOidc)(async (call) => {
      const cleared = site.clearTransaction();
      try {
        const back = await theProvider().finish(call.query, site.transactionCookie(call.headers));
        return await verifying(() => finish(call, back));
      } catch (error) {
        if (error instanceof ProviderRefusal) return toSignIn('sign_in_failed', [cleared]);
        return unavailable(error, call, [cleared]);
      }
    }),
  ];
}
