import { type ModelServer, opines, startModelServer } from './model-server.ts';
import { AUTHORITY, freshKey, type RunningService, spend, startTestService } from './running-service.ts';

const AT_ONCE = 4;

/** A service beside a model on the operator's own machine, which starts slowly and answers one call at a time. */
export interface LocalModel {
  /** Decides spends that a person sees anyway, four at once in each round. Returns how many got the model's opinion. */
  opinions(rounds: number): Promise<{ count: number; of: number }>;
  /** The most calls that were under way at a time. */
  mostOpen(): number;
  stop(): Promise<void>;
}

/** Starts both; the model takes `call_ms` for an answer, and refuses its first two calls because it is loading. */
export async function startLocalModel(call_ms: number): Promise<LocalModel> {
  const model: ModelServer = await startModelServer();
  let turn = Promise.resolve();
  let calls = 0;
  let most_open = 0;
  model.behave((response, question) => {
    calls += 1;
    if (calls <= 2) {
      response.writeHead(503).end('{"error":"Loading model"}');
      return;
    }
    most_open = Math.max(most_open, model.open());
    turn = turn.then(
      () =>
        new Promise((done) =>
          setTimeout(() => {
            opines('PURPOSE_MISALIGNED')(response, question);
            done();
          }, call_ms),
        ),
    );
  });
  const s: RunningService = await startTestService({
    env: {
      PURPOSE_MODEL_URL: `${model.url}/v1`,
      PURPOSE_MODEL: 'judge-1',
      PURPOSE_MODEL_PRESET: 'local',
    },
  });
  const agent = 'local-agent';
  await s.call('POST', '/v1/agents', { body: { slug: agent, authority: AUTHORITY } });
  let spends = 0;
  const decideOne = async () => {
    spends += 1;
    const action = { merchant: 'Trefoil Ltd', description: `as discussed ${spends}` };
    const body = spend(agent, 1_000 + spends, { action });
    const reply = await s.call('POST', '/v1/decisions', { body, idempotency_key: freshKey() });
    return String(reply.body.purpose?.method).endsWith('+model/judge-1');
  };
  return {
    async opinions(rounds) {
      let count = 0;
      for (let round = 0; round < rounds; round++) {
        const found = await Promise.all(Array.from({ length: AT_ONCE }, decideOne));
        count += found.filter(Boolean).length;
      }
      return { count, of: rounds * AT_ONCE };
    },
    mostOpen: () => most_open,
    async stop() {
      await s.stop();
      await model.stop();
    },
  };
}
