import type { ShadowReport } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { type Place, usePlace } from '../../components/AgentTabs.tsx';
import { Button } from '../../components/Button.tsx';
import { KindLegend } from '../../components/charts/kinds.tsx';
import StackedBars from '../../components/charts/StackedBars.tsx';
import { Field, SelectField } from '../../components/Field.tsx';
import { ModeSwitch } from '../../components/ModeSwitch.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, CardGrid, Empty, Loading, Page } from '../../components/Page.tsx';
import { downloadText } from '../../lib/download.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { pick, type Search } from '../../lib/search.ts';
import { Attention } from './Attention.tsx';
import { Labels } from './Labels.tsx';
import { Questions } from './Questions.tsx';
import { Readiness } from './Readiness.tsx';
import styles from './Report.module.css';
import { ByAgent, ByMerchant, ByReason, ByStandingApproval, Executed, Totals } from './Tables.tsx';

const PARAMS = ['from', 'to', 'agent'] as const;

export default function Report() {
  const place = usePlace('report');
  const search = { ...(pick(useSearch({ strict: false }), PARAMS) as Search), ...place.fixed };
  const query = useQuery({
    queryKey: ['report', search],
    queryFn: async () => purser.reports.shadow(search),
    placeholderData: (before) => before,
  });
  const agent = useQuery({
    queryKey: ['agents', 'one', search.agent],
    queryFn: async () => purser.agents.retrieve(search.agent as string),
    enabled: search.agent !== undefined,
  }).data;
  const csv = useAction(async () => {
    const tables = await purser.reports.shadowCsv(search);
    downloadText('shadow-report.csv', await tables.text(), 'text/csv');
  });
  const report = query.data;
  return (
    <Page
      title="Shadow report"
      above={place.above}
      width="wide"
      lead="What Purser would have decided for requests in Shadow mode, and whether the agent is ready to enforce."
      actions={
        <>
          <Button busy={csv.busy} onClick={() => csv.run()}>
            Export CSV
          </Button>
          {agent !== undefined && <ModeSwitch agent={agent} />}
        </>
      }
    >
      {place.tabs}
      {csv.error !== null && <ErrorNotice error={csv.error} />}
      <Period search={search} report={report} place={place} />
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {report === undefined ? (
        query.isPending && <Loading lines={10} />
      ) : (
        <Whole report={report} search={search} />
      )}
    </Page>
  );
}

/** The report's `to` is exclusive. */
const lastDayOf = ({ to }: ShadowReport) => new Date(Date.parse(to) - 1).toISOString().slice(0, 10);

function Period({
  search,
  report,
  place,
}: {
  search: Search;
  report: ShadowReport | undefined;
  place: Place;
}) {
  const navigate = useNavigate();
  const agents = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: async () => (await purser.agents.list({ limit: 200 })).data,
  });
  const set = (name: string, value: string) => {
    const { [name]: _before, ...others } = search;
    if (place.fixed.agent !== undefined) delete others.agent;
    void navigate({
      to: place.path,
      search: value === '' ? others : { ...others, [name]: value },
      replace: true,
    });
  };
  const day = (name: 'from' | 'to', label: string, shown: string | undefined) => (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type="date"
          value={search[name] ?? shown ?? ''}
          onChange={(event) => set(name, event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <div className={styles.period}>
      {day('from', 'From', report?.from.slice(0, 10))}
      {day('to', 'To', report && lastDayOf(report))}
      {place.fixed.agent === undefined && (
        <SelectField
          label="Agent"
          value={search.agent ?? ''}
          onValue={(value) => set('agent', value)}
          options={[
            ['', 'All agents'],
            ...(agents.data ?? []).map((each) => [each.slug, each.name] as const),
            ...(search.agent !== undefined && !agents.data?.some((each) => each.slug === search.agent)
              ? [[search.agent, search.agent] as const]
              : []),
          ]}
        />
      )}
    </div>
  );
}

function Whole({ report, search }: { report: ShadowReport; search: Search }) {
  const { totals, readiness, enforced, by_day } = report;
  const amounts = useQuery({
    queryKey: ['report', 'amounts', search],
    queryFn: async () => purser.reports.spending({ ...search, mode: 'SHADOW' }),
    placeholderData: (before) => before,
    enabled: totals.count > 0,
  }).data;
  const filters: Search = { mode: 'SHADOW', ...search };
  if (totals.count === 0) {
    return (
      <>
        <Card>
          <Empty title="No Shadow decisions in this period">
            <p>
              {enforced.count > 0
                ? `There were ${enforced.count} Enforce decisions. This report covers Shadow only.`
                : 'Run an agent in Shadow mode for a while: every request is judged and none is stopped.'}
            </p>
          </Empty>
        </Card>
        <Readiness readiness={readiness} search={search} />
      </>
    );
  }
  const head = (name: string, value: number, to: Search) => (
    <Link to="/decisions" search={{ ...filters, ...to }} className={styles.head}>
      <strong>{value}</strong>
      <span>{name}</span>
    </Link>
  );
  return (
    <>
      <div className={styles.heads}>
        {head('Shadow decisions', totals.count, {})}
        {head('would have been allowed', totals.allow, { decision: 'ALLOW' })}
        {head('would have needed review', totals.review, { decision: 'REVIEW' })}
        {head('would have been denied', totals.deny, { decision: 'DENY' })}
      </div>
      <Readiness readiness={readiness} search={search} />
      <Questions report={report} filters={filters} />
      <Attention report={report} />
      <Card title="By day" aside={<KindLegend />}>
        <StackedBars
          days={by_day}
          totals={amounts?.totals}
          from={report.from.slice(0, 10)}
          to={lastDayOf(report)}
          search={{ mode: 'SHADOW', ...(search.agent ? { agent: search.agent } : {}) }}
        />
      </Card>
      <Executed report={report} filters={filters} />
      <CardGrid>
        <Totals report={report} />
        <Labels report={report} filters={filters} />
      </CardGrid>
      <ByReason report={report} filters={filters} />
      <ByStandingApproval report={report} filters={filters} />
      <ByAgent report={report} search={search} />
      <ByMerchant report={report} filters={filters} />
      {enforced.count > 0 && (
        <Notice>
          This report does not include {enforced.count} Enforce{' '}
          {enforced.count === 1 ? 'decision' : 'decisions'} of this period.
        </Notice>
      )}
    </>
  );
}
