import type { Budget } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useExampleCurrency } from '../../api/agent-names.ts';
import { useBudgets } from '../../api/budgets.ts';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { BurnDown } from '../../components/charts/BurnDown.tsx';
import { SelectField } from '../../components/Field.tsx';
import { Meter } from '../../components/limits/Meter.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { BudgetName } from '../../components/names/BudgetName.tsx';
import { Card, Empty, Loading, Page } from '../../components/Page.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { budgetsBelow, nestedBudgets, periodInWords } from '../../lib/budgets.ts';
import { formatMoney, majorUnits } from '../../lib/money.ts';
import { pick } from '../../lib/search.ts';
import { BudgetForm } from './BudgetForm.tsx';
import styles from './Budgets.module.css';

/** The open dialog: a new budget, or an action on an existing one. */
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

/** The orders of the list. Without one in the URL, each budget comes below its parent. */
const ORDERS = [
  ['', 'By parent'],
  ['used', 'Most used first'],
  ['name', 'A to Z'],
] as const;

const usedShare = ({ standing, limit_minor }: Budget) =>
  limit_minor === 0 ? 0 : standing.used_minor / limit_minor;

function ordered(budgets: readonly Budget[], order: string | undefined) {
  const flat = (compare: (a: Budget, b: Budget) => number) =>
    [...budgets].sort(compare).map((budget) => ({ budget, depth: 0 }));
  if (order === 'used') return flat((a, b) => usedShare(b) - usedShare(a));
  if (order === 'name') return flat((a, b) => a.name.localeCompare(b.name));
  return nestedBudgets(budgets);
}

export default function Budgets() {
  const may = useMay('admin');
  const query = useBudgets();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const budgets = query.data ?? [];
  const { sort: order } = pick(useSearch({ strict: false }), ['sort']);
  const navigate = useNavigate();
  return (
    <Page
      title="Budgets"
      lead="Agents share a budget if their policy names it or a budget below it. Concurrent requests cannot overspend it."
      actions={
        <>
          <ExportCsv name="budgets" columns={CSV} fetch={(page) => purser.budgets.list(page)} />
          <Button kind="primary" why={!may && WHY_NOT.admin} onClick={() => setAsked({ kind: 'new' })}>
            New budget
          </Button>
        </>
      }
    >
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading lines={8} />}
      {budgets.length > 1 && (
        <div className={styles.order}>
          <SelectField
            label="Sort"
            value={order ?? ''}
            options={ORDERS}
            onValue={(sort) =>
              void navigate({ to: '/budgets', search: sort === '' ? {} : { sort }, replace: true })
            }
          />
        </div>
      )}
      {query.isSuccess && (
        <Card flush={budgets.length > 0}>
          {budgets.length === 0 ? (
            <Nothing />
          ) : (
            <ul className={styles.budgets} aria-label="Budgets">
              {ordered(budgets, order).map(({ budget, depth }) => (
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
      title="No shared budgets yet"
      action={
        <div className={styles.example}>
          <CodeBlock label="a first budget" code={code} />
          <p>
            <code>PURSER_API_KEY</code> must be an admin key. The limit of {formatMoney(600_000, currency)} is
            in minor units.
          </p>
        </div>
      }
    >
      <p>Create one for a team or project, and select it in the policies of the agents that spend from it.</p>
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
  const [is_open, setOpen] = useState(false);
  return (
    <li className={styles.row} style={{ '--depth': depth } as React.CSSProperties}>
      <div className={styles.name}>
        <strong>{name}</strong>
        {is_frozen && <StateBadge state={status} />}
        <div>
          {name !== slug && <code>{slug}</code>}
          {parent !== null && (
            <span className={styles.soft}>
              {name !== slug && ' · '}part of <BudgetName slug={parent} />
            </span>
          )}
        </div>
      </div>
      <div>
        <Meter used={standing.used_minor} limit={limit_minor}>
          {formatMoney(standing.used_minor, currency)} of {majorUnits(limit_minor, currency)}
        </Meter>
        <span className={styles.soft}>{periodInWords(budget)}</span>
        <details className={styles.curve} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Day by day</summary>
          {is_open && <Curve budget={budget} />}
        </details>
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

function Curve({ budget }: { budget: Budget }) {
  const query = useQuery({
    queryKey: ['budgets', 'burn-down', budget.id],
    queryFn: async () => purser.reports.budgetBurnDown(budget.id),
  });
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  return query.data === undefined ? <Loading lines={6} /> : <BurnDown curve={query.data} />;
}

async function setStatus({ id }: Budget, status: Budget['status']): Promise<void> {
  await purser.budgets.update(id, { status });
  await invalidate('budgets');
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
        Every request that counts toward this budget is denied until somebody unfreezes it. In Enforce mode,
        nobody can allow a pending review either. Held amounts stay held, and capabilities that were already
        issued still work. To stop those too, pause the agents.
      </p>
      {below.length > 0 && (
        <p>This also stops the budgets below it: {below.map(({ name }) => name).join(', ')}.</p>
      )}
    </Confirm>
  );
}

function Unfreeze({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const { currency, standing } = budget;
  return (
    <Confirm
      title={`Unfreeze ${budget.name}?`}
      action="Unfreeze"
      danger={false}
      work={() => setStatus(budget, 'active')}
      onClose={onClose}
    >
      <p>Agents can then spend the remaining {formatMoney(standing.remaining_minor ?? 0, currency)}.</p>
    </Confirm>
  );
}
