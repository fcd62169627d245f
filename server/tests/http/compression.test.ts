import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { serviceTest } from '../support/service-test.ts';
import { takesMinutes } from '../support/until.ts';

takesMinutes(5);

const { test, s, makeAgent, ask, get } = serviceTest({ plan: 'enterprise' });

/** The bytes of an answer as they came, which `fetch` does not show. */
function raw(path: string, accept?: string, body?: { text: string; key: string }) {
  return new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const headers = {
      'x-api-key': s.admin_key,
      ...(accept === undefined ? {} : { 'accept-encoding': accept }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': body.key }),
    };
    const sent = request(
      `${s.url}${path}`,
      { method: body === undefined ? 'GET' : 'POST', headers },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(parts) }));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject).end(body?.text);
  });
}

test('reads are compressed as the client asks, with the same content, and exports as a stream', async () => {
  const slug = await makeAgent();
  for (let i = 0; i < 20; i++) await ask(slug, 100 + i);
  for (const path of ['/openapi.json', '/docs', '/v1/decisions', '/v1/decisions/export?format=jsonl']) {
    const plain = await raw(path);
    expect(plain.headers['content-encoding'], path).toBeUndefined();
    expect(plain.headers.vary, path).toBe('accept-encoding');
    for (const [coding, open] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const short = await raw(path, coding);
      expect(short.headers, path).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
      expect(short.bytes.length, path).toBeLessThan(plain.bytes.length / 2);
      expect(open(short.bytes).equals(plain.bytes), path).toBe(true);
    }
  }
});

test('what is short, what changes something, and what shows a secret is never compressed', async () => {
  const slug = await makeAgent();
  const decision = await ask(slug, 100, { task: 'x'.repeat(2_000) });
  const spend = {
    agent: slug,
    task: 'x'.repeat(2_000),
    action: { type: 'purchase', merchant: 'Hetzner Online', amount_minor: 100, currency: 'EUR' },
  };
  const answers = [
    await raw('/v1/workspace', 'br'),
    await raw(`/v1/decisions/${decision.decision_id}`, 'br'),
    await raw('/v1/decisions', 'br', { text: JSON.stringify(spend), key: 'compression-1' }),
  ];
  for (const { headers, bytes } of answers) {
    expect(headers['content-encoding']).toBeUndefined();
    expect(() => JSON.parse(bytes.toString())).not.toThrow();
  }
  expect((await get(`/v1/decisions/${decision.decision_id}`)).decision_id).toBe(decision.decision_id);
});
