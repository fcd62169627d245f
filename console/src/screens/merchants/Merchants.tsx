import { APIError, type GetListedMerchantsQuery, type MerchantEntry } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { AgentTabs } from '../../components/AgentTabs.tsx';
import { Author, RecordedAs } from '../../components/Author.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { BY_TIME, byName, useSorting } from '../../components/list/use-sorting.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { LoadMore, Table } from '../../components/Table.tsx';
import { Time } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { withEach } from '../../lib/pages.ts';
import { visible } from '../../lib/visible.ts';
import styles from './Merchants.module.css';
import { Suggestions } from './Suggestions.tsx';

const REVIEWERS_MAY_NOT =
  'Only an administrator can do this, unless the policy lets reviewers list merchants.';

/** The reason why the person may not list merchants for the agent. False if they may. */
function useWhyNot(slug: string): string | false {
  const is_admin = useMay('admin');
  const is_reviewer = useMay('review') && !is_admin;
  const authority = useQuery({
    queryKey: ['authority', slug, 'reviewers'],
    queryFn: async () => {
      try {
        return (await purser.agents.authority.retrieve(slug)).authority.reviewer_may_list === true;
      } catch (error) {
        if (error instanceof APIError && error.status === 404) return false;
        throw error;
      }
    },
    enabled: is_reviewer,
  });
  if (is_admin || (is_reviewer && authority.data === true)) return false;
  return is_reviewer ? REVIEWERS_MAY_NOT : WHY_NOT.admin;
}

const LISTS = ['agents', 'merchants'] as const;
/** A change of the directory affects both lists. */
const refetchMerchants = (): Promise<void> => invalidate(...LISTS);

export default function Merchants() {
  const { slug = '' } = useParams({ strict: false }) as { slug?: string };
  const why = useWhyNot(slug);
  return (
    <Page
      title="Merchants"
      above={
        <Link to={`/agents/${slug}`}>
          ← <AgentName of={{ slug }} />
        </Link>
      }
      lead="Merchants that people allow or block for this agent. They stay when its policy changes. Limits and prohibitions still apply to allowed merchants."
    >
      <AgentTabs slug={slug} at="merchants" />
      <Suggestions slug={slug} why={why} />
      <Entries slug={slug} why={why} />
      <ListOne slug={slug} why={why} />
    </Page>
  );
}

const CSV: CsvColumns<MerchantEntry> = [
  ['entry_id', (each) => each.entry_id],
  ['merchant', (each) => each.merchant],
  ['verdict', (each) => each.verdict],
  ['payee_ids', (each) => each.payee_ids.join(' ')],
  ['note', (each) => each.note],
  ['created_at', (each) => each.created_at],
  ['principal_id', (each) => each.created_by.principal_id],
  ['key_id', (each) => each.created_by.key_id],
];

/** The listed merchants. */
function Entries({ slug, why }: { slug: string; why: string | false }) {
  const sorting = useSorting(`/agents/${slug}/merchants`);
  const fetchPage = (page: PageQuery) =>
    purser.agents.merchants.list(slug, { ...sorting.query, ...page } as GetListedMerchantsQuery);
  const list = useList<MerchantEntry>([...LISTS, 'listed', slug, sorting.query], fetchPage, {
    mode: 'first',
    idOf: (each) => each.entry_id,
  });
  const [removing, setRemoving] = useState<MerchantEntry | null>(null);
  return (
    <Card
      title="Listed"
      flush={list.rows.length > 0}
      aside={<ExportCsv name={`merchants-${slug}`} what="listed merchants" columns={CSV} fetch={fetchPage} />}
    >
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={3} />}
      {list.isSuccess && list.rows.length === 0 && (
        <Empty title="No merchants listed yet">
          <p>Confirm suggestions above, or add a merchant by name.</p>
        </Empty>
      )}
      {list.rows.length > 0 && (
        <>
          <Table<MerchantEntry>
            label="Listed merchants"
            rows={list.rows}
            keyOf={(each) => each.entry_id}
            sorting={sorting}
            columns={[
              {
                name: 'Merchant',
                sort: byName('merchant'),
                heading: true,
                wrap: true,
                cell: (each) => visible(each.merchant),
              },
              { name: 'Verdict', cell: (each) => <StateBadge state={each.verdict} /> },
              {
                name: 'Payees',
                wrap: true,
                cell: (each) => (each.payee_ids.length === 0 ? 'Any' : each.payee_ids.join(', ')),
              },
              {
                name: 'Listed',
                sort: BY_TIME,
                short: true,
                cell: (each) => (
                  <>
                    <Time at={each.created_at} />
                    <br />
                    <span className={styles.soft}>
                      <Author {...each.created_by} />
                    </span>
                  </>
                ),
              },
              { name: 'Note', wrap: true, cell: (each) => each.note ?? '' },
              {
                name: 'Actions',
                hideName: true,
                cell: (each) => (
                  <Button small kind="danger" why={why} onClick={() => setRemoving(each)}>
                    Remove
                  </Button>
                ),
              },
            ]}
          />
          <LoadMore query={list} />
        </>
      )}
      {removing !== null && (
        <Confirm
          title={`Remove “${visible(removing.merchant)}”?`}
          action="Remove"
          onClose={() => setRemoving(null)}
          work={async () => {
            await purser.agents.merchants.delete(slug, removing.entry_id);
            list.patch((pages) =>
              withEach(pages, (each) => (each.entry_id === removing.entry_id ? null : each)),
            );
            await refetchMerchants();
          }}
        >
          <p>
            {removing.verdict === 'ALLOWED'
              ? 'From the next request, this entry no longer vouches for it.'
              : 'From the next request, it is no longer denied because of this entry.'}{' '}
            You can list it again.
          </p>
        </Confirm>
      )}
    </Card>
  );
}

/** Form to list a merchant by name. */
function ListOne({ slug, why }: { slug: string; why: string | false }) {
  const form = useForm(
    { merchant: '', verdict: 'ALLOWED', note: '' },
    async ({ merchant, note, ...values }) => {
      const verdict = values.verdict === 'BLOCKED' ? 'BLOCKED' : 'ALLOWED';
      const entry = { merchant, verdict, ...(note.trim() === '' ? {} : { note }) } as const;
      await purser.agents.merchants.add(slug, { entries: [entry] });
      form.set('merchant', '');
      form.set('note', '');
      await refetchMerchants();
    },
    { fields: { 'entries[0].merchant': 'merchant', 'entries[0].note': 'note' } },
  );
  return (
    <Card title="Add a merchant by name">
      <form onSubmit={form.onSubmit} className={styles.form}>
        <TextField label="Merchant" hint="The full name, or the host name." {...form.field('merchant')} />
        <SelectField
          label="Verdict"
          options={[
            ['ALLOWED', 'Allowed'],
            ['BLOCKED', 'Blocked'],
          ]}
          value={form.values.verdict}
          onValue={(verdict) => form.set('verdict', verdict)}
        />
        <TextField label="Note" optional {...form.field('note')} />
        {form.error !== null && <ErrorNotice error={form.error} />}
        <Button type="submit" busy={form.busy} why={why} disabled={form.values.merchant.trim() === ''}>
          List merchant
        </Button>
        {why === false && <RecordedAs />}
      </form>
    </Card>
  );
}
