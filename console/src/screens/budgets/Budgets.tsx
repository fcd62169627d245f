import type { Budget } from '@purser/sdk';
import { useState } from 'react';
import { useExampleCurrency } from '../../api/agent-names.ts';
import { useBudgets } from '../../api/budgets.ts';
import { purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { Meter } from '../../components/limits/Meter.tsx';
import { CSV_PAGE, type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { budgetsBelow, nestedBudgets, periodInWords } from '../../lib/budgets.ts';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import { BudgetForm } from './BudgetForm.tsx';
import styles from './Budgets.module.css';

/** What is asked about: a new budget, or what to do with one that is there. */
type Asked = { kind: 'new' } | { kind: 'edit' | 'freeze' | 'unfreeze'; budget: Budget };

const CSV: CsvColumns<Budget> = [
  ['id', (each) => each.id],
  ['slug', (each) => each.slug],
  ['name', (each) => each.name],
  ['status', (each) => each.status],
  ['parent', (each) => each.parent],
  ['period', (each) => each.period],
  ['currency', (each) => each.currency],
  ['limit_minor', (each) => each.limit_minor],
  ['used_minor', (each) => each.standing.used_minor],
  ['remaining_minor', (each) => each.standing.remaining_minor],
];

export default function Budgets() {
  const may = useMay('admin');
  const query = useBudgets();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const budgets = query.data ?? [];
  return (
    <Page
      title="Budgets"
      lead="Several agents spend from a shared budget: those whose authority names it, or one below it. Nobody can spend the last of it twice."
      actions={
        <>
          <ExportCsv
            name="budgets"
            columns={CSV}
            fetch={(cursor) => purser.budgets.list({ limit: CSV_PAGE, cursor })}
          />
          <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setAsked({ kind: 'new' })}>
            New budget
          </Button>
        </>
      }
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={8} />}
      {query.isSuccess && (
        <Card flush={budgets.length > 0}>
          {budgets.length === 0 ? (
            <Nothing />
          ) : (
            <ul className={styles.budgets} aria-label="Budgets">
              {nestedBudgets(budgets).map(({ budget, depth }) => (
                <Row key={budget.id} budget={budget} depth={depth} may={may} onAsk={setAsked} />
              ))}
            </ul>
          )}
        </Card>
      )}
      {asked?.kind === 'new' && <BudgetForm budgets={budgets} onClose={close} />}
      {asked?.kind === 'edit' && <BudgetForm budgets={budgets} of={asked.budget} onClose={close} />}
      {asked?.kind === 'freeze' && <Freeze budget={asked.budget} budgets={budgets} onClose={close} />}
      {asked?.kind === 'unfreeze' && <Unfreeze budget={asked.budget} onClose={close} />}
    </Page>
  );
}

function Nothing() {
  const currency = useExampleCurrency();
  const body = JSON.stringify({ slug: 'marketing', currency, period: 'MONTH', limit_minor: 600_000 });
  const code = [
    `curl -s ${location.origin}/v1/budgets -H "x-api-key: $PURSER_API_KEY" \\`,
    `  -H 'content-type: application/json' -d '${body}'`,
  ].join('\n');
  return (
    <Empty
      title="No shared budget yet"
      action={
        <div className={styles.example}>
          <CodeBlock label="a first budget" code={code} />
          <p>
            <code>PURSER_API_KEY</code> is an admin key here. The limit is {formatMoney(600_000, currency)},
            in minor units.
          </p>
        </div>
      }
    >
      <p>
        Make one for a team or a project, and name it in the authorities of the agents that spend from it.
      </p>
    </Empty>
  );
}

function Row({
  budget,
  depth,
  may,
  onAsk,
}: {
  budget: Budget;
  depth: number;
  may: boolean;
  onAsk: (asked: Asked) => void;
}) {
  const { slug, name, currency, limit_minor, standing, status, parent } = budget;
  const is_frozen = status === 'frozen';
  return (
    <li className={styles.row} style={{ '--depth': depth } as React.CSSProperties}>
      <div className={styles.name}>
        <strong>{name}</strong>
        {is_frozen && <StateBadge state={status} />}
        <div>
          {name !== slug && <code>{slug}</code>}
          {parent !== null && (
            <span className={styles.soft}>
              {name !== slug && ' · '}counts in {parent} too
            </span>
          )}
        </div>
      </div>
      <div>
        <Meter used={standing.used_minor} limit={limit_minor}>
          {formatMoney(standing.used_minor, currency)} of {majorUnits(limit_minor, currency)}
        </Meter>
        <span className={styles.soft}>{periodInWords(budget)}</span>
      </div>
      {may && (
        <div className={styles.actions}>
          <Button small aria-label={`Edit ${slug}`} onClick={() => onAsk({ kind: 'edit', budget })}>
            Edit
          </Button>
          <Button
            small
            kind={is_frozen ? undefined : 'danger'}
            aria-label={`${is_frozen ? 'Unfreeze' : 'Freeze'} ${slug}`}
            onClick={() => onAsk({ kind: is_frozen ? 'unfreeze' : 'freeze', budget })}
          >
            {is_frozen ? 'Unfreeze' : 'Freeze'}
          </Button>
        </div>
      )}
    </li>
  );
}

async function setStatus({ id }: Budget, status: Budget['status']): Promise<void> {
  await purser.budgets.update(id, { status });
  await makeOld('budgets');
}

function Freeze({
  budget,
  budgets,
  onClose,
}: {
  budget: Budget;
  budgets: readonly Budget[];
  onClose: () => void;
}) {
  const below = budgetsBelow(budgets, budget.slug);
  return (
    <Confirm
      title={`Freeze ${budget.name}?`}
      action="Freeze"
      work={() => setStatus(budget, 'frozen')}
      onClose={onClose}
    >
      <p>
        Every spend of every agent that counts in it is denied from the next request on, until somebody
        unfreezes it. Nobody can allow a pending review in ENFORCE either. What is held of it stays held, and
        a capability that was issued before may still be used; to stop that too, pause the agents.
      </p>
      {below.length > 0 && (
        <p>
          That stops what counts in the budgets below it as well: {below.map(({ name }) => name).join(', ')}.
        </p>
      )}
    </Confirm>
  );
}

function Unfreeze({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const { currency, standing } = budget;
  return (
    <Confirm
      title={`Let agents spend from ${budget.name} again?`}
      action="Unfreeze"
      danger={false}
      work={() => setStatus(budget, 'active')}
      onClose={onClose}
    >
      <p>
        From the next request on what is left may be spent:{' '}
        {formatMoney(standing.remaining_minor ?? 0, currency)}.
      </p>
    </Confirm>
  );
}
