import type { IncomingMessage } from 'node:http';
import type { Caller, Scope } from '@purser/rules/domain/keys';
import type { ErrorCode } from '@purser/rules/errors';
import type { TSchema } from 'typebox';

/** The resources that the requests of all workspaces share, besides the places for writes. */
export type ResourceName = 'reads' | 'lists' | 'reports' | 'verifications' | 'exports' | 'simulations';

/**
 * The argument of a handler. All of it is validated and normalised, and the caller is authenticated and has the scope.
 */
export interface Call<Params = Record<string, string>, Query = Record<string, string>, Body = unknown> {
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
  /**
   * Waits for `ms` because the caller asked for it. The deadline of the request does not run meanwhile. Resolves with
   * false if the wait has to end earlier or is not possible.
   */
  hold: (ms: number) => Promise<boolean>;
  /** Calls another route of this service as the same caller. On the routes of `Route.entrance` alone. */
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

/**
 * The answer of a handler. `json` is a body that is JSON already, as text or its bytes, such as a stored document; it is
 * sent unchanged.
 */
export interface Answer {
  status: number;
  body?: object;
  json?: string | Buffer;
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

/** The groups of operations in the reference page and the OpenAPI document. */
export const TAGS = [
  'Decisions',
  'Reviews and labels',
  'Outcomes',
  'Capabilities',
  'Agents',
  'Merchants',
  'Budgets',
  'API keys',
  'Webhooks',
  'Reports',
  'Workspace',
  'Ledger',
  'People',
  'Sign-in',
  'Service',
] as const;

/** The declaration of one route. Registration, validation, documentation and tests are made from it. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With `:name` parameters, as in the interface specification. */
  path: string;
  operationId: string;
  tag: (typeof TAGS)[number];
  /** One line. */
  summary: string;
  /** What the caller should know, as paragraphs of Markdown. */
  description: string;
  /**
   * The key or the person's role needs one of these. `session`: any person who is signed in, and no key. `public`
   * routes take neither and are counted by the client's address.
   */
  scopes: readonly Scope[] | 'session' | 'public';
  /**
   * Whether a person needs a fresh proof of identity for the change. Left out: an administrator does for every change on a
   * route with the scope `admin`. `true`: every person does. `false`: nobody does, because the change only stops or narrows
   * something, is harmless, or takes its own proof. A function says it of an administrator's request. The routes without
   * one, and the reason, stand in tests/people/proof.test.ts.
   */
  weighs?: boolean | ((call: Call<never, never, never>) => boolean | Promise<boolean>);
  /** `own`: an agent key may also call it without the scope, and sees only what belongs to its agent. */
  agentKey?: 'own';
  /** The request must carry `idempotency-key` (1-255 visible ASCII characters); `body_hash` is then computed. */
  idempotent?: boolean;
  /** The route has no deadline, because it may have to read very many rows. */
  takes_long?: true;
  /**
   * Load balancers use the route to find out whether the process can take requests. It has no rate limit: a refusal
   * would cost as much as the answer, and behind a proxy that is not trusted a flood would take every node out of
   * service.
   */
  is_probe?: true;
  /**
   * It is another way to the other routes, which do all the work. It takes keys as bearer tokens too and no sessions, is
   * there for POST alone (405), and takes no place among the writes, since the routes that it calls do. `check` throws
   * the refusal of a request from a foreign site, before its key is looked at.
   */
  entrance?: { check: (message: IncomingMessage) => void };
  /**
   * Its answer may hold a secret beside texts that somebody else chose. It is never compressed, since its length would then
   * tell of the secret.
   */
  shows_secret?: true;
  /** Its path parameters may hold dots, as the names of files do, and its query is read by the page alone. */
  serves_files?: true;
  /** What of the process it takes a turn at, so that no workspace can take all of it. */
  shares?: ResourceName | ((headers: Call['headers']) => ResourceName);
  /** Object schemas with `additionalProperties: false`. */
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** A request without a body stands for `{}`. */
  bodyOptional?: boolean;
  /** By status. A `schema` of null stands for an empty body. */
  responses: Record<
    number,
    {
      description: string;
      schema: TSchema | null;
      content_type?: string;
      /** Further content types in which it may be answered, as text. */
      or_as?: readonly string[];
      headers?: Record<string, string>;
    }
  >;
  /** The errors besides those of every route (400, 401, 403 insufficient_scope, 429, 500, 503). */
  errors: readonly ErrorCode[];
  handler: (call: Call<never, never, never>) => Promise<Answer>;
}
