import type { Decision, DecisionListQuery } from '@purser/sdk';
import { useEffect } from 'react';
import { purser } from '../../api/client.ts';
import { FIRST_PAGE, type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { useMe } from '../../api/queries.ts';
import { downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { withFirstPage, withRows } from '../../lib/pages.ts';
import { type Search, stringifySearch } from '../../lib/search.ts';

/** The tabs and their queries. Pending reviews are sorted by deadline, the others by time. */
export const TABS: Record<string, { name: string; query: Record<string, string>; of_me?: true }> = {
  waiting: { name: 'Pending', query: { review_state: 'PENDING', order: 'expires' } },
  mine: { name: 'Reviewed by me', query: {}, of_me: true },
  reviewed: { name: 'Reviewed', query: { review_state: 'ALLOWED,DENIED' } },
  expired: { name: 'Expired', query: { review_state: 'EXPIRED' } },
};

const idOf = ({ decision_id }: Decision) => decision_id;

/** The service's order: by deadline, requests without one last. */
function isDueBefore(a: Decision, b: Decision): boolean {
  const place = ({ reservation, decision_id }: Decision) => `${reservation.expires_at ?? '~'} ${decision_id}`;
  return place(a) < place(b);
}

/** The requests of a tab, of one agent or all, and of one question or all, with their CSV export. */
export function useReviews(tab: string, agent: string | undefined, question: string | undefined) {
  const me = useMe();
  const { query, of_me } = TABS[tab] ?? (TABS.waiting as (typeof TABS)[string]);
  const filters: Search = {
    ...query,
    ...(of_me === true ? { reviewed_by: me.principal_id } : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(question === undefined ? {} : { question_id: question }),
  };
  const fetchPage = (page: PageQuery, search = filters) =>
    purser.decisions.list({ ...search, ...page } as DecisionListQuery);
  const list = useList<Decision>(['decisions', 'inbox', tab, agent, question], (page) => fetchPage(page), {
    mode: 'caught-up',
    catchUp: async () => {
      // Pending reviews are sorted by deadline, so new ones can appear anywhere.
      const { order, ...unordered } = filters;
      const [first, newest] = await Promise.all([
        fetchPage(FIRST_PAGE),
        order === undefined ? null : fetchPage(FIRST_PAGE, unordered),
      ]);
      return (pages) => withRows(withFirstPage(pages, first, idOf), newest?.data ?? [], idOf, isDueBefore);
    },
  });
  const exporting = useAction(() =>
    downloadStreamed(`/v1/decisions/export${stringifySearch({ format: 'csv', ...filters })}`),
  );
  useExpiry(list.rows);
  return { list, exporting };
}

/** No event announces an expiring review, so the list is refetched when the next one expires. */
function useExpiry(rows: readonly Decision[]): void {
  const soonest_ms = Math.min(
    ...rows
      .filter((each) => each.review_state === 'PENDING' && each.reservation.expires_at !== null)
      .map((each) => Date.parse(each.reservation.expires_at as string)),
  );
  useEffect(() => {
    if (!Number.isFinite(soonest_ms)) return;
    const wait_ms = Math.max(1_000, soonest_ms - Date.now() + 500);
    if (wait_ms > 2_000_000_000) return;
    const timer = setTimeout(() => {
      void invalidate('decisions');
      void invalidate('decision');
    }, wait_ms);
    return () => clearTimeout(timer);
  }, [soonest_ms]);
}
