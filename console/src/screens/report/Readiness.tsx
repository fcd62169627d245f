import type { ShadowReport } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { Notice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card } from '../../components/Page.tsx';
import type { Search } from '../../lib/search.ts';
import styles from './Report.module.css';

type Blocker = ShadowReport['readiness']['blockers'][number];

/** The link that resolves a blocker: text, path and filters. */
function wayOut(
  { code, agents }: Blocker,
  search: Search,
): readonly [text: string, to: string, search: Search] {
  const slug = agents[0] ?? search.agent;
  const filters: Search = { mode: 'SHADOW', ...search };
  switch (code) {
    case 'PLAN_CANNOT_ENFORCE':
      return ['See the plan', '/settings', {}];
    case 'NO_DECISIONS':
      return ['See agents', '/agents', {}];
    case 'AGENT_WITHOUT_AUTHORITY':
      return slug === undefined
        ? ['See agents', '/agents', {}]
        : ['Set policy', `/agents/${slug}/authority`, {}];
    case 'TOO_MANY_UNCLEAR':
      return slug === undefined
        ? ['See them', '/decisions', { ...filters, reason: 'PURPOSE_UNCLEAR' }]
        : ['Sharpen the purpose', `/agents/${slug}/authority`, {}];
    case 'PENDING_REVIEWS':
      return ['Review them', '/reviews', {}];
    case 'TOO_FEW_LABELS':
      return ['Label some', '/decisions', { ...filters, labeled: 'false' }];
    case 'LOW_PRECISION':
      return [
        'See disagreements',
        '/decisions',
        { ...filters, label: 'PURPOSE_ALIGNED', decision: 'REVIEW,DENY' },
      ];
    case 'LOW_RECALL':
      return [
        'See what slipped through',
        '/decisions',
        { ...filters, label: 'PURPOSE_MISALIGNED', decision: 'ALLOW' },
      ];
    case 'EXECUTED_ALTHOUGH_DENIED':
      return ['See them', '/decisions', { ...filters, decision: 'DENY', outcome_state: 'EXECUTED' }];
    default:
      return ['See decisions', '/decisions', filters];
  }
}

/** The observed value and its bound in words. Fractions are shares. */
function measured({ code, observed, bound }: Blocker): string | null {
  if (observed === null || bound === null) return null;
  const is_share = !Number.isInteger(bound) || !Number.isInteger(observed);
  const format = (value: number) => (is_share ? `${Math.round(value * 100)}%` : String(value));
  const is_least = /^(TOO_FEW|LOW)_/.test(code);
  return `${format(observed)} now, ${is_least ? 'at least' : 'at most'} ${format(bound)} needed`;
}

/** Blockers of enforcement, each with a link that resolves it, and warnings. */
export function Readiness({ readiness, search }: { readiness: ShadowReport['readiness']; search: Search }) {
  return (
    <>
      <Blockers readiness={readiness} search={search} />
      <Warnings warnings={readiness.warnings} />
    </>
  );
}

function Blockers({ readiness, search }: { readiness: ShadowReport['readiness']; search: Search }) {
  const { ready, blockers, merchants } = readiness;
  if (ready) {
    return (
      <Notice tone="good" title="Ready for Enforce.">
        This report has no blockers.
        {search.agent === undefined && ' Choose an agent to switch it.'}
      </Notice>
    );
  }
  return (
    <Card
      title={`Before Enforce: ${blockers.length} ${blockers.length === 1 ? 'blocker' : 'blockers'} to resolve`}
    >
      <ul className={styles.checks}>
        {blockers.map((each) => {
          const [text, to, filters] = wayOut(each, search);
          return (
            <li key={each.code}>
              <span className={styles.sign} aria-hidden="true">
                ○
              </span>
              <span>
                {each.message}
                {measured(each) !== null && <span className={styles.sub}> {measured(each)}</span>}
              </span>
              <Link to={to} search={filters}>
                {text}
              </Link>
            </li>
          );
        })}
        {merchants.map(({ agent, message, merchants: names }) => (
          <li key={agent}>
            <span className={styles.sign} aria-hidden="true">
              ○
            </span>
            <span title={names.join(', ')}>
              {message}
              {search.agent === undefined && <span className={styles.sub}> {agent}</span>}
            </span>
            <Link to={`/agents/${agent}/merchants`} search={{}}>
              See merchants
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Findings that do not block, with the quoted sentences and links to their policies. */
function Warnings({ warnings }: { warnings: ShadowReport['readiness']['warnings'] }) {
  if (warnings.length === 0) return null;
  return (
    <Card title="Warnings">
      <ul className={styles.checks}>
        {warnings.map(({ code, message, agents, sentences }) => (
          <li key={`${code}:${agents.join()}`}>
            <span className={styles.sign} aria-hidden="true">
              !
            </span>
            <div className={styles.warning}>
              <p>{message}</p>
              {sentences.map((each) => (
                <q key={each}>{each}</q>
              ))}
            </div>
            <span className={styles.ways}>
              {agents.map((slug) => (
                <Link key={slug} to={`/agents/${slug}/authority`}>
                  {agents.length === 1 ? 'Edit policy' : <AgentName of={{ slug }} />}
                </Link>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
