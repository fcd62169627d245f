import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '@purser/rules/domain/keys';
import type { Logger } from 'pino';
import type { Tracing } from '../../engine/tracing.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Limits } from './admission.ts';
import type { Balance } from './balance.ts';
import type { MakeLimiter } from './limiters.ts';
import type { Route } from './route.ts';

/** The result of authentication. `message` is the message of the 401. */
export type AuthResult = { ok: true; caller: Caller } | { ok: false; message: string };

export interface ServerOptions {
  routes: readonly Route[];
  /**
   * Tells who holds the key of the `x-api-key` header (undefined: no header). Throws `auth_unavailable` when it
   * cannot be told; whatever it throws, the request is refused.
   */
  authenticate: (key: string | undefined) => Promise<AuthResult>;
  /**
   * Tells who is signed in, where there is no such header; null: the request has no session. Throws as above.
   * Undefined: this server lets nobody in by a session.
   */
  authenticateSession?: (headers: IncomingHttpHeaders) => Promise<AuthResult> | null;
  /** A name of the browser if somebody signed in with it before; null: it is a stranger's. */
  knownBrowser?: (headers: IncomingHttpHeaders) => string | null;
  /** Throws the refusal of a request with a session that does not come from the console itself. */
  checkSameSite?: (headers: IncomingHttpHeaders) => void;
  rate_limit_per_minute: number;
  unknown_key_limit_per_minute: number;
  /** Makes the counters of requests, where those who share them count. */
  makeLimiter: MakeLimiter;
  /** A request with a key that was not answered within this time is answered with 503, ms. */
  deadline_ms: number;
  /** Overrides of the usual bounds, for tests. */
  limits?: Partial<Limits>;
  /** Null where this process is the only one on its port. */
  balance: Balance | null;
  /** How long a connection may be idle between two requests, ms. */
  keep_alive_ms: number;
  /** Returns whether the lane is full. A write is then refused before anything is done for it. */
  isFull: () => boolean;
  /** CIDR ranges of the proxies whose `x-forwarded-for` is believed. */
  trusted_proxies: readonly string[];
  logger: Logger;
  newRequestId: () => string;
  /** Milliseconds of a clock that never runs backwards; only differences are used. */
  now_ms: () => number;
  metrics: Pick<Metrics, 'countRequest' | 'countRefusal' | 'watchUse'>;
  /** Null if nobody wants traces. */
  tracing: Tracing | null;
}
