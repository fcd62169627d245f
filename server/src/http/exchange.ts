import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, holderOf, KEY_NOT_GOOD } from '../domain/keys.ts';
import type { Count } from './rate-limit.ts';
import type { Route } from './route.ts';
import { type Holder, makeShares, type Release } from './shares.ts';

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;
/** W3C Trace Context, version 00; later versions may append fields after the flags. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** The client's own `x-request-id` where it is 1 to 128 safe characters, else a fresh one. */
export function requestId(headers: IncomingHttpHeaders, newRequestId: () => string): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SAFE_REQUEST_ID.test(own) ? own : newRequestId();
}

/** The trace id of a well-formed `traceparent` header. */
export function traceId(headers: IncomingHttpHeaders): string | undefined {
  const traceparent = headers.traceparent;
  if (typeof traceparent !== 'string') return undefined;
  const parts = TRACEPARENT.exec(traceparent);
  // Version 00 has exactly four fields.
  return parts === null || (parts[2] !== undefined && traceparent.startsWith('00')) ? undefined : parts[1];
}

/** What the log of security events calls a request that was answered so. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'key_refused',
  403: 'forbidden',
  429: 'rate_limited',
};

/**
 * One request from its headers to its end, and the owner of everything that was taken for it. It ends once, on
 * whichever comes first: its answer is sent, the answer can no longer be sent, the connection is gone. Then all that it
 * holds is given back; what is handed to it later is given back at once. So nothing taken for a request outlives it.
 */
export class Exchange {
  readonly request_id: string;
  readonly trace_id: string | undefined;
  readonly client_address: string;
  /** Null: no route was found. */
  readonly route: Route | null;
  readonly began_ms: number;
  /** Who asks; null: authentication has not found anybody. */
  caller: Caller | null = null;
  /** What the 401 of a request without a caller says. */
  refusal = KEY_NOT_GOOD;
  count: Count | null = null;
  /** Something was sent, or there is nobody to send it to: no second answer. */
  answered = false;
  /** Gives back the place among the bodies that come in; null: it has none. */
  body: Release | null = null;
  /** As the handler is given it. */
  body_hash: Buffer | undefined = undefined;
  /** Whether the answer carries a workspace's data away as a whole. */
  is_export = false;
  private deadline: NodeJS.Timeout | null = null;
  private has_ended = false;
  private held: Release[] = [];

  constructor(facts: Pick<Exchange, 'request_id' | 'trace_id' | 'client_address' | 'route' | 'began_ms'>) {
    this.request_id = facts.request_id;
    this.trace_id = facts.trace_id;
    this.client_address = facts.client_address;
    this.route = facts.route;
    this.began_ms = facts.began_ms;
  }

  /** The route as logs and metrics name it: its pattern, or `unknown`. */
  get route_name(): string {
    return this.route?.path ?? 'unknown';
  }

  /** Who answers for what this request takes: its key, or where it has none its client's address. */
  get holder(): Holder {
    return this.caller === null
      ? { workspace_id: this.client_address, key_id: this.client_address }
      : holderOf(this.caller);
  }

  /** Hands over something that was taken for this request. The release may be called before the end, too. */
  hold(release: Release): void {
    if (this.has_ended) release();
    else this.held.push(release);
  }

  /** Calls `onLate` after `time_ms`, once, unless the exchange was answered; a later call does not set it anew. */
  setDeadline(time_ms: number, onLate: () => void): void {
    if (this.has_ended) return;
    this.deadline ??= setTimeout(() => {
      this.deadline = null;
      if (!this.answered) onLate();
    }, time_ms);
  }

  clearDeadline(): void {
    if (this.deadline === null) return;
    clearTimeout(this.deadline);
    this.deadline = null;
  }

  /** Ends it. Further calls have no effect. */
  end(): void {
    if (this.has_ended) return;
    this.has_ended = true;
    this.clearDeadline();
    for (const release of this.held) release();
    this.held = [];
  }

  /** What the log of security events calls it after an answer with this status; null: it does not belong there. */
  securityEvent(status: number): string | null {
    return REFUSALS[status] ?? (this.is_export ? 'export' : null);
  }
}

/** Requests that are held back at once, each workspace and key its share of them; one more is answered as things stand. */
const MAX_HELD = 1_000;

/** Holds back the requests that asked for it, each with one timer. */
export function makeHolds() {
  const places = makeShares({ resource: 'waits', total: MAX_HELD, workspace_share: 0.8, key_share: 0.6 });
  const held = new Set<() => void>();
  let released = false;
  return {
    /**
     * Waits for `ms`, during which the request's deadline does not run; `resume` sets it again. Resolves with false, at
     * once or sooner, when the service stops, the request has ended, or too many wait already.
     */
    hold: (exchange: Exchange, ms: number, resume: () => void): Promise<boolean> =>
      new Promise((resolve) => {
        const leave = released ? null : places.tryTake(exchange.holder);
        if (leave === null) return resolve(false);
        exchange.clearDeadline();
        const end = (waited: boolean) => {
          if (!held.delete(stop)) return;
          clearTimeout(timer);
          leave();
          resume();
          resolve(waited);
        };
        const stop = () => end(false);
        const timer = setTimeout(end, ms, true);
        held.add(stop);
        exchange.hold(stop);
      }),
    /** The service stops: whoever waits is answered now. */
    release(): void {
      released = true;
      for (const stop of held) stop();
    },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
  interface FastifyContextConfig {
    /** The declaration that a route was registered from. */
    route?: Route;
  }
}
