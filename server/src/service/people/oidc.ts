import { CALLBACK_PATH, SIGN_IN_AGAIN } from '@purser/contract/values/people';
import { ApiError, authUnavailable } from '@purser/rules/errors';
import * as oidc from 'openid-client';
import type { Identity } from '../../engine/storage/members.ts';
import type { Secrets } from '../installation/secrets.ts';
import type { Site } from './site.ts';

export { CALLBACK_PATH, SIGN_IN_AGAIN };

const TIMEOUT_S = 5;
/** How long a person may take at the provider. */
const TRANSACTION_S = 600;
/** The last second that databases and clocks agree on: whatever the provider says, it is a time. */
const LAST_S = 253_402_300_799;
/** The provider's metadata is asked for again after this; its keys are fetched again by themselves. */
const METADATA_MS = 3_600_000;
/** The settings of the identity provider. */
export interface OidcConfig {
  oidc_issuer: string | null;
  oidc_client_id: string | null;
  oidc_client_secret: string | null;
  oidc_name: string;
  oidc_scopes: string;
}

/** A person's identity, as the provider states it. */
export interface ProvedIdentity {
  identity: Identity;
  /** Null: the provider names none, or does not vouch for it. */
  verified_email: string | null;
  /** As it was named, for the list of sign-ins. */
  email: string | null;
  name: string | null;
  /** When the person signed in at the provider, ms; the epoch where it does not say. */
  proved_at_ms: number;
  claims: Readonly<Record<string, unknown>>;
}

/** The provider’s answer proves nobody. */
export class ProviderRefusal extends Error {
  override name = 'ProviderRefusal';
}

/** Thrown inside of fetches, to be found again in whatever the library makes of it. */
class ProviderDown extends Error {
  override name = 'ProviderDown';
}

export type SignInAgain = (typeof SIGN_IN_AGAIN)[number];

/** An identity provider that speaks OpenID Connect. */
export interface Provider {
  /**
   * Where the browser goes, and the `set-cookie` that it comes back with. `earlier`: the digests of the session that it has,
   * which it does not show on the way back. Throws `auth_unavailable`.
   */
  begin(options: {
    again?: SignInAgain | undefined;
    earlier: readonly Buffer[];
  }): Promise<{ url: string; cookie: string }>;
  /**
   * Identifies the person from the callback's parameters and the cookie, with the input of `begin`. Each callback
   * works once. Throws `auth_unavailable` if the provider does not answer, and `ProviderRefusal` for anything that is
   * not exactly the answer to what this browser asked.
   */
  finish(
    query: Readonly<Record<string, string>>,
    sealed: string | undefined,
  ): Promise<{ proved: ProvedIdentity; again: SignInAgain | undefined; earlier: Buffer[] }>;
}

interface Transaction {
  state: string;
  nonce: string;
  verifier: string;
  again?: SignInAgain | undefined;
  /** Base64. */
  earlier: string[];
  expires_ms: number;
}

/** Fetches for the library: what cannot be reached, or fails over there, is told apart from what is wrong. */
const fetchFromProvider: typeof fetch = async (url, init) => {
  let response: Response;
  try {
    response = await fetch(url, { ...init, redirect: 'manual' });
  } catch (cause) {
    throw new ProviderDown('the identity provider could not be reached', { cause });
  }
  if (response.status >= 500) throw new ProviderDown(`the identity provider answered ${response.status}`);
  return response;
};

function isProviderDown(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ProviderDown || each.name === 'TimeoutError' || each.name === 'AbortError')
      return true;
  }
  return false;
}

/** Throws what an error of the library means. */
function rethrow(error: unknown): never {
  if (error instanceof ApiError || error instanceof ProviderRefusal) throw error;
  if (isProviderDown(error)) throw authUnavailable(error, 'identity_provider');
  throw new ProviderRefusal('The response of the identity provider was refused.', { cause: error });
}

/** Makes it; null where no provider is set. Nothing is asked of it before the first sign-in. */
export function makeProvider(
  config: OidcConfig,
  options: {
    site: Site;
    secrets: Pick<Secrets, 'sealState' | 'openState'>;
    newNonce: () => Buffer;
    /** A clock on which only differences count, ms. */
    now_ms: () => number;
    /** The time of day, ms. */
    clock_ms: () => number;
    /** Uses up a way back for at least the time that it is good. Returns false if it was used before. */
    useUp: (state: string) => Promise<boolean>;
  },
): Provider | null {
  const { oidc_issuer: issuer, oidc_client_id: client_id, oidc_client_secret: secret } = config;
  if (issuer === null || client_id === null) return null;
  const { site, secrets } = options;
  const insecure = issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  let known: { at_ms: number; configuration: Promise<oidc.Configuration> } | null = null;

  async function discover(client_id: string, issuer: string): Promise<oidc.Configuration> {
    const found = await oidc.discovery(new URL(issuer), client_id, undefined, oidc.None(), {
      execute: insecure,
      timeout: TIMEOUT_S,
      [oidc.customFetch]: fetchFromProvider as oidc.CustomFetch,
    });
    const metadata = found.serverMetadata();
    // Without a word of the provider it is the one that the standard names.
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authentication =
      secret === null
        ? oidc.None()
        : methods.includes('client_secret_basic')
          ? oidc.ClientSecretBasic(secret)
          : oidc.ClientSecretPost(secret);
    const configuration = new oidc.Configuration(metadata, client_id, undefined, authentication);
    configuration.timeout = TIMEOUT_S;
    configuration[oidc.customFetch] = fetchFromProvider as oidc.CustomFetch;
    for (const allow of insecure) allow(configuration);
    // The library trusts what comes straight from the token endpoint; the signature is to be checked all the same.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** The provider's metadata: asked for once, and again when it is old or could not be had. */
  function configure(): Promise<oidc.Configuration> {
    if (known === null || options.now_ms() - known.at_ms > METADATA_MS) {
      const configuration = discover(client_id as string, issuer as string);
      const asked = { at_ms: options.now_ms(), configuration };
      known = asked;
      configuration.catch(() => {
        if (known === asked) known = null;
      });
    }
    return known.configuration;
  }

  function open(sealed: string | undefined): Transaction {
    const text = sealed === undefined ? null : secrets.openState(sealed);
    const transaction = text === null ? null : (JSON.parse(text) as Transaction);
    if (transaction === null || transaction.expires_ms <= options.clock_ms()) {
      throw new ProviderRefusal('This browser did not start the sign-in, or started it too long ago.');
    }
    return transaction;
  }

  const redirect_uri = () => `${site.origin()}${CALLBACK_PATH}`;

  return {
    async begin({ again, earlier }) {
      try {
        const configuration = await configure();
        const verifier = oidc.randomPKCECodeVerifier();
        const transaction: Transaction = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier,
          again,
          earlier: earlier.map((digest) => digest.toString('base64')),
          expires_ms: options.clock_ms() + TRANSACTION_S * 1_000,
        };
        const url = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: redirect_uri(),
          scope: config.oidc_scopes,
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state: transaction.state,
          nonce: transaction.nonce,
          ...(again === 'proof' ? { max_age: '0' } : {}),
        });
        const sealed = secrets.sealState(JSON.stringify(transaction), options.newNonce());
        return { url: url.href, cookie: site.setTransaction(sealed, TRANSACTION_S) };
      } catch (error) {
        // Whatever is wrong here is wrong with the provider or its settings, and not with the person.
        throw error instanceof ApiError ? error : authUnavailable(error, 'identity_provider');
      }
    },
    async finish(query, sealed) {
      try {
        const { state, nonce, verifier, again, earlier } = open(sealed);
        if (query.state !== state || !(await options.useUp(state))) {
          throw new ProviderRefusal('This browser did not start the sign-in, or already completed it.');
        }
        const configuration = await configure();
        const url = new URL(redirect_uri());
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
        const tokens = await oidc.authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const id_token = tokens.claims() as oidc.IDToken;
        const needs_more = id_token.email === undefined && configuration.serverMetadata().userinfo_endpoint;
        const more = needs_more
          ? await oidc.fetchUserInfo(configuration, tokens.access_token, id_token.sub)
          : {};
        const claims: Record<string, unknown> = { ...more, ...id_token };
        // What one document says of an e-mail vouches for none that another one names.
        const of_email: Record<string, unknown> = id_token.email === undefined ? more : id_token;
        const email = typeof of_email.email === 'string' ? of_email.email : null;
        const { auth_time } = id_token;
        const proved_at_s = typeof auth_time === 'number' ? Math.min(Math.max(auth_time, 0), LAST_S) : 0;
        const proved = {
          identity: { issuer: id_token.iss, subject: id_token.sub },
          verified_email: of_email.email_verified === true ? email : null,
          email,
          name: typeof claims.name === 'string' ? claims.name : null,
          proved_at_ms: proved_at_s * 1_000,
          claims,
        };
        return { proved, again, earlier: earlier.map((digest) => Buffer.from(digest, 'base64')) };
      } catch (error) {
        rethrow(error);
      }
    },
  };
}
