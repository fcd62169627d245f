import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import {
  decisionIdIn,
  type RequestSpan,
  type StatementsSpan,
  type TracedPart,
  type TracedRequest,
  type TracedResults,
  type Tracing,
} from '../../engine/tracing.ts';

/** The stop of the service waits this long for a collector that does not take the last spans. */
const FLUSH_MS = 1_000;
/** The most requests that a span links with; a batch can have more. */
const MAX_LINKS = 100;

/** An exporter that says in the log when spans begin or cease to be lost. */
function makeExporter(url: string, log: Logger): OTLPTraceExporter {
  const exporter = new OTLPTraceExporter({ url });
  const send = exporter.export.bind(exporter);
  let is_lost = false;
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      const lost = result.error !== undefined;
      if (lost && !is_lost) log.warn({ problem: result.error?.message }, 'traces cannot be sent');
      if (!lost && is_lost) log.info({}, 'traces are sent again');
      is_lost = lost;
      done(result);
    });
  return exporter;
}

const CARRIER = {
  get: (headers: Record<string, unknown>, name: string) => headers[name] as string | undefined,
  keys: Object.keys,
};

/**
 * Starts tracing to the collector at `endpoint` by OTLP over HTTP. Sampling, the name of the service and the rest follow
 * the `OTEL_` variables of the environment as OpenTelemetry defines them.
 */
export function startTracing(options: { endpoint: string; version: string; log: Logger }): Tracing {
  const named = resourceFromAttributes({ 'service.name': 'purser', 'service.version': options.version });
  const of_environment = detectResources({ detectors: [envDetector] });
  const exporter = makeExporter(`${options.endpoint.replace(/\/$/, '')}/v1/traces`, options.log);
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(named).merge(of_environment),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  return new Traces(provider, provider.getTracer('purser', options.version));
}

class Traces implements Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #requests = new Map<string, Span>();
  readonly #batches = new WeakMap<object, Context>();

  constructor(provider: BasicTracerProvider, tracer: Tracer) {
    this.#provider = provider;
    this.#tracer = tracer;
  }

  beginRequest({ headers, method, route, request_id }: TracedRequest): RequestSpan {
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'purser.request_id': request_id,
    };
    const span = this.#tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes },
      this.#propagator.extract(ROOT_CONTEXT, headers, CARRIER),
    );
    const requests = this.#requests.set(request_id, span);
    return {
      trace_id: span.spanContext().traceId,
      noteDecision(params, json = '') {
        const { id = '' } = (params ?? {}) as { id?: string };
        const decision_id = id.startsWith('dec_') ? id : decisionIdIn(json);
        if (decision_id !== undefined) span.setAttribute('purser.decision_id', decision_id);
      },
      end(status, workspace_id) {
        span.setAttribute('http.response.status_code', status);
        if (workspace_id !== undefined) span.setAttribute('purser.workspace_id', workspace_id);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
      release() {
        if (requests.get(request_id) === span) requests.delete(request_id);
      },
    };
  }

  async traceBatch<T extends TracedResults>(
    client: object,
    parts: readonly TracedPart[],
    work: () => Promise<T>,
  ): Promise<T> {
    const span = this.#beginBatch(parts);
    this.#batches.set(client, trace.setSpan(ROOT_CONTEXT, span));
    try {
      const results = await work();
      const decided = decisionsIn(results);
      if (decided.length > 0) span.setAttribute('purser.decision_ids', decided);
      return results;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      this.#batches.delete(client);
      span.end();
    }
  }

  beginStatements(client: object): StatementsSpan | null {
    const batch = this.#batches.get(client);
    if (batch === undefined) return null;
    const attributes = { 'db.system.name': 'postgresql' };
    const span = this.#tracer.startSpan('statements', { kind: SpanKind.CLIENT, attributes }, batch);
    const names: string[] = [];
    let open = 0;
    const settled = () => {
      open -= 1;
      if (open > 0) return;
      span.setAttribute('db.operation.batch.size', names.length);
      span.setAttribute('purser.statements', names);
      span.end();
    };
    return {
      // All statements of a group are sent before the first of them can be answered.
      add(statement, answer) {
        open += 1;
        names.push(statement);
        answer.then(settled, () => {
          span.setStatus({ code: SpanStatusCode.ERROR });
          settled();
        });
      },
    };
  }

  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS);
    });
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }

  /** Begins the span of a batch below that of its first request, and links it with the others. */
  #beginBatch(parts: readonly TracedPart[]): Span {
    const jobs = parts.flatMap((part) => part.jobs);
    const asked = jobs.flatMap(({ origin }) => this.#requests.get(origin.request_id ?? '') ?? []);
    const [first, ...others] = new Set(asked);
    const span = this.#tracer.startSpan(
      'batch',
      {
        attributes: {
          'purser.batch.workspaces': parts.length,
          'purser.batch.commands': jobs.length,
          'purser.batch.kinds': [...new Set(jobs.map(({ command }) => command.name))],
        },
        links: others.slice(0, MAX_LINKS).map((other) => ({ context: other.spanContext() })),
      },
      first === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, first),
    );
    for (const other of others) other.addLink({ context: span.spanContext() });
    return span;
  }
}

/** The ids of the decisions that the commands of a batch made or found. */
function decisionsIn(results: TracedResults): string[] {
  return results.flatMap((answers) =>
    (answers ?? []).flatMap(({ value }) => {
      const { document } = (value ?? {}) as { document?: string };
      return (typeof document === 'string' ? decisionIdIn(document) : undefined) ?? [];
    }),
  );
}
