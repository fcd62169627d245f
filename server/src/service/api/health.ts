import { routes } from '@purser/contract/routes/health';
import type { MailState } from '@purser/contract/values/mail';
import { WEBHOOK_EVENTS } from '@purser/contract/webhook-events';
import { publicJwk, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import { ApiError } from '@purser/rules/errors';
import type { EngineKind } from '../../engine/citus/engine.ts';
import type { WatchedNode } from '../../engine/distribution/node-watch.ts';
import type { SkippedEvents } from '../../engine/followers/follower-names.ts';
import { once } from '../decisions/attention.ts';
import { type Route, serve, storedJson } from '../http/route.ts';
import type { Metrics } from '../observability/metrics.ts';
import { makeDocsAnswers } from '../openapi/docs-answer.ts';
import { makeOpenApi } from '../openapi/openapi.ts';
import type { DocsSection } from '../pages/docs-search.ts';
import { withinTime } from '../scheduling/within-time.ts';
import { sharedAnswer } from './shared-answer.ts';

/** Facts that do not prevent requests from being served, but that an operator should see. */
export interface ReadinessDetail {
  skipped_events: SkippedEvents;
  /** How far the newest batch is ahead of the database's clock, whole seconds. */
  clock_ahead_seconds: number;
  /** The mail server as this process last saw it. */
  mail: MailState;
  database: { engine: EngineKind; nodes: WatchedNode[] };
}

export interface HealthOptions {
  /** Resolves with the details if a request could be served now. Rejects with the reason if not. */
  checkReady: () => Promise<ReadinessDetail>;
  /** True if the process was asked to end. It is ready no more from that moment on. */
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
  /** The parts of the guides, which the search of the reference finds too. */
  guide_sections: readonly DocsSection[];
}

/** A check that hangs must fail before the prober's own time limit. */
const READY_TIMEOUT_MS = 2_000;

/** Every Node that has time zones names the version of their data. */
const TIME_ZONE_DATA = process.versions.tz ?? 'unknown';

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
      return {
        status: 200,
        body: {
          status: 'ok',
          version: options.version,
          detail: { ...detail, time_zone_data: TIME_ZONE_DATA },
        },
      };
    }),
    ...(options.metrics_route === null ? [] : [options.metrics_route]),
    serve(routes.getPublicKeys)(async () => ({
      status: 200,
      body: { keys: options.checkpoint_keys.map(publicJwk) },
    })),
    serve(routes.getOpenApi)(async () => ({
      status: 200,
      json: storedJson(openapiJson()),
    })),
    serve(routes.getDocs)(async (call) => docs()(call)),
  ];
  // Made when they are first read: they take longer than the rest of a start.
  const document = once(() =>
    makeOpenApi([...options.api_routes, ...served], { version: options.version, events: WEBHOOK_EVENTS }),
  );
  const openapiJson = once(() => Buffer.from(JSON.stringify(document())));
  const docs = once(() => makeDocsAnswers(document(), options.guide_sections));
  return served;
}

async function withinTimeout<T>(check: Promise<T>): Promise<T> {
  try {
    return await withinTime(check, READY_TIMEOUT_MS, () => new Error('the readiness check timed out'));
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('unavailable', 'Not ready.', { cause, retry_after_s: 1, reason: 'not_ready' });
  }
}
