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

interface Transaction {
  state: string;
  nonce: string;
  verifier: string;
  again?: SignInAgain | undefined;
  /** Base64. */
  earlier: string[];
  expires_ms: number;
}

/** Fetches for the library. Throws `ProviderDown` where the provider cannot be reached or fails. */
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

export interface ProviderOptions {
  site: Site;
  secrets: Pick<Secrets, 'sealState' | 'openState'>;
  newNonce: () => Buffer;
  /** A clock on which only differences count, ms. */
  now_ms: () => number;
  /** The time of day, ms. */
  clock_ms: () => number;
  /** Uses up a way back for at least the time that it is good. Returns false if it was used before. */
  useUp: (state: string) => Promise<boolean>;
}

/** Makes the provider; null where none is set. Nothing is asked of it before the first sign-in. */
export function makeProvider(config: OidcConfig, options: ProviderOptions): Provider | null {
  const { oidc_issuer, oidc_client_id } = config;
  if (oidc_issuer === null || oidc_client_id === null) return null;
  return new Provider({ ...config, oidc_issuer, oidc_client_id }, options);
}

type SetConfig = OidcConfig & { oidc_issuer: string; oidc_client_id: string };

/** An identity provider that speaks OpenID Connect. */
export class Provider {
  readonly #config: SetConfig;
  readonly #options: ProviderOptions;
  #known: { at_ms: number; configuration: Promise<oidc.Configuration> } | null = null;

  constructor(config: SetConfig, options: ProviderOptions) {
    this.#config = config;
    this.#options = options;
  }

  /**
   * Where the browser goes, and the `set-cookie` that it comes back with. `earlier`: the digests of the session that it has,
   * which it does not show on the way back. Throws `auth_unavailable`.
   */
  async begin({
    again,
    earlier,
  }: {
    again?: SignInAgain | undefined;
    earlier: readonly Buffer[];
  }): Promise<{ url: string; cookie: string }> {
    const { secrets, site, clock_ms, newNonce } = this.#options;
    try {
      const configuration = await this.#configure();
      const verifier = oidc.randomPKCECodeVerifier();
      const transaction: Transaction = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier,
        again,
        earlier: earlier.map((digest) => digest.toString('base64')),
        expires_ms: clock_ms() + TRANSACTION_S * 1_000,
      };
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#redirectUri(),
        scope: this.#config.oidc_scopes,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: transaction.state,
        nonce: transaction.nonce,
        ...(again === 'proof' ? { max_age: '0' } : {}),
      });
      const sealed = secrets.sealState(JSON.stringify(transaction), newNonce());
      return { url: url.href, cookie: site.setTransaction(sealed, TRANSACTION_S) };
    } catch (error) {
      // Whatever is wrong here is wrong with the provider or its settings, and not with the person.
      throw error instanceof ApiError ? error : authUnavailable(error, 'identity_provider');
    }
  }

  /**
   * Identifies the person from the callback's parameters and the cookie, with the input of `begin`. Each callback
   * works once. Throws `auth_unavailable` if the provider does not answer, and `ProviderRefusal` for anything that is
   * not exactly the answer to what this browser asked.
   */
  async finish(
    query: Readonly<Record<string, string>>,
    sealed: string | undefined,
  ): Promise<{ proved: ProvedIdentity; again: SignInAgain | undefined; earlier: Buffer[] }> {
    try {
      const transaction = this.#open(sealed);
      const { state, again, earlier } = transaction;
      if (query.state !== state || !(await this.#options.useUp(state))) {
        throw new ProviderRefusal('This browser did not start the sign-in, or already completed it.');
      }
      const proved = await this.#prove(query, transaction);
      return { proved, again, earlier: earlier.map((digest) => Buffer.from(digest, 'base64')) };
    } catch (error) {
      rethrow(error);
    }
  }

  /** Exchanges the code of the callback for what the provider says of the person. */
  async #prove(
    query: Readonly<Record<string, string>>,
    { state, nonce, verifier }: Transaction,
  ): Promise<ProvedIdentity> {
    const configuration = await this.#configure();
    const url = new URL(this.#redirectUri());
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const tokens = await oidc.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const id_token = tokens.claims() as oidc.IDToken;
    const needs_more = id_token.email === undefined && configuration.serverMetadata().userinfo_endpoint;
    const more = needs_more ? await oidc.fetchUserInfo(configuration, tokens.access_token, id_token.sub) : {};
    return provedBy(id_token, more);
  }

  /** The provider's metadata: asked for once, and again when it is old or could not be had. */
  #configure(): Promise<oidc.Configuration> {
    const { now_ms } = this.#options;
    if (this.#known === null || now_ms() - this.#known.at_ms > METADATA_MS) {
      const asked = { at_ms: now_ms(), configuration: discover(this.#config) };
      this.#known = asked;
      asked.configuration.catch(() => {
        if (this.#known === asked) this.#known = null;
      });
    }
    return this.#known.configuration;
  }

  #open(sealed: string | undefined): Transaction {
    const { secrets, clock_ms } = this.#options;
    const text = sealed === undefined ? null : secrets.openState(sealed);
    const transaction = text === null ? null : (JSON.parse(text) as Transaction);
    if (transaction === null || transaction.expires_ms <= clock_ms()) {
      throw new ProviderRefusal('This browser did not start the sign-in, or started it too long ago.');
    }
    return transaction;
  }

  #redirectUri(): string {
    return `${this.#options.site.origin()}${CALLBACK_PATH}`;
  }
}

async function discover(config: SetConfig): Promise<oidc.Configuration> {
  const { oidc_issuer: issuer, oidc_client_id: client_id, oidc_client_secret: secret } = config;
  const insecure = issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
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

/** The identity that the provider's documents prove. `more` is empty where the token says enough. */
function provedBy(id_token: oidc.IDToken, more: Record<string, unknown>): ProvedIdentity {
  const claims: Record<string, unknown> = { ...more, ...id_token };
  // A document vouches only for the e-mail that it names itself.
  const of_email: Record<string, unknown> = id_token.email === undefined ? more : id_token;
  const email = typeof of_email.email === 'string' ? of_email.email : null;
  const { auth_time } = id_token;
  const proved_at_s = typeof auth_time === 'number' ? Math.min(Math.max(auth_time, 0), LAST_S) : 0;
  return {
    identity: { issuer: id_token.iss, subject: id_token.sub },
    verified_email: of_email.email_verified === true ? email : null,
    email,
    name: typeof claims.name === 'string' ? claims.name : null,
    proved_at_ms: proved_at_s * 1_000,
    claims,
  };
}
