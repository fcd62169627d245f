import type { Allowance } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { purser } from '../../api/client.ts';
import { useMay } from '../../api/queries.ts';
import { Author } from '../../components/Author.tsx';
import { AllowanceUse } from '../../components/allowances/AllowanceUse.tsx';
import { allowanceName, canEnd, usedTimes } from '../../components/allowances/allowances.ts';
import { RevokeAllowance, useMayRevoke } from '../../components/allowances/RevokeAllowance.tsx';
import { Badge, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { LatestDecisions } from '../../components/decision/LatestDecisions.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { NamedLink } from '../../components/names/SubjectLink.tsx';
import { Card, CardGrid, Facts, Loading, Page } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Id, Time } from '../../components/Value.tsx';
import { formatMoney } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';

const AllowanceForm = lazy(() => import('./AllowanceForm.tsx'));

const SHOWN = 50;

const SOURCES = {
  API: 'Created',
  REQUEST: 'Requested',
  REVIEW: 'Made by a review',
  SIGNED: 'Signed by another system',
  MANDATE: 'Signed by a payer',
} as const satisfies Record<Allowance['source'], string>;

export default function AllowancePage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['allowances', 'one', id],
    queryFn: async () => purser.allowances.retrieve(id),
  });
  if (query.data !== undefined) return <Whole allowance={query.data} />;
  return (
    <Page title="Allowance" above={<Above />}>
      {query.isError ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Loading lines={8} />
      )}
    </Page>
  );
}

const Above = () => <Link to="/allowances">← Allowances</Link>;

function Whole({ allowance }: { allowance: Allowance }) {
  const may = useMay('admin');
  const may_end = useMayRevoke();
  const [is_making, setMaking] = useState(false);
  return (
    <Page
      title={allowanceName(allowance)}
      above={<Above />}
      badges={
        <>
          <StateBadge state={allowance.status} />
          {allowance.automatic && <Badge>Answers reviews</Badge>}
        </>
      }
      actions={
        <>
          {may && canEnd(allowance) && !allowance.automatic && (
            <Button onClick={() => setMaking(true)}>New part</Button>
          )}
          {may_end && <RevokeAllowance allowance={allowance} small={false} />}
        </>
      }
    >
      <CardGrid>
        <Card title="Usage">
          <AllowanceUse allowance={allowance} />
          <Facts of={usageOf(allowance)} />
        </Card>
        <Card title="Bounds">
          <Facts of={boundsOf(allowance)} />
        </Card>
      </CardGrid>
      <Card title="Origin">
        <Facts of={originOf(allowance)} />
      </Card>
      {allowance.mandate !== null && (
        <Card title="Mandate" aside="For the payer to check">
          <Facts of={mandateOf(allowance.mandate)} />
        </Card>
      )}
      <Parts of={allowance} />
      <Recent of={allowance} />
      {is_making && (
        <Suspense fallback={null}>
          <AllowanceForm parent={allowance} onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </Page>
  );
}

type Fact = readonly [name: string, value: React.ReactNode] | null;

/** A fact that is left out if there is none. */
const given = <T,>(name: string, value: T | null, say: (value: T) => React.ReactNode): Fact =>
  value === null ? null : [name, say(value)];

const listed = (values: readonly string[]) => values.map(visible).join(', ');

function usageOf(allowance: Allowance): Fact[] {
  const { agent, total, currency, last_used_at, expires_at } = allowance;
  return [
    agent === null
      ? ['Agent', 'Any']
      : given('Agent', agent, ({ slug }) => (
          <Link to={`/agents/${slug}`}>
            <AgentName of={{ slug }} />
          </Link>
        )),
    ['In all', `${usedTimes(allowance)}, ${formatMoney(total.used_minor, currency)}`],
    given('Last used', last_used_at, (at) => <Time at={at} />),
    ['Expires', <Time key="e" at={expires_at} exact />],
  ];
}

function boundsOf(allowance: Allowance): Fact[] {
  const { currency, merchants, payee_ids, action_types, purpose, expected_items, answers } = allowance;
  const labels = Object.entries(allowance.labels).map(([key, value]) => `${key}:${value}`);
  return [
    given('Each spend', allowance.per_spend_limit_minor, (most) => `at most ${formatMoney(most, currency)}`),
    given('Spends', allowance.max_count, (most) => `at most ${most} a period`),
    ['Merchants', merchants === null ? 'Any' : listed(merchants)],
    given('Payees', payee_ids, listed),
    given('Types', action_types, listed),
    given('Purpose', purpose, visible),
    given('Items', expected_items, listed),
    answers.length === 0 ? null : ['Answers ahead', answers.map(reasonWords).join(', ')],
    given('Part of', allowance.parent, (id) => (
      <NamedLink type="allowance" id={id} to={`/allowances/${id}`} />
    )),
    given('Budget', allowance.budget, ({ id }) => <NamedLink type="budget" id={id} to="/budgets" />),
    labels.length === 0 ? null : ['Labels', listed(labels)],
  ];
}

function originOf({ source, created_by, created_at, request, decided, revoked, ...more }: Allowance): Fact[] {
  return [
    ['Origin', SOURCES[source]],
    [
      'By',
      <span key="b">
        <Author {...created_by} />, <Time at={created_at} />
      </span>,
    ],
    given('Issuer', more.issuer_id, (id) => <code>{id}</code>),
    given('External ID', more.external_id, visible),
    given('Asked for', request, ({ amount_minor, purpose, expires_at }) => (
      <>
        {formatMoney(amount_minor, more.currency)} until <Time at={expires_at} exact />: “{visible(purpose)}”
      </>
    )),
    given('Decided', decided, ({ action, by, comment, at }) => (
      <>
        <StateBadge state={action} /> by <Author {...by} />, <Time at={at} />
        {comment !== null && <> “{visible(comment)}”</>}
      </>
    )),
    given('Revoked', revoked, ({ reason, by, at }) => (
      <>
        by <Author {...by} />, <Time at={at} />
        {reason !== null && <> “{visible(reason)}”</>}
      </>
    )),
    ['ID', <Id key="i" id={more.id} />],
  ];
}

const FORMATS = { AP2: 'Agent Payments Protocol (AP2)', VI: 'Verifiable Intent' } as const;

/** One below the other, since their texts may have commas. */
const inLines = (values: readonly string[]) => values.map((value) => <div key={value}>{visible(value)}</div>);

/** The facts that the payer has to check. */
function mandateOf({ format, reference, instruments, pisps }: NonNullable<Allowance['mandate']>): Fact[] {
  const instrument = ({ id, type, description }: NonNullable<typeof instruments>[number]) =>
    description === null ? `${type} ${id}` : `${description} (${type} ${id})`;
  const provider = ({ brand_name, legal_name, domain_name }: NonNullable<typeof pisps>[number]) =>
    `${brand_name} (${legal_name}, ${domain_name})`;
  return [
    ['Format', FORMATS[format]],
    ['Checkout', reference === null ? 'Any' : <code key="c">{visible(reference)}</code>],
    ['Instruments', instruments === null ? 'Any' : inLines(instruments.map(instrument))],
    ['Providers', pisps === null ? 'Any' : inLines(pisps.map(provider))],
  ];
}

function Parts({ of: { id } }: { of: Allowance }) {
  const query = useQuery({
    queryKey: ['allowances', 'parts', id],
    queryFn: async () => purser.allowances.list({ parent: id, limit: SHOWN }),
  });
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  const { data: rows = [], next_cursor = null } = query.data ?? {};
  if (rows.length === 0) return null;
  return (
    <Card title="Parts" flush aside={next_cursor !== null && `The newest ${SHOWN}`}>
      <Table<Allowance>
        label="Parts"
        rows={rows}
        keyOf={(each) => each.id}
        columns={[
          {
            name: 'Name',
            heading: true,
            wrap: true,
            cell: (each) => <Link to={`/allowances/${each.id}`}>{allowanceName(each)}</Link>,
          },
          { name: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
          { name: 'Used', cell: (each) => <AllowanceUse allowance={each} /> },
          { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
    </Card>
  );
}

/** The latest decisions under it and below it. */
function Recent({ of: { id } }: { of: Allowance }) {
  const query = useQuery({
    queryKey: ['decisions', 'under', id],
    queryFn: async () => (await purser.decisions.list({ allowance: id, limit: 10 })).data,
  });
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined || query.data.length === 0) return null;
  return (
    <Card title="Latest decisions" flush>
      <LatestDecisions rows={query.data} />
    </Card>
  );
}
