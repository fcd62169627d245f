import { createHash } from 'node:crypto';
import { route } from '@purser/contract/route';
import { publicJwk, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { ApiError } from '@purser/rules/errors';
import Type, { type TInteger } from 'typebox';
import { FOLLOWERS, type FollowerName, type SkippedEvents } from '../../engine/followers/follower-names.ts';
import { type Route, serve, storedJson } from '../http/route.ts';
import { Fields } from '../http/schemas.ts';
import type { Metrics } from '../observability/metrics.ts';
import { makeDocsPage } from '../openapi/docs-page.ts';
import { DOCS_STYLE } from '../openapi/docs-style.ts';
import { makeOpenApi } from '../openapi/openapi.ts';
import { WEBHOOK_EVENTS } from './schemas/webhook-events.ts';
import { sharedAnswer } from './shared-answer.ts';

/** Facts that do not prevent requests from being served, but that an operator should see. */
export interface ReadinessDetail {
  skipped_events: SkippedEvents;
  /** How far the newest batch is ahead of the database's clock, whole seconds. */
  clock_ahead_seconds: number;
}

export interface HealthOptions {
  /** Resolves with the details if a request could be served now. Rejects with the reason if not. */
  checkReady: () => Promise<ReadinessDetail>;
  /** Whether the process was asked to end. It is ready no more from that moment on. */
  isStopping: () => boolean;
  /** Null if the metrics have an address of their own. */
  metrics_route: Route | null;
  /** Milliseconds of a clock that never runs backwards. */
  now_ms: () => number;
  /** The published keys that checkpoints are verified with, the current one first. */
  checkpoint_keys: readonly VerifyingKey[];
  /** The other routes that the documents describe. */
  api_routes: readonly Route[];
  version: string;
}

/** A check that hangs must fail before the prober's own time limit. */
const READY_TIMEOUT_MS = 2_000;

/** The page is one document with one style sheet, and loads nothing else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(DOCS_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PublicKeys = Fields(
  {
    keys: Type.Array(
      Fields({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String({ description: 'The 32 bytes of the key, base64url.' }),
        kid: Type.String({ description: 'The RFC 7638 thumbprint: the `key_id` of checkpoints.' }),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
      }),
    ),
  },
  { $id: 'PublicKeys' },
);

const Status = Fields({ status: Type.Literal('ok') });

const Readiness = Fields({
  status: Type.Literal('ok'),
  detail: Fields({
    skipped_events: Fields(
      Object.fromEntries(FOLLOWERS.map((name) => [name, Type.Integer({ minimum: 0 })])) as Record<
        FollowerName,
        TInteger
      >,
      {
        description:
          'Events of all workspaces that could not be processed, and are missing from the shadow report and from the feedback that later assessments use. The log says why.',
      },
    ),
    clock_ahead_seconds: Type.Integer({
      minimum: 0,
      description:
        "How far the newest event is ahead of the database's clock, because it was recorded while that clock was wrong. Limits still follow the clock.",
    }),
    time_zone_data: Type.String({
      description:
        'The version of the IANA time zone database used for calendar limits and active hours. It comes with Node and should be the same on all nodes.',
      examples: ['2025c'],
    }),
  }),
});

/** Every Node that has time zones names the version of their data. */
const TIME_ZONE_DATA = process.versions.tz ?? 'unknown';

const shared = {
  method: 'GET',
  tag: 'Service',
  scopes: 'public',
  errors: ['rate_limited', 'unavailable'],
} as const;

const routes = {
  getMetrics: route({
    ...shared,
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus.',
    description: 'The counts of all processes since the service started, at most a second old.',
    responses: {
      200: {
        description: 'Metrics in the Prometheus text format.',
        schema: Type.String(),
        content_type: 'text/plain',
      },
    },
  }),
  getHealth: route({
    ...shared,
    path: '/healthz',
    errors: [],
    operationId: 'getHealth',
    summary: 'Is the process up?',
    description: 'Answers while the process runs, whatever the state of the database.',
    responses: { 200: { description: 'It is.', schema: Status } },
  }),
  getReadiness: route({
    ...shared,
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Can it serve requests?',
    description:
      'Ready means that the database is reachable, writable and migrated, that its clock is trusted, and that the process is not shutting down. The check runs at most once a second.',
    responses: { 200: { description: 'It can.', schema: Readiness } },
  }),
  getPublicKeys: route({
    ...shared,
    path: '/.well-known/jwks.json',
    operationId: 'getPublicKeys',
    summary: "The public keys that sign the ledger's checkpoints.",
    description:
      'A JWK set (RFC 7517). Keep your own copy: a signature is only as trustworthy as the key used to check it.',
    responses: { 200: { description: 'The keys.', schema: PublicKeys } },
  }),
  getOpenApi: route({
    ...shared,
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This API as OpenAPI 3.1.',
    description: 'Generated from the same declarations that validate every request.',
    responses: {
      200: { description: 'The document.', schema: Type.Object({}, { additionalProperties: true }) },
    },
  }),
  getDocs: route({
    ...shared,
    path: '/docs',
    operationId: 'getDocs',
    summary: 'The API reference as a page.',
    description: '`/openapi.json` in readable form.',
    responses: { 200: { description: 'The page.', schema: Type.String(), content_type: 'text/html' } },
  }),
};

/**
 * Makes the route of the metrics. They are collected at most once a second, which blocks the event loop for some ms.
 */
export function makeMetricsRoute(
  metrics: Pick<Metrics, 'text' | 'content_type'>,
  now_ms: () => number,
): Route {
  const text = sharedAnswer(async () => Buffer.from(await metrics.text()), now_ms);
  return serve(routes.getMetrics)(async () => ({
    status: 200,
    text: { content: await text(), content_type: metrics.content_type },
  }));
}

/** Makes the routes about the service itself, which need no key. */
export function makeHealthRoutes(options: HealthOptions): Route[] {
  const readiness = sharedAnswer(() => withinTimeout(options.checkReady()), options.now_ms);
  const served: Route[] = [
    serve(routes.getHealth, { is_probe: true })(async () => ({ status: 200, body: { status: 'ok' } })),
    serve(routes.getReadiness, { is_probe: true })(async () => {
      if (options.isStopping())
        throw new ApiError('unavailable', 'Stopping.', { retry_after_s: 1, reason: 'stopping' });
      const detail = await readiness();
      return { status: 200, body: { status: 'ok', detail: { ...detail, time_zone_data: TIME_ZONE_DATA } } };
    }),
    ...(options.metrics_route === null ? [] : [options.metrics_route]),
    serve(routes.getPublicKeys)(async () => ({
      status: 200,
      body: { keys: options.checkpoint_keys.map(publicJwk) },
    })),
    serve(routes.getOpenApi)(async () => ({
      status: 200,
      json: storedJson(openapi_json),
    })),
    serve(routes.getDocs)(async () => ({
      status: 200,
      text: { content: page, content_type: 'text/html; charset=utf-8' },
      headers: {
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      },
    })),
  ];
  const document = makeOpenApi([...options.api_routes, ...served], {
    version: options.version,
    events: WEBHOOK_EVENTS,
  });
  const openapi_json = Buffer.from(JSON.stringify(document));
  const page = Buffer.from(makeDocsPage(document));
  return served;
}

async function withinTimeout<T>(check: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the readiness check timed out')), READY_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check, late]);
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('unavailable', 'Not ready.', { cause, retry_after_s: 1, reason: 'not_ready' });
  } finally {
    clearTimeout(timer);
  }
}
