import { connect } from 'node:net';
import { DECISIONS, type DecisionKind } from '../domain/decisions.ts';

/** Whose decisions are asked for. */
export interface Target {
  workspace_id: string;
  agent_key: string;
}

export interface LoadOptions {
  base_url: string;
  clients: number;
  /** Every client goes round all of them. */
  targets: readonly Target[];
  /** The body of the n-th request of the run; ASCII. */
  makeBody: (n: number) => string;
  /** Numbers the requests and idempotency keys of all loads of the run. */
  counter: { requests: number };
  /** Makes idempotency keys of this run unlike those of another. */
  run_id: string;
  warm_up_ms: number;
  /** Infinity: until `max_requests`. */
  measured_ms: number;
  max_requests?: number;
  /** How long a client that was refused waits before it asks again, ms; by default hardly at all. */
  pause_after_refusal_ms?: number;
  signal: AbortSignal;
}

export interface LoadResult {
  /** Answers 201 of the whole load, warm-up and the last ones under way included, by workspace. */
  created_by_workspace: Map<string, number>;
  created: number;
  /** Answers 201 within the measured time, and how long that was. */
  measured: number;
  measured_ms: number;
  /** Milliseconds from sending to the whole answer, of the measured ones. */
  latencies_ms: number[];
  /** The same of answers other than 201. */
  refusals_ms: number[];
  decisions: Record<DecisionKind, number>;
  /** What else came back, and how often. */
  errors: Map<string, number>;
}

const ANSWER_TIMEOUT_MS = 60_000;
/** A server that refuses is not asked again at once. */
const PAUSE_AFTER_ERROR_MS = 50;
const HEAD_END = Buffer.from('\r\n\r\n');
const DECISION_MARKS = DECISIONS.map((kind) => ({ kind, mark: Buffer.from(`"decision":"${kind}"`) }));

interface Received {
  status: number;
  body: Buffer;
  rest: Buffer;
}

/**
 * The first whole answer in the bytes; null when more are needed. Knows only answers with a content-length, which
 * is what the service sends. Throws for others.
 */
export function readAnswer(bytes: Buffer): Received | null {
  const head_end = bytes.indexOf(HEAD_END);
  if (head_end === -1) return null;
  const head = bytes.toString('latin1', 0, head_end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error('an answer without a content-length');
  const body_start = head_end + HEAD_END.length;
  const body_end = body_start + Number(length);
  if (bytes.length < body_end) return null;
  return {
    status: Number(head.slice(9, 12)),
    body: bytes.subarray(body_start, body_end),
    rest: bytes.subarray(body_end),
  };
}

function errorCode({ status, body }: Received): string {
  const code = /"code":"([a-z_]+)"/.exec(body.toString('latin1', 0, 500))?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/**
 * Puts the service under load: each client has one connection and one request under way. As little work as
 * possible is done for a request, since the machine is shared with what is measured. Never rejects because of
 * an answer; what goes wrong is counted. Rejects with the signal's reason when that is aborted.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { clients, targets, counter, signal, max_requests = Number.POSITIVE_INFINITY } = options;
  const { hostname, port } = new URL(options.base_url);
  const result: LoadResult = {
    created_by_workspace: new Map(),
    created: 0,
    measured: 0,
    measured_ms: 0,
    latencies_ms: [],
    refusals_ms: [],
    decisions: { ALLOW: 0, REVIEW: 0, DENY: 0 },
    errors: new Map(),
  };
  const heads = targets.map(
    ({ agent_key }) =>
      `POST /v1/decisions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${agent_key}\r\ncontent-type: application/json\r\n`,
  );
  const measured_from_ms = performance.now() + options.warm_up_ms;
  const measured_to_ms = measured_from_ms + options.measured_ms;
  let left = max_requests;
  let last_answer_ms = measured_from_ms;

  const countError = (what: string) => result.errors.set(what, (result.errors.get(what) ?? 0) + 1);

  /** Books an answer. False when it was a refusal. */
  const book = (answer: Received, target: Target, sent_at_ms: number, now_ms: number): boolean => {
    const is_measured = now_ms >= measured_from_ms && now_ms < measured_to_ms;
    if (answer.status !== 201) {
      countError(errorCode(answer));
      if (is_measured) result.refusals_ms.push(now_ms - sent_at_ms);
      return false;
    }
    const found = DECISION_MARKS.find(({ mark }) => answer.body.includes(mark));
    if (found === undefined) countError('201 without a decision');
    else result.decisions[found.kind] += 1;
    result.created += 1;
    const { workspace_id } = target;
    result.created_by_workspace.set(workspace_id, (result.created_by_workspace.get(workspace_id) ?? 0) + 1);
    if (is_measured) {
      result.measured += 1;
      result.latencies_ms.push(now_ms - sent_at_ms);
      last_answer_ms = now_ms;
    }
    return true;
  };

  const runClient = (number: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let turn = number;
      let target = targets[0] as Target;
      let sent_at_ms = 0;
      let received: Buffer = Buffer.alloc(0);
      let is_over = false;

      const finish = (what: string | null) => {
        if (is_over) return;
        is_over = true;
        if (what !== null) countError(what);
        socket.destroy();
        resolve();
      };
      const sendNext = () => {
        if (is_over) return;
        if (signal.aborted || left <= 0 || performance.now() >= measured_to_ms) return finish(null);
        left -= 1;
        const at = turn % targets.length;
        turn += 1;
        target = targets[at] as Target;
        const n = counter.requests;
        counter.requests += 1;
        const body = options.makeBody(n);
        sent_at_ms = performance.now();
        socket.write(
          `${heads[at]}idempotency-key: ${options.run_id}-${n}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          'latin1',
        );
      };
      socket.setTimeout(ANSWER_TIMEOUT_MS, () => finish(`no answer in ${ANSWER_TIMEOUT_MS} ms`));
      socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
      socket.on('close', () => finish('the connection was closed'));
      socket.on('connect', sendNext);
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        try {
          const answer = readAnswer(received);
          if (answer === null) return;
          received = answer.rest;
          if (book(answer, target, sent_at_ms, performance.now())) sendNext();
          else setTimeout(sendNext, options.pause_after_refusal_ms ?? PAUSE_AFTER_ERROR_MS);
        } catch (error) {
          finish((error as Error).message);
        }
      });
    });

  await Promise.all(Array.from({ length: clients }, (_, number) => runClient(number)));
  signal.throwIfAborted();
  result.measured_ms = Number.isFinite(options.measured_ms)
    ? options.measured_ms
    : last_answer_ms - measured_from_ms;
  return result;
}
