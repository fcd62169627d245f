import type { TSchema } from 'typebox';
import type { Caller, Scope } from '../domain/keys.ts';
import type { ErrorCode } from '../errors.ts';

/** What the requests of all workspaces share besides the write slots. */
export type ResourceName = 'reads' | 'lists' | 'reports' | 'verifications' | 'exports' | 'simulations';

/** What a handler is given: everything validated and normalised, the caller authenticated and in scope. */
export interface Call<Params = Record<string, string>, Query = Record<string, string>, Body = unknown> {
  params: Params;
  query: Query;
  body: Body;
  /** Lower-case header names. */
  headers: Record<string, string | string[] | undefined>;
  /** The key's holder or the person who is signed in; null only on public routes. */
  caller: Caller;
  request_id: string;
  /** The client's address after `TRUSTED_PROXIES`. */
  client_address: string;
  /**
   * SHA-256 of the RFC 8785 form of the body exactly as it was sent, before any normalisation; only on routes
   * with `idempotent`, else undefined.
   */
  body_hash: Buffer | undefined;
  /**
   * Waits for `ms` because the caller asked to: the request's deadline does not run meanwhile. Resolves with false, at
   * once or sooner, when waiting has to end.
   */
  hold: (ms: number) => Promise<boolean>;
}

/** What a handler answers. `json` is a body that is JSON text already (a stored document), sent as it is. */
export interface Answer {
  status: number;
  body?: unknown;
  json?: string;
  /** A body that is not JSON, with its content type. */
  text?: { content: string | Buffer; content_type: string };
  /**
   * A body of any length, sent as fast as the client takes it. A failure before the first chunk is answered as any
   * other; after it the connection is cut, so that nobody takes a part for the whole.
   */
  stream?: { chunks: AsyncGenerator<string, void, void>; content_type: string };
  headers?: Record<string, string | string[]>;
}

/** Groups of the reference page and of the OpenAPI document. */
export const TAGS = [
  'Decisions',
  'Reviews and labels',
  'Outcomes',
  'Capabilities',
  'Agents',
  'API keys',
  'Webhooks',
  'Reports',
  'Workspace',
  'Ledger',
  'People',
  'Sign-in',
  'Service',
] as const;

/** One route, declared once: it is registered, validated, documented and tested from this declaration. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With `:name` parameters, as in the interface specification. */
  path: string;
  operationId: string;
  tag: (typeof TAGS)[number];
  /** One line. */
  summary: string;
  /** Markdown paragraphs: what the caller should know. */
  description: string;
  /**
   * The key or the person's role needs one of these. `session`: any person who is signed in, and no key. `public` routes
   * take neither and are counted by the client's address.
   */
  scopes: readonly Scope[] | 'session' | 'public';
  /** `own`: an agent key may call it too, and sees what is its agent's. Otherwise it needs the scope. */
  agentKey?: 'own';
  /** The request must carry `idempotency-key` (1-255 visible ASCII characters); `body_hash` is then computed. */
  idempotent?: boolean;
  /** Works through so many rows that the deadline of a request would be too short: it has none. */
  takes_long?: true;
  /**
   * Asked by load balancers whether the process may be sent requests: never refused. A refusal would cost as much as the
   * answer, and behind a proxy that is not trusted a flood would take every node out of its balance.
   */
  is_probe?: true;
  /** Its path parameters may hold dots, as the names of files do. */
  names_file?: true;
  /** What of the process it takes a turn at, so that no workspace can take all of it. */
  shares?: ResourceName | ((headers: Call['headers']) => ResourceName);
  /** Object schemas with `additionalProperties: false`. */
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** A request without a body stands for `{}`. */
  bodyOptional?: boolean;
  /** By status. `schema` null: an empty body. */
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
  /** Besides those that every route has (400, 401, 403 insufficient_scope, 429, 500, 503). */
  errors: readonly ErrorCode[];
  handler: (call: Call<never, never, never>) => Promise<Answer>;
}
