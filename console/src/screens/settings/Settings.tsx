import type { UpdateWorkspaceRequest, Workspace } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser, QUIET } from '../../api/client.ts';
import { meQuery, queryClient, useMay, WHY_NOT, workspaceQuery } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { ZoneField } from '../../components/notifications/QuietHoursFields.tsx';
import { Card, CardGrid, Facts, Loading, Page } from '../../components/Page.tsx';
import { ExploreButton } from '../../components/SampleData.tsx';
import { StopRow } from '../../components/Stop.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { words } from '../../lib/words.ts';
import styles from './Settings.module.css';

const OWN_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export default function Settings() {
  const query = useQuery(workspaceQuery);
  return (
    <Page title="Settings">
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={8} />}
      {query.data?.sample === false && (
        <Card title="Sample data">
          <p className={styles.soft}>
            A second workspace with a month of invented agents, requests and reviews. You can remove it at any
            time.
          </p>
          <div>
            <ExploreButton />
          </div>
        </Card>
      )}
      <Card title="Emergency stop">
        <StopRow />
      </Card>
      {query.data !== undefined && (
        <CardGrid>
          <WorkspaceForm key={query.data.id} workspace={query.data} />
          <Plan workspace={query.data} />
          <Service />
          <Connecting />
        </CardGrid>
      )}
    </Page>
  );
}

function WorkspaceForm({ workspace }: { workspace: Workspace }) {
  const may = useMay('admin');
  const [is_saved, setSaved] = useState(false);
  const saved = {
    name: workspace.name,
    mode: workspace.mode as string,
    separation_of_duties: workspace.separation_of_duties as string,
    time_zone: workspace.time_zone,
  };
  const form = useForm(saved, async (values) => {
    // Unchanged fields are left out, since some of them require a fresh proof of identity.
    const changes = Object.entries(values).filter(
      ([field, value]) => value !== saved[field as keyof typeof saved],
    );
    const now = await purser.workspace.update(Object.fromEntries(changes) as UpdateWorkspaceRequest);
    queryClient.setQueryData(workspaceQuery.queryKey, now);
    void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    setSaved(true);
  });
  const is_changed = Object.entries(saved).some(
    ([field, value]) => form.values[field as keyof typeof saved] !== value,
  );
  return (
    <Card title="Workspace">
      <form onSubmit={form.onSubmit} noValidate className={styles.form}>
        {form.error !== null && <ErrorNotice error={form.error} />}
        <TextField
          label="Name"
          autoComplete="off"
          required
          maxLength={64}
          disabled={!may}
          {...form.field('name')}
        />
        <SelectField
          label="Mode of new agents"
          disabled={!may}
          hint="Existing agents keep their mode. Shadow observes and reports. Enforce makes decisions binding."
          {...form.field('mode')}
          options={[
            ['SHADOW', 'Shadow'],
            ['ENFORCE', 'Enforce'],
          ]}
        />
        <SelectField
          label="Who may review"
          disabled={!may}
          hint="Nobody can review their own request. This setting covers the person who created the requesting key, or a key that led to it."
          {...form.field('separation_of_duties')}
          options={[
            ['AUTO', 'Not the key’s creator, once another member can review'],
            ['MAKER', 'Never the key’s creator'],
            ['REQUESTER', 'Also the key’s creator'],
          ]}
        />
        <ZoneField
          label="Time zone of days and times"
          disabled={!may}
          hint={`For everybody in this workspace. Budgets per month and days of reports stay UTC.${
            form.values.time_zone === OWN_ZONE ? '' : ` Your browser is in ${OWN_ZONE}.`
          }`}
          {...form.field('time_zone')}
        />
        <div className={styles.save}>
          <Button
            kind="primary"
            type="submit"
            busy={form.busy}
            why={!may && WHY_NOT.admin}
            disabled={!is_changed}
          >
            Save
          </Button>
          <span role="status">{is_saved && !is_changed && 'Saved.'}</span>
          {may && <RecordedAs />}
        </div>
      </form>
      <p className={styles.soft}>
        The <Link to="/review-policy">review policy</Link> says how many people must allow large requests, and
        who.
      </p>
      <Facts
        of={[
          ['ID', <Id key="i" id={workspace.id} />],
          ['Created', <Time key="t" at={workspace.created_at} exact />],
        ]}
      />
    </Card>
  );
}

function Plan({ workspace }: { workspace: Workspace }) {
  const { plan, trial, features, quotas } = workspace;
  const { used, limit } = quotas.agents;
  const has = (is_on: boolean) =>
    is_on ? <Badge tone="allow">Included</Badge> : <Badge>Needs the Team plan</Badge>;
  return (
    <Card title="Plan">
      <Facts
        of={[
          ['Plan', words(plan)],
          trial === null
            ? null
            : [
                'Trial',
                <>
                  {words(trial.plan)}, {trial.active ? 'until' : 'ended'} <Time at={trial.ends_at} exact />
                </>,
              ],
          ['Enforce', has(features.enforce)],
          ['Webhooks', has(features.webhooks)],
          ['Agents', limit === null ? `${used} (no limit)` : `${used} of ${limit}`],
        ]}
      />
      {limit !== null && (
        <meter className={styles.meter} min={0} max={limit} value={used} aria-label="Agents in use">
          {used} of {limit}
        </meter>
      )}
      <p className={styles.soft}>The operator of this service changes the plan with this command:</p>
      <CodeBlock
        label="the command"
        code={`npm run -s purser -- workspace set-plan --workspace ${workspace.id} --plan ${plan === 'free' ? 'team' : 'enterprise'}`}
      />
    </Card>
  );
}

interface Readiness {
  status: string;
  version: string;
  detail?: { skipped_events?: Record<string, number> };
}

function Service() {
  const ready = useQuery({
    queryKey: ['readiness'],
    queryFn: async () => purser.request<Readiness>('GET', '/readyz', {}, QUIET),
    refetchInterval: 15_000,
  });
  const skipped = Object.entries(ready.data?.detail?.skipped_events ?? {}).filter(([, count]) => count > 0);
  return (
    <Card title="Service">
      <Facts
        of={[
          [
            'State',
            ready.isError ? (
              <Badge key="b" tone="deny">
                Not ready
              </Badge>
            ) : ready.isPending ? (
              'Checking…'
            ) : (
              <Badge key="b" tone="allow">
                Ready
              </Badge>
            ),
          ],
          ['Version', ready.data?.version ?? '…'],
          ['Address', <code key="c">{location.origin}</code>],
          [
            'Documentation',
            <>
              <a href="/docs/guides">Guides</a> · <a href="/docs">API reference</a> ·{' '}
              <a href="/openapi.json">OpenAPI</a> · <a href="/.well-known/jwks.json">Public keys</a>
            </>,
          ],
        ]}
      />
      {skipped.length > 0 && (
        <Notice tone="warn" title="Background workers skipped events.">
          {skipped.map(([name, count]) => `${words(name)}: ${count}`).join(', ')}. See{' '}
          <a href="/docs/guides/operating">“Operating” in the guides</a>.
        </Notice>
      )}
      <p className={styles.soft}>
        The service is configured by its environment variables, which no page shows.
      </p>
    </Card>
  );
}

function Connecting() {
  return (
    <Card title="Connect a program">
      <p>Create a key in Keys and set these environment variables:</p>
      <CodeBlock label="lines for .env" code={`PURSER_BASE_URL=${location.origin}\nPURSER_API_KEY=sk_…`} />
      <CodeBlock
        label="a request"
        code={`curl -s ${location.origin}/v1/workspace -H "x-api-key: $PURSER_API_KEY"`}
      />
    </Card>
  );
}
