import { holderOf } from '@purser/rules/domain/keys';
import { jsonInSlices } from '@purser/rules/values/slices';
import { BODY_LIMIT } from '../http/call.ts';
import type { Answer, Call, ResourceName, Route } from '../http/route.ts';
import { bytesOf } from '../http/streams.ts';
import type { Core } from '../installation/runtime.ts';
import { Places, type PlacesOptions, type Release } from '../scheduling/places.ts';
import { ofAnswer, ofBody, ofBytes } from '../scheduling/prices.ts';
import type { Turns } from '../scheduling/turns.ts';

/** Several simulations that take seconds each on a busy machine may be before one, and it has no deadline. */
const MAX_WAIT_OF_SIMULATIONS_MS = 15_000;
/** The share of one workspace in what may last for minutes, so that the first of another has its turn at once. */
const HALF = 0.5;

/**
 * The resources that the requests of all workspaces share besides the writes. `total` is how many are served at a time, and leaves each kind
 * room on the connections that it uses (`runtime.ts`). `price` is the least that one costs; a long answer costs more. Nobody's
 * request waits for what `is_background` in the sense of `Turns`: it comes after all others.
 */
const RESOURCES: Record<
  ResourceName,
  Pick<PlacesOptions, 'total' | 'share' | 'max_wait_ms'> & { price: number; is_background?: true }
> = {
  /** Answers that need a few look-ups by key. */
  reads: { total: 8, price: 1 },
  /** Lists whose filters may have to look at very many rows, and whose pages may be a megabyte. */
  lists: { total: 4, price: 1 },
  reports: { total: 2, price: 2, is_background: true },
  /** The pages of a history are paid one by one (`Turns.aside`). */
  verifications: { total: 2, price: 5, share: HALF, is_background: true },
  /** An export with a slow reader holds no connection, but two pages of memory. It begins by signing a checkpoint. */
  exports: { total: 16, price: 20, share: 0.25, is_background: true },
  /** A file that arrives slowly holds little but its connection. */
  imports: { total: 8, price: 5, share: HALF, is_background: true },
  simulations: {
    total: 4,
    price: 1,
    share: HALF,
    max_wait_ms: MAX_WAIT_OF_SIMULATIONS_MS,
    is_background: true,
  },
};

/** Makes the shared resources of a process, and registers them with the metrics. */
export function makePlaces({
  turns,
  metrics,
}: Pick<Core, 'turns' | 'metrics'>): Record<ResourceName, Places> {
  const made = Object.entries(RESOURCES).map(([name, options]) => {
    const places = new Places({ ...options, resource: name as ResourceName, order: turns.order, price: 0 });
    metrics.watchUse(name, places.total, places.inUse);
    return [name, places] as const;
  });
  return Object.fromEntries(made) as Record<ResourceName, Places>;
}

/** Measuring shorter ones would cost more than they do. */
const LONG_BODY_BYTES = 8_192;

function lengthOfBody({ 'content-length': length, 'transfer-encoding': coding }: Call['headers']): number {
  return coding === undefined ? Number(length ?? 0) : BODY_LIMIT;
}

/** The stream of an answer that gives back what it holds when it ends, however it ends, also before it began. */
function holding(
  chunks: NonNullable<Answer['stream']>['chunks'],
  pause: Turns['pause'],
  release: Release,
): typeof chunks {
  const step = async (next: () => ReturnType<typeof chunks.next>) => {
    const result = await next().catch((error) => {
      release();
      throw error;
    });
    if (result.done === true) release();
    return result;
  };
  const stream = {
    next: () =>
      step(async () => {
        await pause();
        return chunks.next();
      }),
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

/** Handles a call for which somebody waits, unless it waits itself for a change: then it has nothing to do. */
async function handleForeground(
  handle: Route['handler'],
  call: Call,
  turns: Turns,
  holder = holderOf(call.caller),
): Promise<Answer> {
  let leave = turns.enter(holder);
  const hold: Call['hold'] = async (ms) => {
    leave();
    try {
      return await call.hold(ms);
    } finally {
      leave = turns.enter(holder);
    }
  };
  try {
    return await handle({ ...call, hold });
  } finally {
    leave();
  }
}

/** Handles a call in one of the places, and charges what its answer costs. A stream keeps the place until it ends. */
async function handleInPlace(
  route: Route,
  call: Call,
  { places, price }: { places: Places; price: number },
  turns: Turns,
): Promise<Answer> {
  const holder = holderOf(call.caller);
  await turns.pass(holder, 'answers_time', price);
  const release = await places.take(holder);
  try {
    const answer = await written(await route.handler(call));
    const { stream } = answer;
    if (stream !== undefined) {
      return { ...answer, stream: { ...stream, chunks: holding(stream.chunks, turns.pause, release) } };
    }
    turns.order.charge(holder, Math.max(0, ofAnswer(sizeOf(answer)) - price));
    release();
    return answer;
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * The route, whose handler takes its turns at the event loop and at what it `shares`: those of workspaces that have used less
 * come before, and too many are refused with `unavailable`.
 */
export function withTurns(route: Route, places: Record<ResourceName, Places>, turns: Turns): Route {
  // Without a key there is nobody to share with. Its own limit bounds it.
  if (route.scopes === 'public') return route;
  const { shares, handler } = route;
  if (shares === undefined) {
    const handle = async (call: Call) => {
      const length = lengthOfBody(call.headers);
      if (length > LONG_BODY_BYTES) await turns.pass(holderOf(call.caller), 'answers_time', ofBody(length));
      return handler(call);
    };
    return { ...route, handler: (call) => handleForeground(handle, call, turns) };
  }
  return {
    ...route,
    handler(call) {
      const name = typeof shares === 'string' ? shares : shares(call.headers);
      const handle = (each: Call) =>
        handleInPlace(route, each, { ...RESOURCES[name], places: places[name] }, turns);
      const { is_background } = RESOURCES[name];
      return is_background ? handle(call) : handleForeground(handle, call, turns);
    },
  };
}

/** The public route, whose answers take turns by client address. Probes are never kept waiting. */
export function withPublicTurns(route: Route, turns: Turns): Route {
  if (route.is_probe === true) return route;
  const { handler } = route;
  return {
    ...route,
    handler(call: Call) {
      const holder = { workspace_id: call.client_address, key_id: call.client_address };
      const handle = async (each: Call) => {
        await turns.pass(holder, 'public_time', ofBytes(0));
        const answer = await handler(each);
        turns.order.charge(holder, ofBytes(sizeOf(answer)) - ofBytes(0));
        return answer;
      };
      return handleForeground(handle, call, turns, holder);
    },
  };
}
