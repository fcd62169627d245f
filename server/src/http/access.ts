import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Admission } from './admission.ts';
import { makeKeyLimit, makePublicLimit, makeUnknownKeyLimit, RETRY_AFTER_S } from './rate-limit.ts';
import type { Route } from './route.ts';
import type { AuthResult, ServerOptions } from './server-options.ts';

export interface Access {
  /**
   * Counts a request against its key or, where the key is not good, against the client's address; the exchange then
   * knows its caller. Throws `rate_limited` over the limit, and what looking the key up throws.
   */
  identify(request: FastifyRequest): Promise<AuthResult>;
  /** Counts a request of a route without a key against the client's address. Throws `rate_limited` over the limit. */
  admitPublic(request: FastifyRequest): Promise<void>;
  /** Lets a request with a good key in scope pass. Throws the refusal of any other. */
  admit(request: FastifyRequest, route: Route): Promise<void>;
}

/** Who may come in: keys, their limits and their scopes. */
export function makeAccess(options: ServerOptions, admission: Pick<Admission, 'holdBack'>): Access {
  const { redis, now_ms } = options;
  const countKey = makeKeyLimit(options.rate_limit_per_minute, redis);
  const countUnknownKey = makeUnknownKeyLimit(options.unknown_key_limit_per_minute, now_ms, redis);

  const countPublic = makePublicLimit(options.rate_limit_per_minute, now_ms, redis);
  const tooMany = (whose: string) =>
    new ApiError('rate_limited', `Too many requests ${whose}; retry after ${RETRY_AFTER_S} s.`, {
      retry_after_s: RETRY_AFTER_S,
    });

  async function identify(request: FastifyRequest): Promise<AuthResult> {
    const { exchange } = request;
    const result = await options.authenticate(request.headers['x-api-key'] as string | undefined);
    if (result.ok) {
      exchange.caller = result.caller;
      exchange.count = await countKey(result.caller.key_id);
    } else {
      exchange.count = await countUnknownKey(exchange.client_address);
    }
    if (!exchange.count.within) {
      if (!result.ok) await admission.holdBack();
      throw tooMany(result.ok ? 'with this key' : 'with this address without a valid key');
    }
    return result;
  }

  async function admitPublic({ exchange }: FastifyRequest): Promise<void> {
    exchange.count = await countPublic(exchange.client_address);
    if (!exchange.count.within) throw tooMany('from this address');
  }

  async function admit(request: FastifyRequest, route: Route): Promise<void> {
    const result = await identify(request);
    if (!result.ok) throw new ApiError('unauthenticated', result.message);
    const { caller } = result;
    const { scopes } = route;
    const in_scope =
      scopes === 'public' ||
      caller.scopes.some((scope) => scopes.includes(scope)) ||
      (route.agentKey === 'own' && caller.agent_id !== null);
    if (in_scope) return;
    const held = caller.scopes.join(', ') || 'none';
    const whose = caller.agent_id === null ? 'This key' : 'This agent key';
    throw new ApiError(
      'insufficient_scope',
      `This needs the scope ${scopes.join(' or ')}. ${whose} has ${held}.`,
    );
  }

  return { identify, admit, admitPublic };
}
