import { NOTICE_STATUSES } from '@purser/contract/values/channels';
import type { Notice } from '@purser/sdk';
import { Link, useSearch } from '@tanstack/react-router';
import { listNotices } from '../../api/channels.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { NewRows } from '../../components/list/NewRows.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import styles from '../../components/notifications/notifications.module.css';
import { Card, Empty, Loading } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { NOTICE_WORDS } from '../../lib/channels.ts';
import { pick, type Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';

const FILTERS: readonly Filter[] = [
  { param: 'status', name: 'Status', options: NOTICE_STATUSES.map((each) => [each, words(each)] as const) },
];

const COLUMNS: readonly Column<Notice>[] = [
  { name: 'Notice', heading: true, cell: (each) => NOTICE_WORDS[each.kind] },
  { name: 'Recipient', wrap: true, cell: (each) => each.recipient },
  {
    name: 'Request',
    cell: (each) =>
      each.decision_id === null ? '–' : <Link to={`/decisions/${each.decision_id}`}>Open</Link>,
  },
  {
    name: 'Status',
    cell: (each) => <StateBadge state={each.status} title={each.error ?? undefined} />,
  },
  { name: 'Error', cell: (each) => each.error ?? '–' },
  { name: 'Attempts', number: true, cell: (each) => each.attempts },
  { name: 'Sent or due', cell: (each) => <Time at={each.due_at} /> },
];

/** Notices, newest first, with their status. */
export function RecentNotices() {
  const search = pick(useSearch({ strict: false }), ['status']) as Search;
  const list = useList<Notice>(['notices', search], (page: PageQuery) => listNotices<Notice>(search, page), {
    mode: 'counted',
    idOf: (each) => each.id,
  });
  const is_filtered = search.status !== undefined;
  return (
    <>
      <NewRows list={list} />
      <Card title="Recent notices" flush={list.rows.length > 0}>
        {(list.rows.length > 0 || is_filtered) && (
          <div className={list.rows.length > 0 ? styles.filters : undefined}>
            <Filters filters={FILTERS} search={search} to="/notifications" />
          </div>
        )}
        {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Loading lines={5} />}
        {list.isSuccess && list.rows.length === 0 && (
          <Empty title={is_filtered ? 'No notices match this filter' : 'No notices yet'}>
            <p>A notice is sent when a request needs a review.</p>
          </Empty>
        )}
        {list.rows.length > 0 && (
          <>
            <Table label="Recent notices" columns={COLUMNS} rows={list.rows} keyOf={(each) => each.id} />
            <LoadMore query={list} />
          </>
        )}
      </Card>
    </>
  );
}
