import type { AuditRecord, ListAuditRecordsQuery } from '@purser/sdk';
import { useSearch } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { useMe } from '../../api/queries.ts';
import { Author } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { type Filter, Filters } from '../../components/Filters.tsx';
import { NewRows } from '../../components/list/NewRows.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { SubjectLink } from '../../components/names/SubjectLink.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { type Column, LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { downloadFile } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { AUDIT_ACTIONS } from '../../lib/ledger-types.ts';
import { pick, type Search } from '../../lib/search.ts';
import { words } from '../../lib/words.ts';
import styles from './Audit.module.css';
import { linesOf, summaryOf } from './changes.ts';

const PARAMS = ['action', 'actor', 'target', 'from', 'to'] as const;

const FILTERS: readonly Filter[] = [
  { param: 'action', name: 'Action', options: AUDIT_ACTIONS.map((each) => [each, words(each)]) },
  { param: 'actor', name: 'Who', placeholder: 'ID or principal' },
  { param: 'target', name: 'What', placeholder: 'ID' },
  { param: 'from', name: 'From', type: 'date' },
  { param: 'to', name: 'To', type: 'date' },
];

const COLUMNS: readonly Column<AuditRecord>[] = [
  { name: 'Time', cell: (each) => <Time at={each.created_at} /> },
  { name: 'Who', short: true, cell: (each) => <Actor of={each.actor} /> },
  { name: 'Action', heading: true, cell: (each) => words(each.action) },
  { name: 'What', short: true, cell: (each) => <SubjectLink subject={each.target} /> },
  { name: 'Changes', wrap: true, cell: (each) => <Changes of={each} /> },
  { name: 'Address', cell: (each) => each.client_address ?? '' },
];

export default function Audit() {
  const filters = pick(useSearch({ strict: false }), PARAMS) as Search;
  const list = useList<AuditRecord>(
    ['audit', filters],
    (page) => purser.audit.list({ ...filters, ...page } as ListAuditRecordsQuery),
    { mode: 'counted', idOf: (each) => each.id },
  );
  const exporting = useAction(async () => {
    const csv = await purser.audit.csv(filters as ListAuditRecordsQuery);
    downloadFile('audit.csv', await csv.blob());
  });
  const is_filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Audit"
      lead="Who changed what, when and from where. Every record is also sealed in the ledger."
      actions={
        <Button busy={exporting.busy} onClick={() => void exporting.run()}>
          Export CSV
        </Button>
      }
    >
      <Filters filters={FILTERS} search={filters} to="/audit" />
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={10} />}
      <NewRows list={list} />
      {list.isSuccess && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty title={is_filtered ? 'No records match these filters' : 'No changes yet'} />
          ) : (
            <>
              <Table label="Audit" columns={COLUMNS} rows={list.rows} keyOf={(each) => each.id} />
              <LoadMore query={list} />
            </>
          )}
        </Card>
      )}
    </Page>
  );
}

function Actor({ of }: { of: AuditRecord['actor'] }) {
  const me = useMe();
  if (of.type === 'operator') return 'The operator';
  if (of.type === 'system') return 'Purser';
  const { principal_id, key_id } = of;
  return (
    <span title={[principal_id, key_id, of.session_id].filter(Boolean).join(' · ')}>
      {key_id === null && principal_id === me.principal_id ? (
        'You'
      ) : (
        <Author principal_id={principal_id} key_id={key_id} />
      )}
    </span>
  );
}

/** A change in one line that opens to its fields. */
function Changes({ of }: { of: AuditRecord }) {
  const lines = linesOf(of.changes);
  if (lines.length === 0) return null;
  return (
    <details className={styles.changes}>
      <summary>{summaryOf(lines)}</summary>
      <dl>
        {lines.map(({ field, from, to }) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              {from !== null && (
                <>
                  <del>{from}</del> <span aria-hidden="true">→</span>{' '}
                </>
              )}
              <ins>{to}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
