import { describe, expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';

const { test, s: service } = serviceTest({ env: { METRICS_HOST: '127.0.0.1', METRICS_PORT: '0' } });

describe('with METRICS_PORT', () => {
  test('the metrics answer at their own address, and nothing else does', async () => {
    const url = service.service.metrics_url as string;
    const { port } = new URL(url);
    expect(port).not.toBe(new URL(service.url).port);
    const metrics = await fetch(`${url}/metrics`);
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain/),
    ]);
    expect(await metrics.text()).toContain('process_cpu_seconds_total');
    for (const path of ['/v1/workspace', '/healthz', '/docs']) {
      const other = await fetch(`${url}${path}`, { headers: { 'x-api-key': service.admin_key } });
      expect([path, other.status]).toEqual([path, 404]);
    }
  });

  test('the public address neither has them nor names them', async () => {
    const metrics = await service.call('GET', '/metrics', { key: null });
    expect(metrics.status).toBe(404);
    const { text } = await service.call('GET', '/openapi.json', { key: null });
    expect(text).not.toContain('/metrics');
  });
});
