import type { AgentWithBudgets, ApiKey } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useMay } from '../../api/queries.ts';
import { AgentBudgets } from '../../components/AgentBudget.tsx';
import { AgentTabs } from '../../components/AgentTabs.tsx';
import { StateBadge } from '../../components/Badge.tsx';
import { buttonClass } from '../../components/Button.tsx';
import { BurnDown } from '../../components/charts/BurnDown.tsx';
import SpendingCard from '../../components/charts/Spending.tsx';
import { LatestDecisions } from '../../components/decision/LatestDecisions.tsx';
import { FirstDecision } from '../../components/FirstSteps.tsx';
import { ModeSwitch } from '../../components/ModeSwitch.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, CardGrid, Facts, Loading, Page } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Id, Time } from '../../components/Value.tsx';
import { AgentAllowances } from './Allowances.tsx';
import { Controls } from './Controls.tsx';
import { Limits } from './Limits.tsx';

const SHOWN = 10;

export default function AgentPage() {
  const { slug = '' } = useParams({ strict: false }) as { slug?: string };
  const query = useQuery({
    queryKey: ['agents', 'one', slug],
    queryFn: async () => purser.agents.retrieve(slug),
  });
  const above = <Link to="/agents">← Agents</Link>;
  if (query.data === undefined) {
    return (
      <Page title={slug} screen="Agent" above={above}>
        {query.isError ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading lines={8} />
        )}
      </Page>
    );
  }
  return <Whole agent={query.data} above={above} />;
}

function Whole({ agent, above }: { agent: AgentWithBudgets; above: React.ReactNode }) {
  const may = useMay('admin');
  return (
    <Page
      title={agent.name}
      screen="Agent"
      above={above}
      badges={
        <>
          <StateBadge state={agent.status} />
          <StateBadge state={agent.mode} />
        </>
      }
      actions={
        <>
          {agent.authority_version === null && (
            <Link to={`/agents/${agent.slug}/authority`} className={buttonClass('primary')}>
              Set policy
            </Link>
          )}
          <ModeSwitch agent={agent} />
        </>
      }
    >
      <AgentTabs slug={agent.slug} at="agent" />
      {agent.authority_version === null && agent.status !== 'revoked' && (
        <Notice tone="warn" title="This agent has no policy yet.">
          Every request is denied until you set a policy.
        </Notice>
      )}
      <CardGrid>
        <Card title="This month">
          <AgentBudgets budgets={agent.budgets} />
        </Card>
        <Card title="Details">
          <Facts
            of={[
              ['Slug', <code key="s">{agent.slug}</code>],
              ['Policy', agent.authority_version === null ? 'None' : `Version ${agent.authority_version}`],
              ['Created', <Time key="c" at={agent.created_at} exact />],
              ['ID', <Id key="i" id={agent.id} />],
            ]}
          />
        </Card>
      </CardGrid>
      <Curve agent={agent} />
      <SpendingCard agent={agent.slug} />
      <Limits agent={agent} />
      <AgentAllowances agent={agent} />
      <Recent agent={agent} />
      {may && <Keys agent={agent} />}
      <Controls agent={agent} />
    </Page>
  );
}

/** How the monthly budget is used up. Renders nothing without one. */
function Curve({ agent }: { agent: AgentWithBudgets }) {
  const query = useQuery({
    queryKey: ['agents', 'burn-down', agent.slug],
    queryFn: async () => (await purser.reports.agentBurnDown(agent.slug)).data,
    enabled: agent.budgets.some(({ limit_minor }) => limit_minor !== null),
  });
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  return query.data?.map((curve) => (
    <Card key={curve.currency} title="Monthly budget, day by day">
      <BurnDown curve={curve} />
    </Card>
  ));
}

function Recent({ agent }: { agent: AgentWithBudgets }) {
  const query = useQuery({
    queryKey: ['decisions', 'of', agent.id],
    queryFn: async () => (await purser.decisions.list({ agent: agent.id, limit: SHOWN })).data,
  });
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Loading />;
  if (query.data.length === 0) {
    return (
      <Card>
        <FirstDecision agent={agent.slug} />
      </Card>
    );
  }
  return (
    <Card title="Latest decisions" flush aside={<Link to={`/agents/${agent.slug}/decisions`}>View all</Link>}>
      <LatestDecisions rows={query.data} />
    </Card>
  );
}

function Keys({ agent }: { agent: AgentWithBudgets }) {
  const query = useQuery({
    queryKey: ['keys', 'of', agent.id],
    queryFn: async () => (await purser.apiKeys.list({ agent: agent.id, status: 'active', limit: 50 })).data,
  });
  const rows = query.data ?? [];
  return (
    <Card
      title="API keys"
      flush={rows.length > 0}
      aside={<Link to={`/agents/${agent.slug}/keys`}>Manage</Link>}
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && <p>No API key yet.</p>}
      {rows.length > 0 && (
        <Table<ApiKey>
          label="Keys"
          rows={rows}
          keyOf={(each) => each.id}
          columns={[
            { name: 'Name', heading: true, wrap: true, cell: (each) => each.name },
            { name: 'Key', cell: (each) => <code>{each.hint}</code> },
            {
              name: 'Last used',
              cell: (each) => (each.last_used_at ? <Time at={each.last_used_at} /> : 'Never'),
            },
            { name: 'Expires', cell: (each) => (each.expires_at ? <Time at={each.expires_at} /> : 'Never') },
          ]}
        />
      )}
    </Card>
  );
}
