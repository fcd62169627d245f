import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthorityRequest } from '@purser/sdk';
import { type FakePurser, fakePurser } from '@purser/sdk/testing';
import type { Caller, ModelUsage } from '../../src/purses/callers.ts';

export interface ServedPurser {
  url: string;
  fake: FakePurser;
  /** The agent in the answer of `GET /v1/api-keys/current`; tests change it. */
  agent: Caller['agent'] & { status: string };
  /** Keys that are accepted. */
  keys: Set<string>;
  /** Called with each request before it is served; what it throws loses the request. */
  before: (path: string) => void | Promise<void>;
  /** Called after each request; what it throws loses the answer. */
  after: (path: string) => void;
  /** Paths of the requests that came, oldest first. */
  asked: string[];
  /** Minor units that count now, by outcomes or by what is held. */
  counted(): number;
  /** Every capability that was consumed has an outcome. */
  isSettled(): boolean;
  stop(): Promise<void>;
}

/** The fake of the SDK behind HTTP, with the answer about keys that gateways ask for. */
export async function serveFakePurser(
  authority: Partial<AuthorityRequest> = {},
  options: { mode?: 'SHADOW' | 'ENFORCE'; model_usage?: ModelUsage } = {},
): Promise<ServedPurser> {
  const { mode = 'ENFORCE', model_usage = {} } = options;
  const whole = { currency: 'USD', ...authority } as AuthorityRequest;
  const fake = fakePurser({ mode, authority: whole });
  const state: ServedPurser = {
    url: '',
    fake,
    agent: {
      id: 'agt_1',
      slug: 'writer',
      mode,
      status: 'ACTIVE',
      may_spend: true,
      authority: {
        hash: 'sha256:1',
        currency: whole.currency,
        per_transaction_limit_minor: whole.per_transaction_limit_minor ?? null,
        review_threshold_minor: whole.review_threshold_minor ?? null,
        model_usage,
      },
    },
    keys: new Set(['sk_agent', 'sk_adapter']),
    before: () => {},
    after: () => {},
    asked: [],
    counted: () =>
      fake.decisions.reduce(
        (sum, { reservation }) =>
          sum + (/^(?:HELD|COMMITTED)$/.test(reservation.status) ? reservation.amount_minor : 0),
        0,
      ),
    isSettled: () => {
      const ended = new Set(fake.outcomes.map(({ decision_id }) => decision_id));
      return fake.consumed.every(({ decision_id }) => ended.has(decision_id));
    },
    stop: async () => {},
  };
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      state.asked.push(path);
      await state.before(path);
      const key = String(request.headers['x-api-key']);
      const answer = state.keys.has(key)
        ? path === '/v1/api-keys/current'
          ? Response.json({
              ...{
                id: key === 'sk_adapter' ? 'key_a' : 'key_1',
                kind: 'agent',
                principal_id: null,
                agent_id: null,
              },
              scopes: key === 'sk_adapter' ? ['consume'] : [],
              ...(key === 'sk_adapter' ? {} : { agent: state.agent }),
            })
          : await fake.fetch(`http://purser${path}`, {
              method: request.method ?? 'GET',
              headers: request.headers as Record<string, string>,
              ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
            })
        : Response.json(
            { error: { code: 'invalid_api_key', message: 'No.', request_id: 'req_1' } },
            { status: 401 },
          );
      state.after(path);
      const headers = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return state;
}
