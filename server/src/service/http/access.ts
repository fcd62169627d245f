import type { IncomingHttpHeaders } from 'node:http';
import type { RouteData } from '@purser/contract/route';
import { credentialOf } from '@purser/rules/domain/keys';
import { ApiError } from '@purser/rules/errors';
import type { FastifyRequest } from 'fastify';
import type { Admission } from './admission.ts';
import {
  makeBrowserLimit,
  makeKeyLimit,
  makePublicLimit,
  makeUnknownKeyLimit,
  RETRY_AFTER_S,
} from './rate-limit.ts';
import type { Call, Route } from './route.ts';
import type { ServerOptions } from './server-options.ts';

/** Makes the hooks that tell whose a request is, count it against its limit, and let it in. */
export function makeAccess(options: ServerOptions, admission: Pick<Admission, 'holdBack'>) {
  const { makeLimiter, now_ms } = options;
  const countKey = makeKeyLimit(options.rate_limit_per_minute, makeLimiter);
  const countUnknownKey = makeUnknownKeyLimit(options.unknown_key_limit_per_minute, now_ms, makeLimiter);
  const countPublic = makePublicLimit(options.rate_limit_per_minute, now_ms, makeLimiter);
  const own_limits = new Map(
    options.routes.flatMap(({ operationId, limit_per_minute: points }) =>
      points === undefined ? [] : [[operationId, makePublicLimit(points, now_ms, makeLimiter, operationId)]],
    ),
  );
  const countBrowser = makeBrowserLimit(options.rate_limit_per_minute, makeLimiter);
  const tooMany = (whose: string) =>
    new ApiError('rate_limited', `Too many requests ${whose}; retry after ${RETRY_AFTER_S} s.`, {
      retry_after_s: RETRY_AFTER_S,
    });

  /**
   * Sets the caller of the exchange, or the reason why there is none, and counts the request against its key or, without a
   * caller, against the client's address. Throws `rate_limited`, and whatever the look-up of the key throws.
   */
  async function identify({ exchange, headers }: FastifyRequest): Promise<void> {
    const is_entrance = exchange.route?.is_entrance === true;
    const key = is_entrance ? keyOfRequest(headers) : (headers['x-api-key'] as string | undefined);
    const of_session = key === undefined && !is_entrance ? options.authenticateSession?.(headers) : null;
    const result = await (of_session ?? options.authenticate(key));
    if (result.ok) exchange.caller = result.caller;
    else exchange.refusal = result.message;
    exchange.count = await (result.ok
      ? countKey(credentialOf(result.caller))
      : countUnknownKey(exchange.client_address));
    if (exchange.count.within) return;
    if (result.ok) throw tooMany('with this key or session');
    await admission.holdBack();
    throw tooMany('with this address without a valid key');
  }

  return {
    identify,
    /**
     * Lets a request in: identifies its caller and checks the scopes. Throws what `identify` and `authorize` throw, and
     * `cross_site_request` where a session would change something and the request is not the console's own.
     */
    async admit(request: FastifyRequest): Promise<void> {
      await identify(request);
      const { exchange, headers } = request;
      if (exchange.caller?.session != null && exchange.route?.method !== 'GET')
        options.checkSameSite?.(headers);
      authorize(request);
    },
    /**
     * Counts a request of a route without a key against the client's address, or against the browser where somebody signed
     * in with it before: strangers at its address then cannot keep it from the door. Throws `rate_limited`.
     */
    async limitPublicRate({ exchange, headers }: FastifyRequest): Promise<void> {
      if (exchange.route?.is_probe === true) return;
      const countOwn = own_limits.get(exchange.route?.operationId ?? '');
      if (countOwn !== undefined) {
        exchange.count = await countOwn(exchange.client_address);
        if (!exchange.count.within) throw tooMany('from this address');
        return;
      }
      const browser = options.knownBrowser?.(headers) ?? null;
      exchange.count = await (browser === null
        ? countPublic(exchange.client_address)
        : countBrowser(browser));
      if (!exchange.count.within) throw tooMany(`from this ${browser === null ? 'address' : 'browser'}`);
    },
  };
}

/** The key of a request to an entrance: of `x-api-key`, or else the token of `Authorization: Bearer`. */
export function keyOfRequest(headers: IncomingHttpHeaders): string | undefined {
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return (headers['x-api-key'] as string | undefined) ?? token;
}

/**
 * Checks that the caller has one of the scopes of the route. Throws `insufficient_scope` if it has none of them, and
 * `unauthenticated` if there is no caller, which includes a request for which authentication never ran.
 */
export function authorize({ exchange }: Pick<FastifyRequest, 'exchange'>): void {
  const { caller, route } = exchange;
  if (caller === null) throw new ApiError('unauthenticated', exchange.refusal);
  const scopes = route?.scopes ?? [];
  if (scopes === 'session') {
    if (caller.session !== null) return;
    throw new ApiError('insufficient_scope', 'This route is for signed-in people; a key cannot call it.');
  }
  const in_scope =
    scopes === 'public' ||
    caller.scopes.some((scope) => scopes.includes(scope)) ||
    (route?.agentKey === 'own' && caller.agent_id !== null);
  if (in_scope) return;
  const held = caller.scopes.join(', ') || 'none';
  const of_key = caller.agent_id === null ? 'This key' : 'This agent key';
  const { session } = caller;
  const of_person = session?.role == null ? 'A person who has not joined yet' : `The role ${session.role}`;
  const whose = session === null ? of_key : of_person;
  throw new ApiError(
    'insufficient_scope',
    `This needs the scope ${scopes.join(' or ')}. ${whose} has ${held}.`,
  );
}

/** Returns whether any request to a route may need a fresh proof of identity. */
export function mayNeedProof({
  method,
  scopes,
  weighs,
}: Pick<RouteData, 'method' | 'scopes' | 'weighs'>): boolean {
  if (weighs !== undefined) return weighs !== false;
  return method !== 'GET' && Array.isArray(scopes) && scopes.includes('admin');
}

/**
 * Throws `reauthentication_required` if the request weighs and comes from a person who has not proved lately who they are.
 * Keys pass. Where a route says nothing for every person, only administrators are asked.
 */
export async function checkProof(route: Route, call: Call): Promise<void> {
  const { session, scopes } = call.caller ?? {};
  if (session == null || session.is_proof_fresh || !mayNeedProof(route)) return;
  if (route.weighs !== true && scopes?.includes('admin') !== true) return;
  if (route.isWeighty !== undefined && !(await route.isWeighty(call))) return;
  throw new ApiError(
    'reauthentication_required',
    'This needs a recent sign-in: confirm your identity at /v1/auth/reauthenticate, then send the request again.',
  );
}
