import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useMay, workspaceQuery } from '../../api/queries.ts';
import { buttonClass } from '../../components/Button.tsx';
import { Card } from '../../components/Page.tsx';
import { ExploreButton } from '../../components/SampleData.tsx';
import styles from './Overview.module.css';

interface Step {
  name: string;
  hint: string;
  to: string;
  is_done: boolean;
}

/** The steps, each done or not by what the workspace contains. Null while that is unknown, and for who cannot do them. */
export function useSteps(): Step[] | null {
  const may = useMay('admin');
  const workspace = useQuery(workspaceQuery).data;
  const agents = useQuery({
    queryKey: ['agents', 'steps'],
    queryFn: async () => (await purser.agents.list({ limit: 200 })).data,
  }).data;
  const decided = useQuery({
    queryKey: ['decisions', 'any'],
    queryFn: async () => (await purser.decisions.list({ limit: 1 })).data.length > 0,
  }).data;
  const reviewed = useQuery({
    queryKey: ['decisions', 'any', 'reviewed'],
    queryFn: async () => (await purser.decisions.list({ limit: 1, reviewed: true })).data.length > 0,
  }).data;
  const labelled = useQuery({
    queryKey: ['decisions', 'any', 'labelled'],
    queryFn: async () => (await purser.decisions.list({ limit: 1, labeled: true })).data.length > 0,
  }).data;
  const has_webhooks = may && workspace?.features.webhooks === true;
  const webhooks = useQuery({
    queryKey: ['webhooks', 'any'],
    queryFn: async () => (await purser.webhookEndpoints.list({ limit: 1 })).data.length > 0,
    enabled: has_webhooks,
  }).data;
  const is_known = agents !== undefined && decided !== undefined && reviewed !== undefined;
  // Sample data has already completed these steps.
  if (workspace?.sample !== false) return null;
  if (!may || !is_known || labelled === undefined || (has_webhooks && webhooks === undefined)) return null;
  const without = agents.find((each) => each.authority_version === null && each.status !== 'revoked');
  const steps: Step[] = [
    {
      name: 'Create an agent',
      hint: 'A program that spends, with its own API key.',
      to: '/new-agent',
      is_done: agents.length > 0,
    },
    {
      name: 'Set its spending policy',
      hint: 'Without a policy every request is denied.',
      to: without === undefined ? '/agents' : `/agents/${without.slug}/authority`,
      is_done: agents.some((each) => each.authority_version !== null),
    },
    {
      name: 'Send a first request',
      hint: 'Decisions shows a command to paste.',
      to: '/decisions',
      is_done: decided,
    },
    {
      name: 'Review a request',
      hint: 'Approve or deny a pending request.',
      to: '/reviews',
      is_done: reviewed,
    },
    {
      name: 'Label a decision',
      hint: 'Labels train the assessor and support the report.',
      to: '/decisions',
      is_done: labelled,
    },
    {
      name: 'Turn on enforcement',
      hint: 'Switch an agent to Enforce when its shadow report is ready.',
      to: '/report',
      is_done: agents.some((each) => each.mode === 'ENFORCE'),
    },
  ];
  if (has_webhooks) {
    steps.splice(-1, 0, {
      name: 'Add a webhook',
      hint: 'Get notified when a request needs review.',
      to: '/webhooks',
      is_done: webhooks === true,
    });
  }
  return steps;
}

/** The start of a workspace without agents: the one thing to do next. */
export function Start() {
  return (
    <Card title="First steps">
      <div className={styles.start}>
        <p className={styles.big}>Decide what your agents may spend</p>
        <p className={styles.sub}>
          Give an agent a purpose and three limits, try requests against them, and connect it. It starts in
          Shadow: Purser decides and stops nothing.
        </p>
        <div className={styles.choices}>
          <Link to="/new-agent" className={buttonClass('primary')}>
            Create an agent
          </Link>
          <ExploreButton />
        </div>
      </div>
    </Card>
  );
}

/** Checklist from an empty workspace to enforced decisions. Hidden once complete. */
export function FirstSteps({ steps }: { steps: readonly Step[] | null }) {
  if (steps === null || steps.every((each) => each.is_done)) return null;
  const count = steps.filter((each) => each.is_done).length;
  return (
    <Card
      title="First steps"
      aside={<span className={styles.sub}>{`${count} of ${steps.length} done`}</span>}
    >
      <ol className={styles.steps}>
        {steps.map(({ name, hint, to, is_done }) => (
          <li key={name}>
            <span className={styles.mark} data-done={is_done || undefined} aria-hidden="true">
              ✓
            </span>
            {is_done ? (
              <span className={styles.done}>
                {name}
                <span className="visually-hidden"> (done)</span>
              </span>
            ) : (
              <span>
                <Link to={to}>{name}</Link>
                <br />
                <span className={styles.sub}>{hint}</span>
              </span>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
