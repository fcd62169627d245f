import type { Decision, DecisionListQuery } from '@purser/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { pageLimit } from '../../api/lists.ts';
import { useNewestFirst } from '../../api/newest-first.ts';
import { DecisionBadges, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { TextField } from '../../components/Field.tsx';
import chips from '../../components/Filters.module.css';
import { Filters } from '../../components/Filters.tsx';
import { FirstDecision } from '../../components/FirstSteps.tsx';
import { NewRows } from '../../components/list/NewRows.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { downloadStreamed } from '../../lib/download.ts';
import { pick, type Search, stringifySearch } from '../../lib/search.ts';
import { useAction } from '../../lib/use-action.ts';
import { isSameSearch, removeView, saveView, useViews } from '../../lib/views.ts';
import { reasonWords } from '../../lib/words.ts';
import { CountedBars, RowBars } from './Bars.tsx';
import styles from './Decisions.module.css';
import { isCounted } from './decision-days.ts';
import { Facets } from './Facets.tsx';
import { FILTER_PARAMS, FILTERS, SYSTEM_VIEWS } from './filters.ts';

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'Time', cell: (each) => <Time at={each.created_at} /> },
  {
    name: 'Merchant',
    heading: true,
    wrap: true,
    cell: (each) => (
      <>
        <Link to={`/decisions/${each.decision_id}`}>{each.action.merchant}</Link>
        <span className={styles.agent}>{each.agent.slug}</span>
      </>
    ),
  },
  {
    name: 'Amount',
    number: true,
    cell: (each) => <Money amount_minor={each.requested_amount_minor} currency={each.currency} />,
  },
  {
    name: 'Decision',
    cell: (each) => <DecisionBadges decision={each.decision} effective={each.effective_decision} />,
  },
  { name: 'Reason', cell: (each) => reasonWords(each.reason_code) },
  {
    name: 'Since then',
    cell: ({ review_state, label, outcome_state }) => {
      const states = [review_state, label?.label, outcome_state === 'NONE' ? null : outcome_state];
      const told = states.filter((state) => state != null);
      return (
        told.length > 0 && (
          <span className={styles.since}>
            {told.map((state) => (
              <StateBadge key={state} state={state} />
            ))}
          </span>
        )
      );
    },
  },
];

/** What stands in the address and is no filter. */
const KEPT = ['live', 'view'] as const;

/** Which view is shown is told by the filters alone. */
const EXACTLY = { exact: true, includeSearch: true };

export default function Decisions() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const filters = pick(search, FILTER_PARAMS) as Search;
  const kept = pick(search, KEPT) as Search;
  const is_live = kept.live === '1';
  const toggled = (name: (typeof KEPT)[number], value: string): Search => {
    const { [name]: before, ...others } = kept;
    return before === undefined ? { ...others, [name]: value } : others;
  };
  const is_bars = kept.view === 'bars';
  const is_counted = is_bars && isCounted(filters);
  const list = useNewestFirst<Decision>(
    ['decisions', 'list', filters],
    (cursor) => purser.decisions.list({ ...filters, limit: pageLimit(cursor), cursor } as DecisionListQuery),
    (each) => each.decision_id,
    filters.order !== 'asc',
  );
  const exporting = useAction(() =>
    downloadStreamed(`/v1/decisions/export${stringifySearch({ format: 'csv', ...filters })}`),
  );
  const is_filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Decisions"
      width="wide"
      actions={
        <>
          <Button
            aria-pressed={is_live}
            onClick={() =>
              void navigate({ to: '/decisions', search: { ...filters, ...toggled('live', '1') } })
            }
          >
            {is_live ? '● Live' : 'Live'}
          </Button>
          <Button
            aria-pressed={is_bars}
            onClick={() =>
              void navigate({ to: '/decisions', search: { ...filters, ...toggled('view', 'bars') } })
            }
          >
            Bars
          </Button>
          <Button busy={exporting.busy} onClick={() => void exporting.run()}>
            Export CSV
          </Button>
        </>
      }
    >
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <Views search={filters} />
      <Filters filters={FILTERS} search={{ ...filters, ...kept }} to="/decisions" keep={KEPT} />
      <Facets filters={filters} kept={kept} />
      {is_counted && <CountedBars filters={filters} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && !is_counted && <Loading lines={10} />}
      {!is_counted && <NewRows list={list} />}
      {list.isSuccess &&
        !is_counted &&
        (list.rows.length > 0 && is_bars ? (
          <>
            <RowBars rows={list.rows} filters={filters} />
            <LoadMore query={list} />
          </>
        ) : list.rows.length > 0 ? (
          <Card flush>
            <Table label="Decisions" columns={COLUMNS} rows={list.rows} keyOf={(each) => each.decision_id} />
            <LoadMore query={list} />
          </Card>
        ) : (
          <Card>
            {is_filtered ? (
              <Empty
                title={
                  list.hasNextPage
                    ? 'None of those that were looked at fits these filters'
                    : 'No decision fits these filters'
                }
                action={
                  <Link to="/decisions" search={{}}>
                    Show all decisions
                  </Link>
                }
              />
            ) : (
              <FirstDecision />
            )}
            <LoadMore query={list} />
          </Card>
        ))}
    </Page>
  );
}

/** Filters under a name: those that everybody has, and the person's own in this browser. */
function Views({ search }: { search: Search }) {
  const own = useViews('decisions');
  const [is_naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const is_new =
    Object.keys(search).length > 0 &&
    ![...SYSTEM_VIEWS, ...own].some((each) => isSameSearch(each.search, search));
  const current = (view: Search) => (isSameSearch(view, search) ? 'true' : undefined);
  return (
    <nav className={chips.views} aria-label="Views">
      {SYSTEM_VIEWS.map((view) => (
        <Link
          key={view.name}
          to="/decisions"
          search={view.search}
          activeOptions={EXACTLY}
          aria-current={current(view.search)}
        >
          {view.name}
        </Link>
      ))}
      {own.map((view) => (
        <span key={view.name}>
          <Link
            to="/decisions"
            search={view.search}
            activeOptions={EXACTLY}
            aria-current={current(view.search)}
          >
            {view.name}
          </Link>
          <button
            type="button"
            aria-label={`Forget the view ${view.name}`}
            onClick={() => removeView('decisions', view.name)}
          >
            ✕
          </button>
        </span>
      ))}
      {is_new && (
        <Button small kind="quiet" onClick={() => setNaming(true)}>
          + Save view
        </Button>
      )}
      {is_naming && (
        <Dialog title="Save these filters" onClose={() => setNaming(false)}>
          <form
            style={{ display: 'grid', gap: '1rem' }}
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() === '') return;
              saveView('decisions', { name: name.trim().slice(0, 40), search });
              setName('');
              setNaming(false);
            }}
          >
            <TextField
              label="Name of the view"
              autoFocus
              required
              maxLength={40}
              hint="It is kept in this browser. To share it, send the address of this page."
              value={name}
              onValue={setName}
            />
            <Actions>
              <Button onClick={() => setNaming(false)}>Cancel</Button>
              <Button kind="primary" type="submit">
                Save
              </Button>
            </Actions>
          </form>
        </Dialog>
      )}
    </nav>
  );
}
