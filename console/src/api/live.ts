import type { Query } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { purser } from './client.ts';
import { queryClient } from './queries.ts';
import { hasDemand } from './session.ts';

/** Polling intervals on live screens and elsewhere. Milliseconds. */
const WATCHED_MS = 2_000;
const ELSEWHERE_MS = 5_000;
/** After a failure it polls sooner than else, then less and less often. */
const RETRY_MS = 1_000;
const MAX_BACK_OFF_MS = 15_000;
/** Polling stops after this time without input, so that idle sessions can end. */
const AWAY_MS = 10 * 60_000;
/** Consecutive failures before the connection counts as lost. */
const LOST_AFTER = 2;

/** Queries that a ledger event invalidates, by the first word of their keys. */
const AFFECTED_QUERIES: readonly (readonly [type: RegExp, keys: readonly string[]])[] = [
  [
    /^(decision|reservation|capability)\./,
    [
      'decisions',
      'decision',
      'questions',
      'agents',
      'budgets',
      'allowances',
      'overview',
      'report',
      'notices',
    ],
  ],
  [/^question\./, ['questions', 'report', 'audit']],
  [/^(agent|authority|merchant)\./, ['agents', 'authority', 'questions', 'workspace', 'report', 'audit']],
  [/^review_policy\./, ['review-policy', 'audit']],
  [/^allowance(_issuer)?\./, ['allowances', 'keys', 'audit']],
  [/^budget\./, ['budgets', 'agents', 'audit']],
  [/^api_key\./, ['keys', 'audit']],
  [/^webhook\./, ['webhooks', 'audit']],
  [/^channel\./, ['channels', 'notices', 'audit']],
  [/^(workspace|plan)\./, ['workspace', 'me', 'audit']],
  [/^(member|invitation|sessions)\./, ['team', 'me', 'audit']],
];

const pinned = new Set<string>();
/** Exempts the query with this hash from invalidation, because somebody reads it. Returns the function that ends this. */
export function pin(hash: string): () => void {
  pinned.add(hash);
  return () => {
    pinned.delete(hash);
  };
}

let pollChanges: () => void = () => {};
/** Polls for changes at once, after an own change. */
export const pollNow = (): void => pollChanges();

/** Refetches the queries whose keys start with these words, or all without any. Pinned ones stay. */
export async function invalidate(...queryKey: readonly string[]): Promise<void> {
  await queryClient.invalidateQueries({ queryKey, predicate: ({ queryHash }) => !pinned.has(queryHash) });
}

/** First words of the query keys that these events invalidate. Every event extends the ledger. */
function affectedBy(types: readonly string[]): ReadonlySet<string> {
  const found = AFFECTED_QUERIES.filter(([pattern]) => types.some((type) => pattern.test(type)));
  return new Set(['ledger', ...found.flatMap(([, keys]) => keys)]);
}

/** Refetches the queries that match. Pinned ones stay. */
function refetchWhere(matches: (query: Query) => boolean): void {
  void queryClient.invalidateQueries({
    predicate: (query) => matches(query) && !pinned.has(query.queryHash),
  });
}

/** The number of pending reviews, and why the screen may be out of date: connection lost, or the person away. */
interface LiveState {
  pending_reviews: number;
  stale_reason: 'lost' | 'away' | null;
}

/**
 * Keeps every screen current: polls for changes and refetches only the affected queries. Pauses while the tab is hidden or
 * the person is away, and polls at once when they return.
 */
export function useLive(): LiveState {
  const is_watched = useRouterState({
    select: ({ location: { pathname, search } }) =>
      pathname.startsWith('/reviews') || (search as Record<string, unknown>).live === '1',
  });
  const interval_ms = is_watched ? WATCHED_MS : ELSEWHERE_MS;
  const seen = useRef<number | null>(null);
  const [state, setState] = useState<LiveState>({ pending_reviews: 0, stale_reason: null });
  useEffect(
    () => startPolling(interval_ms, seen, (news) => setState((before) => ({ ...before, ...news }))),
    [interval_ms],
  );
  return state;
}

/** Starts polling every `interval_ms` from the ledger position in `seen`. Returns the function that stops it. */
function startPolling(
  interval_ms: number,
  seen: { current: number | null },
  report: (news: Partial<LiveState>) => void,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let is_polling = false;
  let failures = 0;
  let used_at = Date.now();

  const isPaused = () => document.hidden || Date.now() - used_at > AWAY_MS;
  async function poll(): Promise<void> {
    if (is_polling) return;
    if (isPaused()) {
      // A hidden tab polls as soon as it is visible again, so it needs no message.
      if (!document.hidden) report({ stale_reason: 'away' });
      return;
    }
    is_polling = true;
    try {
      const { pending_reviews } = await fetchChanges(seen, signal, failures > 0);
      failures = 0;
      report({ pending_reviews, stale_reason: null });
    } catch {
      if (signal.aborted) return;
      failures += 1;
      if (failures >= LOST_AFTER) report({ stale_reason: 'lost' });
    } finally {
      is_polling = false;
      clearTimeout(timer);
      const wait_ms =
        failures === 0 ? interval_ms : Math.min(RETRY_MS * 2 ** (failures - 1), MAX_BACK_OFF_MS);
      if (!signal.aborted) timer = setTimeout(poll, wait_ms);
    }
  }
  listenForReturn(signal, {
    onInput: () => {
      const was_paused = isPaused();
      used_at = Date.now();
      if (was_paused) void poll();
    },
    onOffline: () => void poll(),
    onVisible: () => {
      used_at = Date.now();
      void poll();
      // Another tab may have signed in as somebody else.
      if (!hasDemand()) void invalidate('me');
    },
  });
  pollChanges = () => void poll();
  void poll();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}

/** Fetches the changes since `seen`, advances it, and refetches the affected queries. */
async function fetchChanges(seen: { current: number | null }, signal: AbortSignal, was_down: boolean) {
  const since = seen.current;
  const changes = await purser.changes.retrieve(since === null ? {} : { since }, { signal });
  seen.current = changes.seq;
  // Refetches the queries that failed in the meantime, even without changes.
  if (was_down) refetchWhere(({ state }) => state.status === 'error');
  // A different history, such as a restored backup, invalidates everything.
  if (since !== null && (changes.truncated || changes.seq !== since)) {
    const affected = affectedBy(Object.keys(changes.types));
    refetchWhere(({ queryKey: [first] }) => changes.truncated || affected.has(String(first)));
  }
  return changes;
}

/** Calls `onInput` on any input, `onVisible` when the tab becomes visible or the network returns, `onOffline` when it is gone. */
function listenForReturn(
  signal: AbortSignal,
  on: { onInput: () => void; onVisible: () => void; onOffline: () => void },
): void {
  const onVisible = () => {
    if (!document.hidden) on.onVisible();
  };
  for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const) {
    document.addEventListener(event, on.onInput, { passive: true, capture: true, signal });
  }
  document.addEventListener('visibilitychange', onVisible, { signal });
  window.addEventListener('online', onVisible, { signal });
  window.addEventListener('offline', on.onOffline, { signal });
  // A page restored from the browser's history is out of date.
  window.addEventListener('pageshow', ({ persisted }) => persisted && onVisible(), { signal });
}
