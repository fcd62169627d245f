import { holderOf } from '@purser/rules/domain/keys';
import { jsonInSlices } from '@purser/rules/values/slices';
import { BODY_LIMIT } from '../http/call.ts';
import type { Answer, Call, ResourceName, Route } from '../http/route.ts';
import { type Release, Shares, type SharesOptions } from '../http/shares.ts';
import { bytesOf } from '../http/streams.ts';
import type { Presence } from '../scheduling/presence.ts';
import type { Settle, WorkTime } from '../scheduling/work-time.ts';

/** Share of the event loop's time for the assessments of one workspace: some thousand ordinary ones a second. */
export const ASSESS_SHARE = 0.25;
/** How much the public answers to one client address may take while workspaces are there. */
export const PUBLIC_SHARE = 0.25;

/** Shorter than the deadline of 5 s, so that a waiting request is refused with the message about overload. */
const MAX_WAIT_MS = 3_000;
/** Several that take seconds each on a busy machine may be before one. */
const MAX_WAIT_OF_SIMULATIONS_MS = 15_000;
/** The most waiting requests. With more than these the database could not keep up anyway. */
const MAX_WAITING = 400;

/**
 * What the requests of all workspaces share besides the write slots. `total` says how many are served at a time, and
 * leaves each kind room on the connections that it uses (`runtime.ts`): one workspace gets at most half of it while others
 * are there.
 * `expected_ms` is what a turn is taken to cost of the event loop until it has ended, `least_ms` what it then costs at the
 * least, where the length of its answer does not tell.
 */
const RESOURCES: Record<ResourceName, SharesOptions & { expected_ms: number; least_ms?: number }> = {
  /** Answers that need a few look-ups by key. */
  reads: { resource: 'reads', total: 8, expected_ms: 1, max_waiting: MAX_WAITING, max_wait_ms: MAX_WAIT_MS },
  /** Lists whose filters may have to look at very many rows, and whose pages may be a megabyte. */
  lists: { resource: 'lists', total: 4, expected_ms: 5, max_waiting: MAX_WAITING, max_wait_ms: MAX_WAIT_MS },
  reports: { resource: 'reports', total: 2, expected_ms: 2, max_waiting: 40, max_wait_ms: MAX_WAIT_MS },
  verifications: {
    resource: 'verifications',
    total: 2,
    // As measured for a short history: most of it is PostgreSQL's.
    expected_ms: 20,
    least_ms: 20,
    max_waiting: 40,
    max_wait_ms: MAX_WAIT_MS,
  },
  /** An export with a slow reader holds no connection, but two pages of memory. */
  exports: {
    resource: 'exports',
    total: 16,
    expected_ms: 5,
    workspace_share: 0.25,
    max_waiting: 40,
    max_wait_ms: MAX_WAIT_MS,
  },
  /** A file that arrives slowly holds little but its connection. */
  imports: {
    resource: 'imports',
    total: 8,
    expected_ms: 5,
    max_waiting: 40,
    max_wait_ms: MAX_WAIT_MS,
  },
  /** They are in no hurry and have no deadline; the time of the event loop that they take is bounded in `routes.ts`. */
  simulations: {
    resource: 'simulations',
    total: 4,
    expected_ms: 2,
    max_waiting: 40,
    max_wait_ms: MAX_WAIT_OF_SIMULATIONS_MS,
  },
};

/**
 * Turns at these are short, so that a workspace that is alone may take all of them: somebody who comes then waits for the
 * next one to end. The others may last for minutes.
 */
const SHORT: ReadonlySet<string> = new Set<ResourceName>(['reads', 'lists', 'reports']);

/** Makes the shared resources of a process, and registers them with the metrics. */
export function makeResources(
  watchUse: (resource: string, total: number, inUse: () => number) => void,
  isAlone: Presence['isAlone'] = () => false,
): Record<ResourceName, Shares> {
  const made = Object.entries(RESOURCES).map(([name, options]) => {
    const shares = new Shares(SHORT.has(name) ? { ...options, isAlone } : options);
    watchUse(shares.resource, shares.total, shares.inUse);
    return [name, shares] as const;
  });
  return Object.fromEntries(made) as Record<ResourceName, Shares>;
}

/**
 * Cost of a response in ms, as measured: lists, exports and small reads take between 0.4 and 1 ms of the event loop,
 * and for each byte that is read, written as JSON and sent some 15 ns of the service and 4 of PostgreSQL, which other
 * workspaces' requests wait for just as much.
 */
const costOf = (bytes: number) => 0.5 + bytes * 20e-6;

/** Cost of a response that is bytes already, as measured: 0.4 ms, and 1 ns for each byte. */
const costOfBytes = (bytes: number) => 0.4 + bytes * 1e-6;

const LONG_BODY_BYTES = 8_192;

/**
 * Cost of a long body besides its assessment, in ms: some 50 ns a byte for parsing, hashing, writing it as a document
 * and sending that to the database. Short ones cost nothing here, because measuring them would cost more than they
 * do.
 */
function costOfBody({ 'content-length': length, 'transfer-encoding': coding }: Call['headers']): number {
  const bytes = coding === undefined ? Number(length ?? 0) : BODY_LIMIT;
  return bytes > LONG_BODY_BYTES ? bytes * 50e-6 : 0;
}

/** The turns of requests. */
export interface Turns {
  /** The event loop's time, of which one workspace has a share where others are there. */
  answer_time: Pick<WorkTime, 'reserve'>;
  presence: Pick<Presence, 'note' | 'enter'>;
}

/**
 * The stream of an answer that gives back what it holds when it ends, however it ends, also before it began. Each of
 * its chunks is a turn of its own at the event loop.
 */
function inTurns(
  chunks: NonNullable<Answer['stream']>['chunks'],
  takeTurn: () => Settle | Promise<Settle>,
  release: Release,
): typeof chunks {
  const step = async (next: () => ReturnType<typeof chunks.next>) => {
    try {
      const result = await next();
      if (result.done === true) release();
      return result;
    } catch (error) {
      release();
      throw error;
    }
  };
  const nextInTurn = async () => {
    const settle = await takeTurn();
    const result = await chunks.next();
    settle(costOf(result.done === true ? 0 : result.value.length));
    return result;
  };
  const stream = {
    next: () => step(nextInTurn),
    return: () => step(() => chunks.return()),
    throw: (error: unknown) => step(() => chunks.throw(error)),
    [Symbol.asyncIterator]: () => stream,
  };
  return stream as typeof chunks;
}

const sizeOf = ({ json, text }: Answer): number => bytesOf(json ?? text?.content ?? '');

/** The answer with its body as JSON, whose length tells what it costs. */
async function written(answer: Answer): Promise<Answer> {
  const { body, ...rest } = answer;
  return body === undefined ? answer : { ...rest, json: await jsonInSlices(body) };
}

/**
 * Handles a call for which somebody waits: simulations let it go first. A call that waits for a change has nothing to do
 * meanwhile and is not waited for.
 */
async function handleForeground(
  handle: (call: Call) => Promise<Answer>,
  call: Call,
  presence: Turns['presence'],
): Promise<Answer> {
  let leave = presence.enter();
  const hold: Call['hold'] = async (ms) => {
    leave();
    try {
      return await call.hold(ms);
    } finally {
      leave = presence.enter();
    }
  };
  try {
    return await handle({ ...call, hold });
  } finally {
    leave();
  }
}

/**
 * The route, whose handler first notes that its workspace is there, and takes its turns at the event loop and at what
 * it `shares`: other workspaces' turns come in between, and too many are refused with `unavailable`. A stream holds its
 * turn at what is shared until it ends.
 */
export function withTurns(
  route: Route,
  resources: Record<ResourceName, Shares>,
  { answer_time, presence }: Turns,
): Route {
  // Without a key there is nobody to share with. Its own limit bounds it.
  if (route.scopes === 'public') return route;
  const handleAny = route.handler;
  const handle =
    route.shares === 'simulations' || route.shares === 'imports'
      ? handleAny
      : (call: Call) => handleForeground(handleAny, call, presence);
  if (route.shares === undefined) {
    const handleInTurn = async (call: Call, cost_ms: number) => {
      const { workspace_id, key_id } = holderOf(call.caller);
      const settle = await answer_time.reserve(workspace_id, cost_ms, key_id);
      try {
        return await handle(call);
      } finally {
        settle(cost_ms);
      }
    };
    return {
      ...route,
      handler(call: Call) {
        presence.note(call.caller.workspace_id);
        const cost_ms = costOfBody(call.headers);
        return cost_ms === 0 ? handle(call) : handleInTurn(call, cost_ms);
      },
    };
  }
  const { shares } = route;
  return {
    ...route,
    handler: async (call: Call) => {
      const holder = holderOf(call.caller);
      const { workspace_id, key_id } = holder;
      const name = typeof shares === 'string' ? shares : shares(call.headers);
      const { expected_ms, least_ms = 0 } = RESOURCES[name];
      presence.note(workspace_id);
      const takeTurn = () => answer_time.reserve(workspace_id, expected_ms, key_id);
      const settle = await takeTurn();
      let bytes = 0;
      let is_streamed = false;
      let release = () => {};
      try {
        release = await resources[name].take(holder);
        const answer = await written(await handle(call));
        bytes = sizeOf(answer);
        if (answer.stream === undefined) return answer;
        is_streamed = true;
        const chunks = inTurns(answer.stream.chunks, takeTurn, release);
        return { ...answer, stream: { ...answer.stream, chunks } };
      } finally {
        settle(Math.max(least_ms, costOf(bytes)));
        if (!is_streamed) release();
      }
    },
  };
}

/**
 * The public route, whose answers take their turns at the event loop among those of the same client address. Probes are
 * never kept waiting. All that is answered here is bytes already, so that their number tells what it costs.
 */
export function withPublicTurns(route: Route, public_time: Pick<WorkTime, 'reserve'>): Route {
  if (route.is_probe === true) return route;
  const handle = route.handler;
  return {
    ...route,
    async handler(call: Call) {
      const settle = await public_time.reserve(call.client_address, costOfBytes(0));
      const answer = await handle(call);
      settle(costOfBytes(sizeOf(answer)));
      return answer;
    },
  };
}
