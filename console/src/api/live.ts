import type { Query } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { purser } from './client.ts';
import { queryClient } from './queries.ts';
import { isDemanded } from './session.ts';

/** Where people watch what happens, and elsewhere. Milliseconds. */
const WATCHED_MS = 2_000;
const ELSEWHERE_MS = 10_000;
const MAX_BACK_OFF_MS = 60_000;
/** Somebody who went away need not be told, and asking for them would keep their session from ending. */
const AWAY_MS = 10 * 60_000;
/** One request may fail; after so many it is said. */
const LOST_AFTER = 2;

/** What an event of the ledger makes old: the first words of the keys of queries. */
const MAKES_OLD: readonly (readonly [type: RegExp, keys: readonly string[]])[] = [
  [
    /^(decision|reservation|capability)\./,
    ['decisions', 'decision', 'agents', 'budgets', 'overview', 'report'],
  ],
  [/^(agent|authority|merchant)\./, ['agents', 'authority', 'workspace', 'report', 'audit']],
  [/^budget\./, ['budgets', 'agents', 'audit']],
  [/^api_key\./, ['keys', 'audit']],
  [/^webhook\./, ['webhooks', 'audit']],
  [/^(workspace|plan)\./, ['workspace', 'me', 'audit']],
  [/^(member|invitation|sessions)\./, ['team', 'me', 'audit']],
];

const still = new Set<string>();
/** Keeps the query of this hash as it is, whatever changes, until the returned function is called: somebody reads it. */
export function keepStill(hash: string): () => void {
  still.add(hash);
  return () => {
    still.delete(hash);
  };
}

let poke: () => void = () => {};
/** Asks at once what changed, after a change of one's own. */
export const askForChanges = (): void => poke();

/** Has queries fetched again whose keys begin with these words; all of them where none is named. Still ones stay. */
export async function makeOld(...queryKey: readonly string[]): Promise<void> {
  await queryClient.invalidateQueries({ queryKey, predicate: ({ queryHash }) => !still.has(queryHash) });
}

/** The first words of the keys of queries that these events make old. The ledger has grown by any event. */
function madeOld(types: readonly string[]): ReadonlySet<string> {
  const found = MAKES_OLD.filter(([pattern]) => types.some((type) => pattern.test(type)));
  return new Set(['ledger', ...found.flatMap(([, keys]) => keys)]);
}

/**
 * Keeps every screen as new as the service: asks what changed, and has only that fetched again. Rests while the tab is
 * hidden or its person is away, and asks at once when they come back. Gives how many reviews are pending, and why what is
 * shown may be old: `lost` where the service cannot be reached, `away` where nobody was here for long.
 */
export function useLive(): { pending_reviews: number; is_old: 'lost' | 'away' | null } {
  const is_watched = useRouterState({
    select: ({ location: { pathname, search } }) =>
      pathname.startsWith('/reviews') || (search as Record<string, unknown>).live === '1',
  });
  const pause_ms = is_watched ? WATCHED_MS : ELSEWHERE_MS;
  const seen = useRef<number | null>(null);
  const [pending_reviews, setPending] = useState(0);
  const [is_old, setOld] = useState<'lost' | 'away' | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let is_asking = false;
    let failures = 0;
    let used_at = Date.now();

    const isResting = () => document.hidden || Date.now() - used_at > AWAY_MS;
    const later = () => {
      clearTimeout(timer);
      if (signal.aborted) return;
      timer = setTimeout(ask, Math.min(pause_ms * 2 ** failures, MAX_BACK_OFF_MS));
    };
    async function ask(): Promise<void> {
      if (is_asking) return;
      if (isResting()) {
        // When a hidden tab is seen again it asks before anybody has read this.
        if (!document.hidden) setOld('away');
        return;
      }
      is_asking = true;
      try {
        const since = seen.current;
        const query = since === null ? {} : { since };
        const changes = await purser.changes.retrieve(query, { signal });
        const was_down = failures > 0;
        failures = 0;
        setOld(null);
        seen.current = changes.seq;
        setPending(changes.pending_reviews);
        // What could not be read meanwhile is read now, also where nothing has changed.
        if (was_down) {
          void queryClient.invalidateQueries({
            predicate: (query) => query.state.status === 'error' && !still.has(query.queryHash),
          });
        }
        // Of another history, as one put back from a backup, everything is new.
        if (since !== null && (changes.truncated || changes.seq !== since)) {
          const old = madeOld(Object.keys(changes.types));
          const isOld = ({ queryKey: [first] }: Query) => changes.truncated || old.has(String(first));
          void queryClient.invalidateQueries({
            predicate: (query) => isOld(query) && !still.has(query.queryHash),
          });
        }
      } catch {
        if (signal.aborted) return;
        failures += 1;
        if (failures >= LOST_AFTER) setOld('lost');
      } finally {
        is_asking = false;
        later();
      }
    }
    const onReturn = () => {
      const was_resting = isResting();
      used_at = Date.now();
      if (was_resting) void ask();
    };
    const onVisible = () => {
      if (document.hidden) return;
      used_at = Date.now();
      void ask();
      // Another tab may have signed in as somebody else meanwhile.
      if (!isDemanded()) void makeOld('me');
    };
    for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const) {
      document.addEventListener(event, onReturn, { passive: true, capture: true, signal });
    }
    document.addEventListener('visibilitychange', onVisible, { signal });
    window.addEventListener('online', onVisible, { signal });
    // Gone back to, a page is shown as it was left.
    window.addEventListener('pageshow', ({ persisted }) => persisted && onVisible(), { signal });
    poke = () => void ask();
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [pause_ms]);

  return { pending_reviews, is_old };
}
