import type { AgentWithBudgets, LimitStanding } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import decision from '../../components/decision/decision.module.css';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { formatMoney } from '../../lib/money.ts';
import { localTime } from '../../lib/time.ts';
import styles from './AgentPage.module.css';

/** Whom a limit counts by itself. */
function subjectInWords(subject: string | null): string {
  if (subject === null) return '';
  // The service says whether a merchant was named by its name or by its host.
  const name = subject.slice(2).replace(/^(name|host) /, '');
  if (subject.startsWith('m:')) return ` at ${name}`;
  return name === '' ? ' where no payee is named' : ` to ${name}`;
}

/** How the limits over time of an agent's authority stand. Nothing where it has none; the month stands by itself. */
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
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined || query.data.limits.length === 0) return null;
  const { limits, currency } = query.data;
  return (
    <Card title="Limits over time">
      <ul className={styles.limits}>
        {limits.map((limit) => (
          <li key={`${limit.kind} ${limit.name} ${limit.subject}`}>
            <strong>
              {limit.name}
              {subjectInWords(limit.subject)}
            </strong>
            {limit.limit_minor !== null && (
              <Meter used={limit.used_minor} limit={limit.limit_minor}>
                {formatMoney(limit.used_minor, currency)} of{' '}
                {formatMoney(limit.limit_minor, currency).slice(4)}
              </Meter>
            )}
            {limit.limit_count !== null && (
              <Meter used={limit.used_count ?? 0} limit={limit.limit_count}>
                {limit.used_count} of {limit.limit_count} {limit.limit_count === 1 ? 'spend' : 'spends'}
              </Meter>
            )}
            <span className={decision.where}>{windowInWords(limit)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function windowInWords({ window, counted_since }: LimitStanding): string {
  const since = counted_since === null ? '' : ` · counted since ${localTime(counted_since)}`;
  const span =
    window.type === 'ROLLING'
      ? `since ${localTime(window.starts_at)}, rolling`
      : `begins anew ${localTime(window.ends_at)}`;
  return span + since;
}

/** How much of a number is used, as a bar and in words. */
function Meter({ used, limit, children }: { used: number; limit: number; children: React.ReactNode }) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <div>
      <div className={decision.bar} aria-hidden="true">
        {share > 0 && (
          <span
            className={used >= limit ? decision.over : decision.committed}
            style={{ width: `${share * 100}%` }}
          />
        )}
      </div>
      <span className="figures">{children}</span>
    </div>
  );
}
