import type { Caller } from '../domain/keys.ts';
import type { Count } from './rate-limit.ts';

/** What is known of one request while it is being answered. */
export interface Exchange {
  request_id: string;
  trace_id: string | undefined;
  client_address: string;
  /** The route's pattern, or `unknown`. */
  route: string;
  began_ms: number;
  caller: Caller | null;
  count: Count | null;
  /** Fires when the request has waited too long; null: none is set. */
  deadline: NodeJS.Timeout | null;
  answered: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
}
