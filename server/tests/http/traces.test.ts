import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTracing } from '../../src/service/observability/open-telemetry.ts';
import { AUTHORITY, freshKey, spend, startTestService } from '../support/running-service.ts';

interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  links?: { spanId: string }[];
  attributes: { key: string; value: Record<string, unknown> }[];
}

let collector: Server;
let endpoint: string;
const received: { path: string | undefined; type: string | undefined; text: string }[] = [];

beforeAll(async () => {
  collector = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      received.push({ path: request.url, type: request.headers['content-type'], text });
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => collector.close(resolve)));

function collected(): CollectedSpan[] {
  const resources = received.flatMap(({ text }) => JSON.parse(text).resourceSpans);
  return resources.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap((scope: { spans: CollectedSpan[] }) => scope.spans),
  );
}

const attribute = (span: CollectedSpan | undefined, key: string) =>
  Object.values(span?.attributes.find((each) => each.key === key)?.value ?? {})[0];

test('a decision is traced below its caller: request, batch and statements, by ids and never by words; what is on its way is sent at the end', async () => {
  const s = await startTestService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` } });
  await s.call('POST', '/v1/agents', {
    body: { slug: 'a', authority: AUTHORITY },
    idempotency_key: freshKey(),
  });
  const traceparent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
  const made = await s.call('POST', '/v1/decisions', {
    body: spend('a', 4_321, { action: { description: 'A server for staging in Zanzibar' } }),
    idempotency_key: freshKey(),
    headers: { traceparent },
  });
  expect([made.status, made.body.decision_id]).toEqual([201, expect.stringMatching(/^dec_/)]);
  await s.call('GET', `/v1/decisions/${made.body.decision_id}`);
  await s.stop();

  expect(new Set(received.map(({ path, type }) => `${path} ${type}`))).toEqual(
    new Set(['/v1/traces application/json']),
  );
  const spans = collected();
  expect(received[0]?.text).toContain('{"key":"service.name","value":{"stringValue":"purser"}}');
  const request = spans.find(({ name }) => name === 'POST /v1/decisions');
  expect([request?.traceId, request?.parentSpanId]).toEqual(['a1'.repeat(16), 'b2'.repeat(8)]);
  expect(attribute(request, 'purser.decision_id')).toBe(made.body.decision_id);
  expect(attribute(request, 'purser.workspace_id')).toBe(s.workspace_id);
  expect(attribute(request, 'http.response.status_code')).toBe(201);
  // A first batch may have sent the spend back to be assessed.
  const batch = spans.find((span) => attribute(span, 'purser.decision_ids') !== undefined);
  expect([batch?.traceId, batch?.parentSpanId]).toEqual([request?.traceId, request?.spanId]);
  expect(JSON.stringify(attribute(batch, 'purser.decision_ids'))).toContain(made.body.decision_id);
  const statements = spans.filter(({ parentSpanId }) => parentSpanId === batch?.spanId);
  expect(statements.length).toBeGreaterThanOrEqual(2);
  expect(JSON.stringify(statements)).toMatch(/"begin".*"commit"/s);
  const read = spans.find(({ name }) => name === 'GET /v1/decisions/:id');
  expect(attribute(read, 'purser.decision_id')).toBe(made.body.decision_id);
  expect(read?.traceId).not.toBe(request?.traceId);
  // What customers wrote stays here.
  expect(received.map(({ text }) => text).join()).not.toMatch(/Zanzibar|Hetzner|\b4321\b/);
});

test('a batch of several requests is below the first and linked with the others, and they with it', async () => {
  const log = pino({ level: 'silent' });
  const tracing = startTracing({ endpoint, version: '1.2.3', log });
  const begin = (request_id: string) =>
    tracing.beginRequest({ headers: {}, method: 'POST', route: '/v1/labels', request_id });
  const requests = ['req_one', 'req_two', 'req_over'].map(begin);
  requests[2]?.release();
  const job = (request_id: string | null) => ({ command: { name: 'createLabel' }, origin: { request_id } });
  const parts = [
    { workspace_id: 'ws_a', jobs: [job('req_one'), job('req_two'), job(null)] },
    { workspace_id: 'ws_b', jobs: [job('req_over')] },
  ];
  received.length = 0;
  await tracing.traceBatch({}, parts, async () => [null, null]);
  for (const request of requests) request.end(201, undefined);
  await tracing.stop();
  const [batch, one, two] = ['batch', 'req_one', 'req_two'].map((what) =>
    collected().find((span) => span.name === what || attribute(span, 'purser.request_id') === what),
  );
  const linksOf = (span: CollectedSpan | undefined) => span?.links?.map(({ spanId }) => spanId) ?? [];
  expect([batch?.parentSpanId, linksOf(batch)]).toEqual([one?.spanId, [two?.spanId]]);
  expect([linksOf(one), linksOf(two)]).toEqual([[], [batch?.spanId]]);
  expect(attribute(batch, 'purser.batch.commands')).toBe(4);
});

test('a collector that is not there delays neither answers nor the end', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const s = await startTestService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: nowhere } });
  expect((await s.call('GET', '/v1/workspace')).status).toBe(200);
  await s.stop();
});

test('nothing of OpenTelemetry is loaded unless the setting asks for it', () => {
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  const naming = (what: RegExp) =>
    readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && what.test(readFileSync(src + name, 'utf8')))
      .sort();
  expect(naming(/@opentelemetry\//)).toEqual(['service/observability/open-telemetry.ts']);
  expect(naming(/['"][./\w]*\/open-telemetry\.ts/)).toEqual(['app.ts']);
  expect(naming(/from '[./\w]*\/open-telemetry\.ts/)).toEqual([]);
});
