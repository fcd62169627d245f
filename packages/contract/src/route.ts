import type { TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';
import type { Scope } from './values/scopes.ts';

/** The groups of operations in the reference page and the OpenAPI document. */
export const TAGS = [
  'Decisions',
  'Reviews and labels',
  'Outcomes',
  'Capabilities',
  'Agents',
  'Merchants',
  'Questions',
  'Budgets',
  'History',
  'Allowances',
  'Search',
  'API keys',
  'Webhooks',
  'Notices',
  'Reports',
  'Workspace',
  'Ledger',
  'People',
  'Sign-in',
  'Signing keys',
  'Service',
] as const;

/** The content type of tables. */
export const CSV_TYPE = 'text/csv; charset=utf-8';

/** One answer of a route that is not an error. */
export interface ResponseData {
  description: string;
  /** Null: the body is empty. */
  schema: TSchema | null;
  /** JSON when left out. Any other type is sent as text. */
  content_type?: string;
  /** Further content types in which it may be answered, as text. */
  or_as?: readonly string[];
  headers?: Readonly<Record<string, string>>;
}

/**
 * One route without its handler: everything that a client can know of it. Registration, validation, documentation and
 * tests are made from it, and `serve` gives its handler the types of its schemas.
 */
export interface RouteData {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` parameters, as in the interface specification. */
  path: string;
  operationId: string;
  tag: (typeof TAGS)[number];
  /** One line. */
  summary: string;
  /** Notes for the caller, as paragraphs of Markdown. */
  description: string;
  /**
   * The key or the person's role needs one of these. `session`: any person who is signed in, and no key. `public`
   * routes take neither and are counted by the client's address.
   */
  scopes: readonly Scope[] | 'session' | 'public';
  /**
   * True if a person needs a fresh proof of identity for the change. Left out: an administrator does for every change
   * on a route with the scope `admin`. `true`: every person does. `false`: nobody does, because the change only stops
   * or narrows something, is harmless, or takes its own proof. `by_request`: the function given to `serve` says it of
   * an administrator's request. tests/people/proof.test.ts lists the routes that need none, with the reason.
   */
  weighs?: boolean | 'by_request';
  /** `own`: an agent key may also call it without the scope, and sees only what belongs to its agent. */
  agentKey?: 'own';
  /** The request must carry `idempotency-key` (1-255 visible ASCII characters); `body_hash` is then computed. */
  idempotent?: true;
  /**
   * It is another way to the other routes, which do all the work. It takes keys as bearer tokens too and no sessions, is
   * there for POST alone (405), and takes no place among the writes, since the routes that it calls do.
   */
  is_entrance?: true;
  /** Object schemas with `additionalProperties: false`. */
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** The body is a file of one of these content types, of any length; it is read as it arrives. */
  content?: readonly string[];
  /** A request without a body counts as `{}`. */
  bodyOptional?: true;
  /** By status. */
  responses: Readonly<Record<number, ResponseData>>;
  /** The errors besides those of every route (400, 401, 403 insufficient_scope, 429, 500, 503). */
  errors: readonly ErrorCode[];
}

/** Declares a route. The compiler remembers its schemas, which `serve` reads. */
export const route = <const R extends RouteData>(data: R): R => data;
