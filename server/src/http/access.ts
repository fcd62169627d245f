import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Admission } from './admission.ts';
import { makeKeyLimit, makeUnknownKeyLimit, RETRY_AFTER_S } from './rate-limit.ts';
import type { Route } from './route.ts';
import type { AuthResult, ServerOptions } from './server-options.ts';

export interface Access {
  /**
   * Counts a request against its key or, where the key is not good, against the client's address; the exchange then
   * knows its caller. Throws `rate_limited` over the limit, and what looking the key up throws.
   */
  identify(request: FastifyRequest): Promise<AuthResult>;
  /** Lets a request with a good key in scope pass. Throws the refusal of any other. */
  admit(request: FastifyRequest, route: Route): Promise<void>;
}

/** Who may come in: keys, their limits and their scopes. */
export function makeAccess(options: ServerOptions, admission: Pick<Admission, 'holdBack'>): Access {
  const { redis, now_ms } = options;
  const countKey = makeKeyLimit(options.rate_limit_per_minute, redis);
  const countUnknownKey = makeUnknownKeyLimit(options.unknown_key_limit_per_minute, now_ms, redis);

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
      const whose = result.ok ? 'this key' : 'this address without a valid key';
      throw new ApiError('rate_limited', `Too many requests with ${whose}; retry after ${RETRY_AFTER_S} s.`, {
        retry_after_s: RETRY_AFTER_S,
      });
    }
    return result;
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

  return { identify, admit };
}
