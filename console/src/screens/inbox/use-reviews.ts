import type { DecisionListQuery, GetInboxQuery, Inbox } from '@purser/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { purser } from '../../api/client.ts';
import { FIRST_PAGE, type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { useMe } from '../../api/queries.ts';
import { downloadStreamed } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { type PlainPage, withFirstPage, withRows } from '../../lib/pages.ts';
import { isDueBefore, type Row, rowOfDecision, rowOfPending } from '../../lib/reviews/rows.ts';
import { type Search, stringifySearch } from '../../lib/search.ts';

/** The tabs and their queries. Pending reviews are sorted by deadline, the others by time. */
export const TABS: Record<string, { name: string; query: Record<string, string>; of_me?: true }> = {
  waiting: { name: 'Pending', query: { review_state: 'PENDING', order: 'expires' } },
  mine: { name: 'Reviewed by me', query: {}, of_me: true },
  reviewed: { name: 'Reviewed', query: { review_state: 'ALLOWED,DENIED' } },
  expired: { name: 'Expired', query: { review_state: 'EXPIRED' } },
};

/** URL parameters that narrow, sort or group the pending reviews, as `GET /v1/inbox` takes them. */
export const INBOX_FILTERS = ['search', 'sort', 'group', 'merchant', 'currency', 'reason', 'mine'] as const;
export type InboxFilters = { [Name in (typeof INBOX_FILTERS)[number] | 'agent']?: string };

/** True if the filters leave requests out. */
export const isNarrowed = ({ sort: _sort, group: _group, ...narrow }: InboxFilters): boolean =>
  Object.values(narrow).some((value) => value !== undefined);

const idOf = ({ decision_id }: Row) => decision_id;

/** The query of these filters, without groups. Amounts are compared within a currency: without one, that sort has no effect. */
function queryOf({ sort, group: _group, mine, ...rest }: InboxFilters): GetInboxQuery {
  const is_sorted = sort !== undefined && (sort !== 'amount' || rest.currency !== undefined);
  return {
    ...rest,
    ...(mine === 'true' ? { mine: true } : {}),
    ...(is_sorted ? { sort } : {}),
  } as GetInboxQuery;
}

async function fetchPending(filters: InboxFilters, page: PageQuery) {
  const { data, next_cursor } = await purser.inbox.retrieve({
    ...queryOf(filters),
    ...page,
  } as GetInboxQuery);
  return { data: data.map(rowOfPending), next_cursor };
}

async function fetchDecisions(filters: Search, page: PageQuery): Promise<PlainPage<Row>> {
  const { data, next_cursor } = await purser.decisions.list({ ...filters, ...page } as DecisionListQuery);
  return { data: data.map((each) => rowOfDecision(each)), next_cursor };
}

/** The requests of a tab, as the filters narrow it, and of one question or all, with their CSV export. */
export function useReviews(tab: string, filters: InboxFilters, question: string | undefined) {
  const me = useMe();
  const { query, of_me } = TABS[tab] ?? (TABS.waiting as (typeof TABS)[string]);
  const { agent } = filters;
  const asked: Search = {
    ...query,
    ...(of_me === true ? { reviewed_by: me.principal_id } : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(question === undefined ? {} : { question_id: question }),
  };
  const is_inbox = tab === 'waiting' && question === undefined;
  const { group: _group, ...narrow } = filters;
  const fetch = (page: PageQuery) => (is_inbox ? fetchPending(narrow, page) : fetchDecisions(asked, page));
  // Pending reviews are sorted by deadline, so new ones can appear anywhere.
  const fetchNewest = async () => {
    const { order, ...unordered } = asked;
    if (order === undefined || (is_inbox && narrow.sort !== undefined)) return null;
    return is_inbox
      ? fetchPending({ ...narrow, sort: 'newest' }, FIRST_PAGE)
      : fetchDecisions(unordered, FIRST_PAGE);
  };
  const list = useList<Row>(
    ['decisions', 'inbox', tab, is_inbox ? narrow : agent, question],
    (page) => fetch(page),
    {
      mode: 'caught-up',
      catchUp: async () => {
        const [first, newest] = await Promise.all([fetch(FIRST_PAGE), fetchNewest()]);
        return (pages) => withRows(withFirstPage(pages, first, idOf), newest?.data ?? [], idOf, isDueBefore);
      },
    },
  );
  const { currency, merchant } = filters;
  const exported = { ...asked, ...(currency ? { currency } : {}), ...(merchant ? { merchant } : {}) };
  const exporting = useAction(() =>
    downloadStreamed(`/v1/decisions/export${stringifySearch({ format: 'csv', ...exported })}`),
  );
  useExpiry(list.rows);
  return { list, exporting };
}

/** The number of pending reviews that the filters let through, with their groups. */
export function useInboxCounts(filters: InboxFilters, is_on: boolean): Inbox | undefined {
  return useQuery({
    queryKey: ['decisions', 'inbox-counts', filters],
    queryFn: async () => {
      const { group } = filters;
      const grouped = group === undefined ? {} : { group };
      return purser.inbox.retrieve({ ...queryOf(filters), ...grouped, limit: 1 } as GetInboxQuery);
    },
    placeholderData: keepPreviousData,
    enabled: is_on,
  }).data;
}

/** No event announces an expiring review, so the list is refetched when the next one expires. */
function useExpiry(rows: readonly Row[]): void {
  const soonest_ms = Math.min(
    ...rows
      .filter((each) => each.review_state === 'PENDING' && each.expires_at !== null)
      .map((each) => Date.parse(each.expires_at as string)),
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
