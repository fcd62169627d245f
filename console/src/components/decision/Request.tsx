import type { Decision } from '@purser/sdk';
import type { ReactNode } from 'react';
import { cx } from '../../lib/cx.ts';
import { type Effect, highlight } from '../../lib/highlight.ts';
import { formatMoney } from '../../lib/money.ts';
import { visible, visibleText } from '../../lib/visible.ts';
import { Clamped } from '../Clamped.tsx';
import styles from './decision.module.css';

type Evidence = Decision['purpose']['evidence'];

const MEANING: Record<Effect, string> = {
  supports: 'supports the purpose',
  conflicts: 'conflicts with the purpose',
  suspicious: 'suspicious',
};

/** A text of the request with hidden characters named and the evidence marked, cut at four lines. */
function Quoted({ text, field, evidence }: { text: string; field: string; evidence: Evidence }) {
  const quotes = evidence.filter((each) => each.field === field || each.field.startsWith(`${field}[`));
  let at = 0;
  return (
    <Clamped text={text}>
      <span className={styles.quote}>
        {highlight(text, quotes).map(({ text: part, effect }) => {
          const key = at;
          at += part.length;
          const shown = visibleText(part);
          if (effect === null) return shown;
          return (
            <mark key={key} className={cx(styles.mark, styles[effect])} title={MEANING[effect]}>
              {shown}
            </mark>
          );
        })}
      </span>
    </Clamped>
  );
}

/** The agent's own statements about its request. They are unverified claims. */
export function Request({ decision }: { decision: Decision }) {
  const { action, task, trace, purpose, limitable, min_amount_minor, allowance } = decision;
  const { evidence } = purpose;
  const rows: [name: string, value: ReactNode][] = [];
  if (action.description !== undefined) {
    rows.push([
      'Description',
      <Quoted key="d" text={action.description} field="action.description" evidence={evidence} />,
    ]);
  }
  if (task !== null) {
    rows.push(['Task', <Quoted key="t" text={task} field="task" evidence={evidence} />]);
  }
  if (action.category !== undefined) {
    rows.push([
      'Category (claimed)',
      <Quoted key="c" text={action.category} field="action.category" evidence={evidence} />,
    ]);
  }
  if (action.payee_id !== undefined) rows.push(['Payee', <code key="p">{visible(action.payee_id)}</code>]);
  if (allowance !== undefined) rows.push(['Allowance', visible(allowance.name ?? allowance.id)]);
  if (limitable) {
    rows.push([
      'Accepts less',
      min_amount_minor === null
        ? 'Any smaller amount'
        : `Down to ${formatMoney(min_amount_minor, decision.currency)}`,
    ]);
  }
  if (trace !== null && trace.length > 0) {
    rows.push([
      'Steps',
      <details key="s">
        <summary>{trace.length === 1 ? '1 step' : `${trace.length} steps`}</summary>
        <ol className={styles.steps}>
          {trace.map(({ step, tool, kind }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ID
            <li key={i}>
              <div>
                <Quoted text={step} field="trace" evidence={evidence} />
                {(tool ?? kind) !== undefined && (
                  <span className={styles.tool}>{visible(tool ?? kind ?? '')}</span>
                )}
              </div>
            </li>
          ))}
        </ol>
      </details>,
    ]);
  }
  if (rows.length === 0) return <p>Only the amount and the merchant were given.</p>;
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
