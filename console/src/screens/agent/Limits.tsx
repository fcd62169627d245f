import type { AgentWithBudgets, LimitStanding } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { LimitMeters } from '../../components/limits/LimitMeters.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { localTime } from '../../lib/time.ts';

/** Usage of an agent's velocity limits. Renders nothing without any. The monthly budget has its own card. */
export function Limits({ agent }: { agent: AgentWithBudgets }) {
  const query = useQuery({
    queryKey: ['agents', 'limits', agent.slug],
    queryFn: async () => {
      const [{ data }, { authority }] = await Promise.all([
        purser.agents.limits(agent.slug),
        purser.agents.authority.retrieve(agent.slug),
      ]);
      return { limits: data.filter(({ kind }) => kind !== 'monthly_budget'), currency: authority.currency };
    },
    enabled: agent.authority_version !== null,
  });
  if (query.isError && query.data === undefined)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined || query.data.limits.length === 0) return null;
  return (
    <Card title="Velocity limits">
      <LimitMeters {...query.data} windowOf={windowNow} nameOf={(limit) => limit.subject_name} />
    </Card>
  );
}

function windowNow({ window, counted_since }: LimitStanding): string {
  const since = counted_since === null ? '' : ` · counted since ${localTime(counted_since)}`;
  const span =
    window.type === 'TOTAL'
      ? 'never resets'
      : window.type === 'ROLLING'
        ? `since ${localTime(window.starts_at)}, rolling`
        : `resets ${localTime(window.ends_at)}`;
  return span + since;
}
