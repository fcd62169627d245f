import type {
  AuthorityRequest,
  Consumption,
  Decision,
  DecisionRequest,
  Mode,
  Outcome,
  RecordedReview,
} from '../types.ts';
import { newId } from './ids.ts';
import { listDecisions } from './lists.ts';
import { keyConflict, Refused } from './refused.ts';
import type { Rule } from './rule.ts';
import { canonicalJson, isActiveCurrency } from './rules.ts';
import { FakeWorkspace } from './workspace.ts';

export type { Rule, Verdict } from './rule.ts';

export interface FakePurserOptions {
  /** The mode of every agent; default ENFORCE. */
  mode?: Mode | undefined;
  /** The slug of the agent where a request names none. */
  agent?: string | undefined;
  /**
   * The authority of every agent. Requests are decided by it as the service decides them, but purpose is not assessed: every
   * spend counts as aligned with it. Default: one that allows everything. Shared budgets are not supported.
   */
  authority?: AuthorityRequest | undefined;
}

/** Purser in memory, for tests of code that spends. */
export interface FakePurser {
  /** Give it to `new Purser({ fetch })`. It answers decisions, reviews, capabilities and outcomes as the service does. */
  fetch: typeof globalThis.fetch;
  /** Sets a rule that decides new requests instead of the policy. */
  decide(rule: Rule): void;
  /** Reviews a pending decision. */
  review(decision_id: string, action: 'ALLOW' | 'DENY', reason_code?: string): RecordedReview;
  /** Decisions as they are now, oldest first. */
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
interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

const POLL_MS = 10;

/**
 * Makes a fake of the service, which decides by the service's own rules. Throws a TypeError for an authority with shared
 * budgets.
 */
export function fakePurser(options: FakePurserOptions = {}): FakePurser {
  const service = new FakeService(options);
  return {
    fetch: (input, init) => service.fetch(new Request(input, init)),
    decide: (rule) => service.setRule(rule),
    review: (decision_id, action, reason_code = 'FAKE_REVIEW') =>
      service.workspace.review(decision_id, { action, reason_code }),
    get decisions() {
      return service.workspace.decisions();
    },
    consumed: service.consumed,
    outcomes: service.outcomes,
  };
}

/** A decision's first answer, which a replay repeats. */
interface FirstAnswer {
  request: string;
  document: string;
  request_id: string;
}

/** The routes of the service that the fake has. */
class FakeService {
  readonly workspace: FakeWorkspace;
  readonly consumed: Consumption[] = [];
  readonly outcomes: Outcome[] = [];
  readonly #agent: string;
  readonly #answers = new Map<string, FirstAnswer>();
  readonly #routes: [method: string, path: RegExp, (asked: Asked, id: string) => Answer | Promise<Answer>][] =
    [
      ['POST', /^\/v1\/decisions$/, (asked) => this.#createDecision(asked)],
      ['GET', /^\/v1\/decisions$/, ({ query }) => ok(listDecisions(this.workspace.decisions(), query))],
      ['GET', /^\/v1\/decisions\/(\w+)$/, (asked, id) => this.#getDecision(asked, id)],
      [
        'POST',
        /^\/v1\/decisions\/(\w+)\/reviews$/,
        ({ body }, id) => ({ status: 201, body: this.workspace.review(id, body as never) }),
      ],
      ['POST', /^\/v1\/decisions\/(\w+)\/outcomes$/, (asked, id) => this.#createOutcome(asked, id)],
      [
        'GET',
        /^\/v1\/decisions\/(\w+)\/outcomes$/,
        (_, id) => ok({ data: this.workspace.outcomesOf(id).toReversed(), next_cursor: null }),
      ],
      ['POST', /^\/v1\/capabilities\/consume$/, (asked) => this.#consumeCapability(asked)],
    ];
  /** Null: the policy decides. */
  #rule: Rule | null = null;

  constructor({ mode = 'ENFORCE', agent = 'test-agent', authority }: FakePurserOptions) {
    this.workspace = new FakeWorkspace(mode, authority);
    this.#agent = agent;
  }

  setRule(rule: Rule): void {
    this.#rule = rule;
  }

  async fetch(request: Request): Promise<Response> {
    request.signal.throwIfAborted();
    const { pathname: path, searchParams: query } = new URL(request.url);
    const { method, headers } = request;
    const request_id = headers.get('x-request-id') ?? newId('req');
    const text = await request.text();
    let answer: Answer;
    try {
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      answer = await this.#answer({ method, path, query, headers, body });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, code, message } = error;
      answer = { status, body: { error: { code, message, request_id } } };
    }
    const answered = { 'x-request-id': request_id, ...answer.headers };
    return Response.json(answer.body, { status: answer.status, headers: answered });
  }

  async #answer(asked: Asked): Promise<Answer> {
    if ((asked.headers.get('x-api-key') ?? '') === '')
      throw new Refused('unauthenticated', 'The key is missing.');
    for (const [method, pattern, handle] of this.#routes) {
      const match = asked.method === method ? pattern.exec(asked.path) : null;
      if (match !== null) return handle(asked, match[1] ?? '');
    }
    throw new Refused('not_found', 'The fake has no such route.');
  }

  #createDecision(asked: Asked): Answer {
    const key = idempotencyKey(asked);
    const body = checkedRequest(asked.body);
    const slug = body.agent ?? this.#agent;
    const request = canonicalJson(body);
    const earlier = this.#answers.get(`${slug} ${key}`);
    if (earlier === undefined) {
      const verdict = typeof this.#rule === 'function' ? this.#rule(body) : this.#rule;
      const decision = this.workspace.decide(slug, body, verdict);
      const request_id = asked.headers.get('x-request-id') ?? '';
      this.#answers.set(`${slug} ${key}`, { request, document: JSON.stringify(decision), request_id });
      return { status: 201, body: decision };
    }
    if (earlier.request !== request) throw keyConflict();
    const headers = { 'idempotent-replay': 'true', 'idempotent-replay-of': earlier.request_id };
    return { status: 200, body: JSON.parse(earlier.document), headers };
  }

  async #getDecision({ query }: Asked, decision_id: string): Promise<Answer> {
    const look = () => this.workspace.decision(decision_id);
    const stateOf = ({ review_state, outcome_state }: Decision) => `${review_state} ${outcome_state}`;
    const before = stateOf(look());
    const until = performance.now() + Number(query.get('wait_seconds') ?? 0) * 1000;
    while (stateOf(look()) === before && performance.now() < until)
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    return ok(look());
  }

  #consumeCapability(asked: Asked): Answer {
    const { replayed, answer } = this.workspace.consume(idempotencyKey(asked), asked.body as never);
    if (replayed) return { ...ok(answer), headers: { 'idempotent-replay': 'true' } };
    this.consumed.push(answer);
    return { status: 201, body: answer };
  }

  #createOutcome({ body }: Asked, decision_id: string): Answer {
    const { repeated, answer } = this.workspace.report(decision_id, body as never);
    if (!repeated) this.outcomes.push(answer);
    return { status: repeated ? 200 : 201, body: answer };
  }
}

const ok = (body: unknown): Answer => ({ status: 200, body });

function idempotencyKey({ headers }: Asked): string {
  const key = headers.get('idempotency-key');
  if (key !== null && /^[!-~]{1,255}$/.test(key)) return key;
  throw new Refused('invalid_request', 'idempotency-key: is required');
}

/** Refuses, naming the field, what the service would refuse of a request's shape. */
function checkedRequest(body: unknown): DecisionRequest {
  const refuse = (field: string, must: string): never => {
    throw new Refused('invalid_request', `${field}: ${must}`);
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
  if (!isActiveCurrency(action.currency ?? '')) refuse('action.currency', 'must be an active ISO 4217 code');
  const known = ['task', 'trace', 'limitable', 'min_amount_minor', 'agent', 'context'];
  const unknown = Object.keys(rest).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(unknown, 'is not a field of this request');
  return body as DecisionRequest;
}
