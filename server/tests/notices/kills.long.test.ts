import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { makeRandom } from '../../../tools/chaos/random.ts';
import { test } from '../support/program.ts';
import { takesMinutes, until } from '../support/until.ts';
import { type Received, startReceiver } from '../support/webhook-receiver.ts';

takesMinutes(30);

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Shown = any;

const KEY = `sk_live_${'A'.repeat(43)}`;
const AGENTS = 240;
const EACH = 4;
/** One agent asks so often that recipients get a summary. */
const OF_ONE = 40;
const KILLS = 8;
const CLIENTS = 8;

const AUTHORITY = {
  purpose: { objective: 'Keep the staging servers running: cloud servers and hosting.' },
  currency: 'EUR',
  review_threshold_minor: 100,
};

/** The ids of the notices about each decision, summaries included. */
function idsByDecision(received: readonly Received[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { event, headers } of received) {
    // Others are about the channel that fails.
    if (!event.type.startsWith('review.')) continue;
    const { decision_id, decision_ids = [decision_id] } = event.data;
    for (const id of decision_ids) {
      const ids = found.get(id) ?? new Set();
      found.set(id, ids.add(String(headers['webhook-id'])));
    }
  }
  return found;
}

describe('1,000 requests while the service is killed at random', () => {
  test('each channel gets each under one id; one that fails and one that never answers hold up none', async ({
    run,
    dataDirectory,
  }) => {
    const random = makeRandom(30);
    const good = [await startReceiver(), await startReceiver()];
    const [failing, silent] = [await startReceiver(), await startReceiver()];
    // Every seventh notice fails at first.
    const failed = new Set<string>();
    const [, shaky] = good;
    if (shaky !== undefined) {
      shaky.answer = (_request, response, { headers }) => {
        const id = String(headers['webhook-id']);
        const fails = !failed.has(id) && id.charCodeAt(id.length - 1) % 7 === 0;
        failed.add(id);
        if (fails) shaky.received.pop();
        response.writeHead(fails ? 500 : 200).end();
      };
    }
    failing.answer = (_request, response) => response.writeHead(503).end();
    silent.answer = () => {};

    const env = {
      DATA_DIR: dataDirectory(),
      LOG_LEVEL: 'warn',
      BOOTSTRAP_ADMIN_KEY: KEY,
      BOOTSTRAP_PLAN: 'enterprise',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      WEBHOOK_RETRY_FIRST_MS: '100',
      WEBHOOK_RETRY_MAX_MS: '400',
      WEBHOOK_TIMEOUT_MS: '2000',
    };
    let service = run(['serve'], env);
    let url = await service.url;
    let kills = 0;

    /** Asks until the service answers: across kills the same idempotency key finds what was done before. */
    async function call(
      method: string,
      path: string,
      body?: object,
      key = '',
    ): Promise<{ status: number; body: Shown }> {
      for (;;) {
        try {
          const response = await fetch(`${url}${path}`, {
            method,
            headers: {
              'x-api-key': KEY,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...(key === '' ? {} : { 'idempotency-key': key }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          if (response.status !== 503) return { status: response.status, body: await response.json() };
        } catch {
          // It was killed.
        }
        await wait(50);
      }
    }

    for (const [i, { url: to }] of [...good, failing, silent].entries()) {
      const body = { name: `Channel ${i}`, type: 'webhook', url: to };
      expect((await call('POST', '/v1/channels', body)).status).toBe(201);
    }
    for (let i = 0; i <= AGENTS; i++) {
      const body = { slug: `agent-${i}`, mode: 'ENFORCE', authority: AUTHORITY };
      expect((await call('POST', '/v1/agents', body)).status).toBe(201);
    }

    const wanted = [
      ...Array.from({ length: AGENTS * EACH }, (_, i) => `agent-${i % AGENTS}`),
      ...Array.from({ length: OF_ONE }, () => `agent-${AGENTS}`),
    ];
    const decided: string[] = [];
    let next = 0;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (next < wanted.length) {
        const i = next++;
        const action = { type: 'purchase', merchant: 'Hetzner', amount_minor: 200 + i, currency: 'EUR' };
        const reply = await call('POST', '/v1/decisions', { agent: wanted[i], action }, `request-${i}`);
        // A request whose answer was lost is answered again, with 200.
        expect([200, 201]).toContain(reply.status);
        expect(reply.body.decision).toBe('REVIEW');
        decided.push(reply.body.decision_id);
      }
    });
    const killer = (async () => {
      while (kills < KILLS) {
        await wait(300 + random() * 2_000);
        service.child.kill('SIGKILL');
        await service.ended;
        kills += 1;
        service = run(['serve'], env);
        url = await service.url;
      }
    })();
    await Promise.all([...clients, killer]);
    expect(new Set(decided).size).toBe(AGENTS * EACH + OF_ONE);

    for (const { received } of good) {
      await until(() => decided.every((id) => idsByDecision(received).has(id)), 200);
      const ids = idsByDecision(received);
      expect(decided.filter((id) => ids.get(id)?.size !== 1)).toEqual([]);
      expect([...ids.keys()].filter((id) => !decided.includes(id))).toEqual([]);
    }
    const verified = await call('GET', '/v1/ledger/verify');
    expect(verified.body).toMatchObject({ valid: true });
    for (const each of [...good, failing, silent]) await each.close();
  });
});
