import type { Decision, Sheet as SheetData } from '@purser/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { purser } from '../../api/client.ts';
import { firesIn, limitInWords, limitName, pastInWords } from '../../lib/reviews/sheet.ts';
import { visible, visibleText } from '../../lib/visible.ts';
import { reasonWords } from '../../lib/words.ts';
import { Badge, StateBadge } from '../Badge.tsx';
import { Clamped } from '../Clamped.tsx';
import { ErrorNotice } from '../Notice.tsx';
import { BudgetName } from '../names/BudgetName.tsx';
import { Card, Loading } from '../Page.tsx';
import { Time } from '../Value.tsx';
import { Request } from './Request.tsx';
import styles from './Sheet.module.css';

/** Clauses shown before the reviewer asks for all. */
const SHOWN = 3;

/** The sheet of a decision: everything that a review needs. Changes with its decision. */
export const sheetQuery = (decision_id: string) =>
  queryOptions({
    queryKey: ['decision', decision_id, 'sheet'],
    queryFn: async () => purser.decisions.sheet(decision_id),
  });

/**
 * Everything that a reviewer needs, in this order: the purpose, the cause, the limits, the past, and last the agent's own words.
 * `past` and `cause` add details below the facts of their card.
 */
export function Sheet({
  decision,
  past,
  cause,
}: {
  decision: Decision;
  past?: ReactNode;
  cause?: ReactNode;
}) {
  const query = useQuery(sheetQuery(decision.decision_id));
  const sheet = query.data;
  return (
    <div className={styles.frame}>
      <div className={styles.sheet}>
        {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
        <Card title="What this agent is for">
          {sheet === undefined ? <Loading lines={3} /> : <Purpose purpose={sheet.purpose} />}
        </Card>
        <Card title={titleOfCause(decision)}>
          <Cause decision={decision} sheet={sheet} />
          {cause}
        </Card>
        <Card title="Limits" aside="Use as of now">
          {sheet === undefined ? <Loading lines={3} /> : <Limits sheet={sheet} />}
        </Card>
        <Card title="History with this merchant">
          {sheet === undefined ? <Loading lines={3} /> : <Past sheet={sheet} />}
          {past}
        </Card>
        <div className={styles.whole}>
          <Card title="What the agent says">
            <Request decision={decision} />
          </Card>
        </div>
      </div>
    </div>
  );
}

function Purpose({ purpose }: { purpose: SheetData['purpose'] }) {
  const { objective, success_criteria, constraints, context } = purpose;
  if (objective === null) return <p>The agent had no policy.</p>;
  const { fired, others } = firesIn(purpose);
  const rest = [...others.slice(SHOWN), ...success_criteria, ...(context === null ? [] : [context])];
  return (
    <>
      <Clamped text={objective}>
        <p className={styles.objective}>{objective}</p>
      </Clamped>
      {constraints.length > 0 && (
        <ul className={styles.clauses} aria-label="Constraints">
          {fired.map((text) => (
            <li key={text}>
              <mark className={styles.fires}>{text}</mark>
            </li>
          ))}
          {others.slice(0, SHOWN).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {rest.length > 0 && (
        <details className={styles.rest}>
          <summary>The whole purpose</summary>
          {others.length > SHOWN && <Clauses name="Constraints" of={others.slice(SHOWN)} />}
          {success_criteria.length > 0 && <Clauses name="Success criteria" of={success_criteria} />}
          {context !== null && <Clauses name="Context" of={[context]} />}
        </details>
      )}
    </>
  );
}

function Clauses({ name, of }: { name: string; of: readonly string[] }) {
  return (
    <>
      <p className={styles.soft}>{name}</p>
      <ul className={styles.clauses}>
        {of.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );
}

function titleOfCause({ decision, review_state }: Decision): string {
  if (decision === 'DENY') return 'Why it was denied';
  if (decision === 'ALLOW') return 'Why it was allowed';
  return review_state === 'PENDING' ? 'Why it waits' : 'Why it needed a review';
}

function Cause({ decision, sheet }: { decision: Decision; sheet: SheetData | undefined }) {
  const { explanation, reason_codes, purpose } = decision;
  const others = reason_codes.slice(1).map(reasonWords);
  const sentence = sheet?.cause.sentence;
  return (
    <>
      {sentence === undefined ? <Loading lines={1} /> : <p className={styles.cause}>{sentence}</p>}
      {/* The explanation names merchants and clauses: it comes after the fixed words. */}
      {explanation !== sentence && (
        <Clamped text={explanation}>
          <p>{visibleText(explanation)}</p>
        </Clamped>
      )}
      {others.length > 0 && <p className={styles.soft}>Also: {others.join(' · ')}</p>}
      <p className={styles.facts}>
        <StateBadge state={purpose.assessment} />
        {sheet?.listed != null && (
          <Badge tone={sheet.listed.verdict === 'ALLOWED' ? 'allow' : 'deny'}>
            {sheet.listed.verdict === 'ALLOWED' ? 'Allowed merchant' : 'Blocked merchant'}
          </Badge>
        )}
        {sheet?.payee_known === false && <Badge tone="review">New payee</Badge>}
        {sheet?.payee_known === true && <Badge tone="allow">Known payee</Badge>}
      </p>
    </>
  );
}

function Limits({ sheet: { limits, currency } }: { sheet: SheetData }) {
  if (limits.length === 0) return <p>No limits apply to this request.</p>;
  return (
    <ul className={styles.limits}>
      {limits.map((limit) => {
        const { text, share } = limitInWords(limit, currency);
        return (
          <li key={`${limit.kind} ${limit.name}`}>
            <span>
              {limit.kind === 'shared_budget' ? (
                <>
                  Shared budget <BudgetName slug={limit.name} />
                </>
              ) : (
                limitName(limit)
              )}
            </span>
            <span className="figures">{text}</span>
            {share !== null && (
              <span className={styles.bar} aria-hidden="true">
                <span
                  data-over={share > 1 || undefined}
                  style={{ width: `${Math.min(100, share * 100)}%` }}
                />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Past({ sheet: { merchant_past, merchant } }: { sheet: SheetData }) {
  const { with_agent, in_workspace } = merchant_past;
  const has_others = in_workspace.decisions > with_agent.decisions;
  return (
    <>
      <p>
        {with_agent.decisions === 0
          ? `This is the agent’s first request at ${visible(merchant)}.`
          : `This agent: ${pastInWords(with_agent)}`}
        {with_agent.last_at !== null && (
          <>
            {' '}
            Last <Time at={with_agent.last_at} />.
          </>
        )}
      </p>
      <p>
        {has_others
          ? `All agents: ${pastInWords(in_workspace)}`
          : 'No other agent of this workspace has asked for it.'}
      </p>
    </>
  );
}
