import type { ApiKey, ListApiKeysQuery } from '@purser/sdk';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type NamedAgent, useAgentNames } from '../../api/agent-names.ts';
import { purser } from '../../api/client.ts';
import { useHiddenCount } from '../../api/hidden-count.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { type Place, usePlace } from '../../components/AgentTabs.tsx';
import { Author } from '../../components/Author.tsx';
import { Badge, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { BY_TIME, SORTING_PARAMS, useSorting } from '../../components/list/use-sorting.tsx';
import { Views } from '../../components/list/Views.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { useNow } from '../../lib/hooks/use-now.ts';
import { withEach } from '../../lib/pages.ts';
import { pick, type Search } from '../../lib/search.ts';
import { relative } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { words } from '../../lib/words.ts';
import styles from './Keys.module.css';
import { KINDS } from './kinds.ts';
import { NewKey } from './NewKey.tsx';

const SOON_MS = 14 * 86_400_000;

/** The names differ from the fields of a new key, so that each is unique while that dialog is open. */
function filtersOf(agents: readonly NamedAgent[]): readonly Filter[] {
  return [
    {
      param: 'kind',
      name: 'Type',
      options: [...KINDS.map((each) => [each.kind, each.name] as const), ['custom', 'Custom']],
    },
    { param: 'agent', name: 'For', options: agents.map(({ slug, name }) => [slug, visible(name)]) },
    {
      param: 'status',
      name: 'Status',
      options: (['active', 'expired', 'revoked'] as const).map((each) => [each, words(each)]),
    },
  ];
}

export default function Keys() {
  const may = useMay('admin');
  const place = usePlace('keys');
  const [is_making, setMaking] = useState(false);
  return (
    <Page
      title="Keys"
      above={place.above}
      lead="API keys for programs. People sign in instead. A key is shown only once, when it is created."
      actions={
        <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setMaking(true)}>
          New key
        </Button>
      }
    >
      {place.tabs}
      <AdminOnly what="keys">
        <KeyList place={place} />
      </AdminOnly>
      {is_making && <NewKey {...place.fixed} onClose={() => setMaking(false)} />}
    </Page>
  );
}

const CSV: CsvColumns<ApiKey> = [
  ['id', (each) => each.id],
  ['name', (each) => each.name],
  ['kind', (each) => each.kind],
  ['scopes', (each) => each.scopes.join(' ')],
  ['agent_id', (each) => each.agent_id],
  ['principal_id', (each) => each.principal_id],
  ['made_by_person', (each) => each.made_by_person],
  ['hint', (each) => each.hint],
  ['status', (each) => each.status],
  ['created_at', (each) => each.created_at],
  ['last_used_at', (each) => each.last_used_at],
  ['expires_at', (each) => each.expires_at],
];

function KeyList({ place }: { place: Place }) {
  const search = useSearch({ strict: false });
  const { agents, byId } = useAgentNames();
  const shown = filtersOf(agents).filter(({ param }) => param !== 'agent' || place.fixed.agent === undefined);
  const filters = pick(
    search,
    shown.map(({ param }) => param),
  ) as Search;
  const sorting = useSorting(place.path);
  const shows_all = pick(search, ['all']).all === '1';
  const asked = { ...filters, ...place.fixed };
  // Revoked and expired keys are hidden by default.
  const query = {
    ...asked,
    ...(filters.status === undefined && !shows_all ? { status: 'active' } : {}),
    ...sorting.query,
  };
  const fetchPage = (page: PageQuery) => purser.apiKeys.list({ ...query, ...page } as ListApiKeysQuery);
  const list = useList<ApiKey>(['keys', query], fetchPage, { mode: 'first', idOf: (each) => each.id });
  const hidden = useHiddenCount(
    ['keys', asked],
    (limit) => purser.apiKeys.list({ ...asked, status: ['expired', 'revoked'], limit } as ListApiKeysQuery),
    { enabled: filters.status === undefined && !shows_all },
  );
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const is_filtered = Object.keys(filters).length > 0;
  return (
    <>
      <Views
        screen="keys"
        to={place.path}
        search={{ ...filters, ...sorting.query, ...pick(search, ['all']) } as Search}
        may_save={place.fixed.agent === undefined}
      />
      <Filters filters={shown} search={search as Search} to={place.path} keep={['all', ...SORTING_PARAMS]} />
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={6} />}
      {list.isSuccess && (
        <Card
          flush
          title={is_filtered ? 'Results' : shows_all ? 'All keys' : 'Active keys'}
          aside={
            <>
              {filters.status === undefined && (shows_all || hidden !== '0') && (
                <Link
                  to={place.path}
                  search={{ ...filters, ...sorting.query, ...(shows_all ? {} : { all: '1' }) }}
                >
                  {shows_all
                    ? 'Hide revoked and expired'
                    : `Show revoked and expired${hidden === undefined ? '' : ` (${hidden})`}`}
                </Link>
              )}
              <ExportCsv name="keys" what="keys" columns={CSV} fetch={fetchPage} />
            </>
          }
        >
          {list.rows.length === 0 ? (
            <Empty title={is_filtered ? 'No keys match these filters' : 'No keys yet'}>
              <p>An agent needs a key to send requests. Give each program its own key.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Keys"
                columns={columnsOf(byId, setRevoking)}
                rows={list.rows}
                keyOf={(each) => each.id}
                sorting={sorting}
              />
              <LoadMore query={list} />
            </>
          )}
        </Card>
      )}
      {revoking !== null && (
        <Revoke
          revoked={revoking}
          onClose={() => setRevoking(null)}
          onDone={({ id }) => {
            const is_hidden = query.status !== undefined && !query.status.split(',').includes('revoked');
            list.patch((pages) =>
              withEach(pages, (each) =>
                each.id !== id ? each : is_hidden ? null : { ...each, status: 'revoked' },
              ),
            );
          }}
        />
      )}
    </>
  );
}

function columnsOf(
  agents: ReadonlyMap<string, NamedAgent>,
  revoke: (key: ApiKey) => void,
): readonly Column<ApiKey>[] {
  return [
    {
      name: 'Name',
      heading: true,
      wrap: true,
      cell: (each) => (
        <>
          {each.name} {each.status !== 'active' && <StateBadge state={each.status} />}
        </>
      ),
    },
    { name: 'Kind', cell: (each) => <span title={each.scopes.join(', ')}>{words(each.kind)}</span> },
    { name: 'For', short: true, cell: (each) => <Holder of={each} agents={agents} /> },
    { name: 'Value', cell: (each) => <code>{each.hint}</code> },
    {
      name: 'Last used',
      cell: (each) => (each.last_used_at === null ? 'Never' : <Time at={each.last_used_at} />),
    },
    {
      name: 'Created',
      sort: BY_TIME,
      short: true,
      cell: (each) => (
        <>
          <Time at={each.created_at} />
          <Creator of={each} />
        </>
      ),
    },
    {
      name: 'Expires',
      cell: (each) => (each.expires_at === null ? 'Never' : <Expiry at={each.expires_at} />),
    },
    {
      name: 'Actions',
      hideName: true,
      cell: (each) =>
        each.status === 'revoked' ? (
          ''
        ) : (
          <Button small kind="danger" onClick={() => revoke(each)}>
            Revoke
          </Button>
        ),
    },
  ];
}

/** The creator of the key. */
function Creator({ of: { created_by } }: { of: ApiKey }) {
  if (created_by === null) return null;
  const { type, key_id, principal_id } = created_by;
  return (
    <div className={styles.maker}>
      by {type === 'system' ? 'Purser' : <Author principal_id={principal_id} key_id={key_id} />}
    </div>
  );
}

function Holder({ of, agents }: { of: ApiKey; agents: ReadonlyMap<string, NamedAgent> }) {
  const me = useMe();
  if (of.agent_id !== null) {
    const { slug, name } = agents.get(of.agent_id) ?? { slug: of.agent_id, name: of.agent_id };
    return (
      <Link to={`/agents/${slug}`} title={slug}>
        {visible(name)}
      </Link>
    );
  }
  if (of.principal_id === null) return <span title="No principal">–</span>;
  return of.principal_id === me.principal_id ? (
    <span title={of.principal_id}>You</span>
  ) : (
    <Author principal_id={of.principal_id} key_id={null} />
  );
}

function Expiry({ at }: { at: string }) {
  const left_ms = Date.parse(at) - useNow(60_000);
  if (left_ms > SOON_MS || left_ms <= 0) return <Time at={at} />;
  return (
    <>
      <Time at={at} /> <Badge tone="review">Soon</Badge>
    </>
  );
}

function Revoke({
  revoked,
  onClose,
  onDone,
}: {
  revoked: ApiKey;
  onClose: () => void;
  onDone: (revoked: ApiKey) => void;
}) {
  const now_ms = useNow(10_000);
  const { last_used_at } = revoked;
  return (
    <Confirm
      title={`Revoke “${revoked.name}”?`}
      action="Revoke"
      onClose={onClose}
      work={async () => {
        await purser.apiKeys.delete(revoked.id);
        onDone(revoked);
        void invalidate('keys');
      }}
    >
      <p>
        Every program that uses <code>{revoked.hint}</code> is refused from its next request. This cannot be
        undone, but you can create a new key at any time.
      </p>
      {last_used_at !== null && (
        <Notice tone="warn" title={`Last used ${relative(Date.parse(last_used_at), now_ms)}.`}>
          A program may still depend on it.
        </Notice>
      )}
      {last_used_at === null && <p>It has never been used.</p>}
    </Confirm>
  );
}
