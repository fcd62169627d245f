import type { Decision } from '@purser/sdk';
import type { ReactNode } from 'react';
import { cx } from '../../lib/cx.ts';
import { type Effect, highlight } from '../../lib/highlight.ts';
import { formatMoney } from '../../lib/money.ts';
import styles from './decision.module.css';

type Evidence = Decision['purpose']['evidence'];

const MEANING: Record<Effect, string> = {
  supports: 'speaks for it',
  conflicts: 'speaks against it',
  suspicious: 'suspicious',
};

/** A text of the request with what was quoted from it marked. */
function Quoted({ text, field, evidence }: { text: string; field: string; evidence: Evidence }) {
  const quotes = evidence.filter((each) => each.field === field || each.field.startsWith(`${field}[`));
  let at = 0;
  return (
    <span className={styles.quote}>
      {highlight(text, quotes).map(({ text: part, effect }) => {
        const key = at;
        at += part.length;
        if (effect === null) return part;
        return (
          <mark key={key} className={cx(styles.mark, styles[effect])} title={MEANING[effect]}>
            {part}
          </mark>
        );
      })}
    </span>
  );
}

/** What the agent says of its spend, in its own words: claims, and never more. */
export function Request({ decision }: { decision: Decision }) {
  const { action, task, trace, purpose, limitable, min_amount_minor } = decision;
  const { evidence } = purpose;
  const rows: [name: string, value: ReactNode][] = [];
  if (action.description !== undefined) {
    rows.push([
      'What, and why',
      <Quoted key="d" text={action.description} field="action.description" evidence={evidence} />,
    ]);
  }
  if (task !== null) {
    rows.push(['The task it is on', <Quoted key="t" text={task} field="task" evidence={evidence} />]);
  }
  if (action.category !== undefined) {
    rows.push([
      'Category it claims',
      <Quoted key="c" text={action.category} field="action.category" evidence={evidence} />,
    ]);
  }
  if (action.payee_id !== undefined) rows.push(['Payee', <code key="p">{action.payee_id}</code>]);
  if (limitable) {
    rows.push([
      'Less would do',
      min_amount_minor === null
        ? 'Any smaller amount'
        : `Down to ${formatMoney(min_amount_minor, decision.currency)}`,
    ]);
  }
  if (trace !== null && trace.length > 0) {
    rows.push([
      'How it got there',
      <ol key="s" className={styles.steps}>
        {trace.map(({ step, tool, kind }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other name than their place
          <li key={i}>
            <span>
              <Quoted text={step} field="trace" evidence={evidence} />
              {(tool ?? kind) !== undefined && <span className={styles.tool}> · {tool ?? kind}</span>}
            </span>
          </li>
        ))}
      </ol>,
    ]);
  }
  if (rows.length === 0) return <p>It said nothing besides the amount and the merchant.</p>;
  return (
    <dl className={styles.says}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
