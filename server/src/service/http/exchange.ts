import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, holderOf, INVALID_KEY } from '@purser/rules/domain/keys';
import type { RequestSpan } from '../../engine/tracing.ts';
import type { Holder } from '../scheduling/fair-queue.ts';
import { Places, type Release } from '../scheduling/places.ts';
import type { Count } from './rate-limit.ts';
import type { Route } from './route.ts';

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;
/** W3C Trace Context, version 00; later versions may append fields after the flags. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** Returns the client's own `x-request-id` if it has 1 to 128 safe characters, otherwise a new id. */
export function requestId(headers: IncomingHttpHeaders, newRequestId: () => string): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SAFE_REQUEST_ID.test(own) ? own : newRequestId();
}

/** Returns the trace id of a well-formed `traceparent` header. */
export function traceId(headers: IncomingHttpHeaders): string | undefined {
  const traceparent = headers.traceparent;
  if (typeof traceparent !== 'string') return undefined;
  const parts = TRACEPARENT.exec(traceparent);
  // Version 00 has exactly four fields.
  return parts === null || (parts[2] !== undefined && traceparent.startsWith('00')) ? undefined : parts[1];
}

/** The name of the security event in the log, by the status of the answer. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'key_refused',
  403: 'forbidden',
  429: 'rate_limited',
};

/**
 * One request from its headers to its end, and the owner of all resources taken for it. It ends once: when its answer
 * was sent, or when the connection was closed before. It then releases all its resources; those that it is given later
 * are released at once. So no resource of a request outlives it.
 */
export class Exchange {
  readonly request_id: string;
  readonly trace_id: string | undefined;
  /** Null unless the service traces. */
  readonly span: RequestSpan | null;
  readonly client_address: string;
  /** Null if no route matched. */
  readonly route: Route | null;
  readonly began_ms: number;
  /** Null until authentication has found the caller. */
  caller: Caller | null = null;
  /** The message of the 401 that a request without a caller gets. */
  refusal = INVALID_KEY;
  count: Count | null = null;
  /** True once an answer was sent, or could not be sent because the client is gone. There is no second answer. */
  answered = false;
  /** Releases the place among the bodies that are being received, if the request has one. */
  body: Release | null = null;
  /** The `body_hash` of the handler's call. */
  body_hash: Buffer | undefined = undefined;
  /** True if the answer exports the data of a workspace. */
  is_export = false;
  private deadline: NodeJS.Timeout | null = null;
  private has_ended = false;
  private held: Release[] = [];

  constructor(
    facts: Pick<Exchange, 'request_id' | 'trace_id' | 'span' | 'client_address' | 'route' | 'began_ms'>,
  ) {
    this.request_id = facts.request_id;
    this.trace_id = facts.trace_id;
    this.span = facts.span;
    this.client_address = facts.client_address;
    this.route = facts.route;
    this.began_ms = facts.began_ms;
  }

  /** The name of the route in logs and metrics: its pattern, or `unknown`. */
  get route_name(): string {
    return this.route?.path ?? 'unknown';
  }

  /**
   * The tenant against which resources are counted: the caller's key or session, or the client's address if there is
   * none.
   */
  get holder(): Holder {
    return this.caller === null
      ? { workspace_id: this.client_address, key_id: this.client_address }
      : holderOf(this.caller);
  }

  /** Registers the release of a resource that was taken for this request. It may also be called before the end. */
  hold(release: Release): void {
    if (this.has_ended) release();
    else this.held.push(release);
  }

  /** Takes one place until the request ends or the returned function is called. Throws its refusal if there is none. */
  take(places: Places): Release {
    const release = places.tryTake(this.holder);
    if (release === null) throw places.refusal;
    this.hold(release);
    return release;
  }

  /**
   * Calls `onLate` once after `time_ms` unless the request was answered by then. Does nothing if a deadline is set
   * already.
   */
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
    this.span?.release();
    for (const release of this.held) release();
    this.held = [];
  }

  /** Returns the name of the security event for an answer with this status, or null if it is none. */
  securityEvent(status: number): string | null {
    return REFUSALS[status] ?? (this.is_export ? 'export' : null);
  }
}

/**
 * The most requests that wait at once. Each workspace and key has a share of them; beyond it a request does not wait.
 */
const MAX_HELD = 1_000;

/** Lets requests wait that asked for it, each with one timer. */
export function makeHolds() {
  const places = new Places({ resource: 'waits', total: MAX_HELD, share: 0.8, key_share: 0.6 });
  const held = new Set<() => void>();
  let released = false;
  return {
    places,
    /**
     * Waits for `ms`. The deadline of the request is cleared meanwhile, and `resume` sets it again. Resolves with false
     * earlier if the service stops or the request ends, and at once if too many requests wait already.
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
    /** Ends all waits because the service stops. */
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
    /** The declaration from which the route was registered. */
    route?: Route;
  }
}
