import type { Consumption, Decision, DecisionRequest, Mode, Outcome, RecordedReview } from '../types.ts';
import { listDecisions } from './lists.ts';
import {
  canonical,
  consume,
  decide,
  type Kept,
  keyConflict,
  newId,
  Refused,
  report,
  review,
  type Verdict,
} from './records.ts';

export type { Verdict } from './records.ts';

/** A rule that decides instead of the policy. */
export type Rule = Verdict | ((request: DecisionRequest) => Verdict);

export interface FakePurserOptions {
  /** The mode of every agent; default ENFORCE. */
  mode?: Mode | undefined;
  /** The slug of the agent where a request names none. */
  agent?: string | undefined;
}

/** Purser in memory, for tests of code that spends. */
export interface FakePurser {
  /** Give it to `new Purser({ fetch })`. It answers decisions, reviews, capabilities and outcomes as the service does. */
  fetch: typeof globalThis.fetch;
  /** Sets what is decided of new requests; at first everything is allowed. */
  decide(rule: Rule): void;
  /** Reviews a pending decision. */
  review(decision_id: string, action: 'ALLOW' | 'DENY', reason_code?: string): RecordedReview;
  /** Decisions as they stand now, oldest first. */
  readonly decisions: readonly Decision[];
  /** Capabilities that were consumed, oldest first. */
  readonly consumed: readonly Consumption[];
  /** Outcomes that were reported, oldest first. */
  readonly outcomes: readonly Outcome[];
}

interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: unknown;
}
type Told = { status: number; body: unknown; headers?: Record<string, string> };

const POLL_MS = 10;

/** Makes a fake of the service. A contract test holds it to the real one. */
export function fakePurser(options: FakePurserOptions = {}): FakePurser {
  const { mode = 'ENFORCE', agent = 'test-agent' } = options;
  const kept = new Map<string, Kept>();
  const by_name = new Map<string, Kept>();
  const outcomes: Outcome[] = [];
  const consumed: Consumption[] = [];
  const agent_ids = new Map<string, string>();
  let rule: Rule = 'ALLOW';

  const allDecisions = () => Array.from(kept.values(), ({ current }) => current);
  const find = (decision_id: string): Kept => {
    const found = kept.get(decision_id);
    if (found === undefined) throw new Refused(404, 'not_found', 'No such decision.');
    return found;
  };
  const idempotencyKey = ({ headers }: Asked): string => {
    const key = headers.get('idempotency-key');
    if (key !== null && /^[!-~]{1,255}$/.test(key)) return key;
    throw new Refused(400, 'invalid_request', 'idempotency-key: is required');
  };

  function createDecision(asked: Asked): Told {
    const key = idempotencyKey(asked);
    const body = checkedRequest(asked.body);
    const slug = body.agent ?? agent;
    const name = `${slug} ${key}`;
    const request = canonical(body);
    const earlier = by_name.get(name);
    if (earlier === undefined) {
      const id = agent_ids.get(slug) ?? newId('agt');
      agent_ids.set(slug, id);
      const current = decide(body, typeof rule === 'function' ? rule(body) : rule, mode, { id, slug });
      const request_id = asked.headers.get('x-request-id') ?? '';
      const made = {
        request,
        document: JSON.stringify(current),
        request_id,
        current,
        outcomes: [],
        consumption: null,
      };
      kept.set(current.decision_id, made);
      by_name.set(name, made);
      return { status: 201, body: current };
    }
    if (earlier.request !== request) {
      throw keyConflict();
    }
    const headers = { 'idempotent-replay': 'true', 'idempotent-replay-of': earlier.request_id };
    return { status: 200, body: JSON.parse(earlier.document), headers };
  }

  async function getDecision(asked: Asked, decision_id: string): Promise<Told> {
    const { current } = find(decision_id);
    const told = () => `${current.review_state} ${current.outcome_state}`;
    const before = told();
    const until = performance.now() + Number(asked.query.get('wait_seconds') ?? 0) * 1000;
    while (told() === before && performance.now() < until)
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    return { status: 200, body: current };
  }

  function consumeCapability(asked: Asked): Told {
    const key = idempotencyKey(asked);
    const body = asked.body as Parameters<typeof consume>[2];
    const found = [...kept.values()].find((each) => each.current.capability?.token === body?.token);
    const used_before = [...kept.values()].find((each) => each.consumption?.key === key);
    if (used_before !== undefined && used_before !== found) {
      throw keyConflict();
    }
    if (found === undefined) throw new Refused(404, 'not_found', 'No such capability.');
    const { replayed, answer } = consume(found, key, body);
    if (replayed) return { status: 200, body: answer, headers: { 'idempotent-replay': 'true' } };
    consumed.push(answer);
    return { status: 201, body: answer };
  }

  function createOutcome(asked: Asked, decision_id: string): Told {
    const { repeated, answer } = report(find(decision_id), asked.body as Parameters<typeof report>[1]);
    if (!repeated) outcomes.push(answer);
    return { status: repeated ? 200 : 201, body: answer };
  }

  const routes: [string, RegExp, (asked: Asked, id: string) => Told | Promise<Told>][] = [
    ['POST', /^\/v1\/decisions$/, createDecision],
    [
      'GET',
      /^\/v1\/decisions$/,
      ({ query }) => ({ status: 200, body: listDecisions(allDecisions(), query) }),
    ],
    ['GET', /^\/v1\/decisions\/(\w+)$/, getDecision],
    [
      'POST',
      /^\/v1\/decisions\/(\w+)\/reviews$/,
      (asked, id) => ({ status: 201, body: review(find(id), asked.body as Parameters<typeof review>[1]) }),
    ],
    ['POST', /^\/v1\/decisions\/(\w+)\/outcomes$/, createOutcome],
    [
      'GET',
      /^\/v1\/decisions\/(\w+)\/outcomes$/,
      (_, id) => ({ status: 200, body: { data: find(id).outcomes.toReversed(), next_cursor: null } }),
    ],
    ['POST', /^\/v1\/capabilities\/consume$/, consumeCapability],
  ];

  async function answer(asked: Asked): Promise<Told> {
    if ((asked.headers.get('x-api-key') ?? '') === '') {
      throw new Refused(401, 'unauthenticated', 'The key is missing.');
    }
    for (const [method, pattern, handle] of routes) {
      const match = asked.method === method ? pattern.exec(asked.path) : null;
      if (match !== null) return handle(asked, match[1] ?? '');
    }
    throw new Refused(404, 'not_found', 'The fake has no such route.');
  }

  return {
    async fetch(input, init) {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      const { pathname: path, searchParams: query } = new URL(request.url);
      const { method, headers } = request;
      const request_id = headers.get('x-request-id') ?? newId('req');
      const text = await request.text();
      let told: Told;
      try {
        told = await answer({
          method,
          path,
          query,
          headers,
          body: text === '' ? undefined : JSON.parse(text),
        });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const { status, code, message } = error;
        told = { status, body: { error: { code, message, request_id } } };
      }
      return Response.json(told.body, {
        status: told.status,
        headers: { 'x-request-id': request_id, ...told.headers },
      });
    },
    decide(next) {
      rule = next;
    },
    review: (decision_id, action, reason_code = 'FAKE_REVIEW') =>
      review(find(decision_id), { action, reason_code }),
    get decisions() {
      return allDecisions();
    },
    consumed,
    outcomes,
  };
}

/** Refuses, naming the field, what the service would refuse of a request's shape. */
function checkedRequest(body: unknown): DecisionRequest {
  const refuse = (field: string, must: string): never => {
    throw new Refused(400, 'invalid_request', `${field}: ${must}`);
  };
  const { action, ...rest } = (body ?? {}) as Partial<DecisionRequest>;
  if (typeof action !== 'object' || action === null) return refuse('action', 'is required');
  for (const field of ['type', 'merchant'] as const) {
    if (typeof action[field] !== 'string' || action[field].trim() === '')
      refuse(`action.${field}`, 'is required');
  }
  if (!Number.isSafeInteger(action.amount_minor) || action.amount_minor < 1) {
    refuse('action.amount_minor', 'must be an integer from 1 to 9007199254740991');
  }
  if (!/^[A-Z]{3}$/.test(action.currency ?? '')) refuse('action.currency', 'must be an active ISO 4217 code');
  const known = ['task', 'trace', 'limitable', 'min_amount_minor', 'agent', 'context'];
  const unknown = Object.keys(rest).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(unknown, 'is not a field of this request');
  return body as DecisionRequest;
}
