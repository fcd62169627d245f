import type { IncomingMessage } from 'node:http';
import type { ResponseData, RouteData } from '@purser/contract/route';
import type { Caller } from '@purser/rules/domain/keys';
import type { Static, TSchema } from 'typebox';
import type { Content } from './bodies/content.ts';

/** The resources that the requests of all workspaces share, besides the places for writes. */
export type ResourceName =
  | 'reads'
  | 'lists'
  | 'reports'
  | 'verifications'
  | 'exports'
  | 'imports'
  | 'simulations';

/**
 * The argument of a handler. All of it is validated and normalised, and the caller is authenticated and has the scope.
 * Handlers given to `serve` get it as `CallOf` their route, with the types of the schemas.
 */
export interface Call<Params = Record<string, string>, Query = Record<string, unknown>, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  /** Lower-case header names. */
  headers: Record<string, string | string[] | undefined>;
  /** The key's holder or the person who is signed in; null only on public routes. */
  caller: Caller;
  request_id: string;
  /** The address of the client as `TRUSTED_PROXIES` determines it. */
  client_address: string;
  /**
   * SHA-256 of the RFC 8785 form of the body exactly as it was sent, before any normalisation. Undefined on routes
   * without `idempotent`.
   */
  body_hash: Buffer | undefined;
  /** The file that is sent; undefined on routes without `content`. */
  content: Content | undefined;
  /** The body as it was sent; undefined on routes without `takes_bytes`, which get it parsed. */
  bytes: Buffer | undefined;
  /**
   * Waits for `ms` because the caller asked for it. The deadline of the request does not run meanwhile. Resolves with
   * false if the wait has to end earlier or is not possible.
   */
  hold: (ms: number) => Promise<boolean>;
  /** Calls `stop` when the request ends, also where its client went away before the answer. */
  onEnd: (stop: () => void) => void;
  /** Calls another route of this service as the same caller. Only on entrances. */
  dispatch: Dispatch;
}

/** A call of another route. Headers of who calls are added to `headers`. */
export interface Dispatched {
  method: 'GET' | 'POST';
  /** With its query. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Ends the wait for the answer. It also ends with the request that calls. */
  signal?: AbortSignal | undefined;
}

/**
 * Calls a route as a request of its own: it is authenticated, counted, validated, answered in time and written to the
 * log like any other. Resolves with what it answers, refusals included; rejects if it ends without an answer.
 */
export type Dispatch = (call: Dispatched) => Promise<{ status: number; json: unknown }>;

/** JSON as text, as its bytes, or as slices of its bytes, one after another. */
export type JsonText = string | Buffer | readonly Buffer[];

/**
 * The answer of a handler, whatever its route. `json` is a body that is JSON already; it is sent unchanged.
 */
export interface Answer {
  status: number;
  body?: object;
  json?: JsonText;
  /** A body that is not JSON, with its content type. */
  text?: { content: string | Buffer; content_type: string };
  /**
   * A body of any length, sent as fast as the client receives it. A failure before the first chunk is answered like any
   * other. After it the connection is cut, so that the client does not take a part of the body for the whole.
   */
  stream?: {
    chunks: AsyncGenerator<string, void, void>;
    content_type: string;
    /** It is short and arises while its caller waits: it takes no place among the long answers and is no export. */
    is_live?: true;
  };
  headers?: Record<string, string | string[]>;
}

/** Settings of a route that its clients need not know. */
export interface Serving {
  /** The route has no deadline, because it may have to read very many rows. */
  takes_long?: true;
  /**
   * Load balancers use the route to find out whether the process can take requests. It has no rate limit: a refusal
   * would cost as much as the answer, and behind a proxy that is not trusted a flood would take every node out of
   * service.
   */
  is_probe?: true;
  /**
   * Its answer may hold a secret beside texts that somebody else chose. It is never compressed, because the length would
   * then give hints about the secret.
   */
  shows_secret?: true;
  /** The handler gets the body as it was sent, unparsed; the limit is this many bytes. */
  takes_bytes?: number;
  /** A public route is counted by itself; the limit is this many requests a minute from one address. */
  limit_per_minute?: number;
  /** Its path parameter names an instrument of a rail, which has a colon. */
  names_instrument?: true;
  /** Its path parameters may hold dots, as the names of files do, and its query is read by the page alone. */
  serves_files?: true;
  /** The shared resource that each request takes a turn at, so that no workspace can take all of it. */
  shares?: ResourceName | ((headers: Call['headers']) => ResourceName);
}

/** A route with its handler. The types that its schemas gave the handler are erased; `serve` makes it. */
export interface Route extends RouteData, Serving {
  /** Where `weighs` is `by_request`: whether this request of an administrator needs a fresh proof of identity. */
  isWeighty?: (call: Call) => boolean | Promise<boolean>;
  /** For an entrance: refuses a request from another site before its key is read. */
  checkEntrance?: (message: IncomingMessage) => void;
  handler: (call: Call) => Promise<Answer>;
}

type Part<R extends RouteData, Name extends 'params' | 'query' | 'body', Without> = R extends {
  [N in Name]: infer S extends TSchema;
}
  ? Static<S>
  : Without;

/** The call of a route: the parts of the request have the types of the schemas. */
export type CallOf<R extends RouteData> = Omit<
  Call<
    Part<R, 'params', Record<string, never>>,
    Part<R, 'query', Record<string, never>>,
    Part<R, 'body', undefined>
  >,
  'caller' | 'body_hash' | 'headers' | 'content'
> & {
  caller: R extends { scopes: 'public' } ? null : Caller;
  content: R extends { content: readonly string[] } ? Content : undefined;
} & (R extends { idempotent: true }
    ? { headers: Call['headers'] & { 'idempotency-key': string }; body_hash: Buffer }
    : Pick<Call, 'headers' | 'body_hash'>);

declare const STORED: unique symbol;

/** JSON that the compiler cannot hold against a schema. */
export type StoredJson = JsonText & { [STORED]: true };

/**
 * The one way around the types of answers: text or bytes that are JSON already, and fit the schema of the answer because
 * what wrote them did. They are sent unchanged, without parsing.
 */
export const storedJson = (json: JsonText): StoredJson => json as StoredJson;

/** Handlers may answer with what the rest of the program must not change. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

type Headers = NonNullable<Answer['headers']>;
type AsText<Status> =
  | { status: Status; headers?: Headers; text: NonNullable<Answer['text']> }
  | { status: Status; headers?: Headers; stream: NonNullable<Answer['stream']> };
type AsJson<Status, Schema> = Schema extends TSchema
  ?
      | { status: Status; headers?: Headers; body: Immutable<Static<Schema>> }
      | { status: Status; headers?: Headers; json: StoredJson }
  : { status: Status; headers?: Headers };

type AnswerWith<Status, Response extends ResponseData> = Response extends { content_type: string }
  ? AsText<Status>
  :
      | AsJson<Status, Response['schema']>
      | (Response extends { or_as: readonly string[] } ? AsText<Status> : never);

/** The answers of a route: one of its statuses, with a body that fits the schema of that status. */
export type AnswerOf<R extends RouteData> = {
  [Status in keyof R['responses'] & number]: AnswerWith<Status, R['responses'][Status]>;
}[keyof R['responses'] & number];

export type Handler<R extends RouteData> = (call: CallOf<R>) => Promise<AnswerOf<R>>;

type ServingOf<R extends RouteData> = Serving &
  (R extends { weighs: 'by_request' }
    ? { isWeighty: (call: CallOf<R>) => boolean | Promise<boolean> }
    : unknown) &
  (R extends { is_entrance: true } ? { checkEntrance: NonNullable<Route['checkEntrance']> } : unknown);

/**
 * Gives a route its handler: `serve(routes.getAgent, { shares: 'reads' })(async (call) => …)`. The call has the types of
 * the route's schemas, and the answer must fit them: a field that is missing or of another type is a compile error. The
 * handler comes in a call of its own, because only then does the compiler know the route while it reads the answer.
 */
export function serve<R extends RouteData>(
  route: R,
  ...[serving]: object extends ServingOf<R> ? [ServingOf<R>?] : [ServingOf<R>]
): (handler: Handler<R>) => Route {
  // The request is validated by the schemas that gave the handler its types (`callHandler`).
  return (handler) => ({ ...(route as RouteData), ...(serving as Serving), handler: handler as never });
}
