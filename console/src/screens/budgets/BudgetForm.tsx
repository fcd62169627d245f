import { DEFAULT_ALERT_PERCENTS } from '@purser/contract/values/budgets';
import type { Budget } from '@purser/sdk';
import { useMemo } from 'react';
import { codeOfError, purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { amountHint } from '../../lib/authority/draft.ts';
import { timeZones } from '../../lib/authority/zones.ts';
import { MAX_DEPTH, nestedBudgets, PERIOD_OPTIONS } from '../../lib/budgets.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { currencyOf, formatMoney, fromInput, toInput, typedAmount } from '../../lib/money.ts';
import { percentsFromInput, percentsToInput } from '../../lib/percents.ts';
import styles from './Budgets.module.css';

/** Form for a new budget, or with `of` for the name and limit of an existing one. */
export function BudgetForm({
  budgets,
  of,
  onClose,
}: {
  budgets: readonly Budget[];
  of?: Budget;
  onClose: () => void;
}) {
  const zones = useMemo(timeZones, []);
  const form = useForm(
    {
      slug: of?.slug ?? '',
      name: of === undefined || of.name === of.slug ? '' : of.name,
      currency: of?.currency ?? 'EUR',
      period: of?.period ?? 'MONTH',
      time_zone: of?.time_zone ?? '',
      parent: of?.parent ?? '',
      limit: of === undefined ? '' : toInput(of.limit_minor, of.currency),
      alerts: percentsToInput(of?.alert_percents ?? DEFAULT_ALERT_PERCENTS),
    },
    async (values) => {
      const currency = currencyOf(values.currency);
      const limit_minor = typedAmount(values.limit, currency);
      const name = values.name.trim();
      const alerts = percentsFromInput(values.alerts);
      const alert_percents = ('percents' in alerts && alerts.percents) || [...DEFAULT_ALERT_PERCENTS];
      if (of !== undefined)
        await purser.budgets.update(of.id, {
          limit_minor,
          name: name || of.slug,
          // A change of it needs a fresh sign-in.
          ...(percentsToInput(alert_percents) === percentsToInput(of.alert_percents)
            ? {}
            : { alert_percents }),
        });
      else
        await purser.budgets.create({
          slug: values.slug.trim(),
          ...(name === '' ? {} : { name }),
          currency,
          period: values.period as Budget['period'],
          ...(values.time_zone.trim() === '' ? {} : { time_zone: values.time_zone.trim() }),
          limit_minor,
          alert_percents,
          ...(values.parent === '' ? {} : { parent: values.parent }),
        });
      await invalidate('budgets');
      onClose();
    },
    {
      fields: { limit_minor: 'limit', alert_percents: 'alerts' },
      check: ({ slug, currency, limit, alerts: typed }) => {
        const alerts = percentsFromInput(typed);
        const read = fromInput(limit, currencyOf(currency));
        return {
          ...(/^[a-z0-9][a-z0-9_-]{0,63}$/.test(slug.trim())
            ? {}
            : {
                slug: 'must use only a-z, 0-9, "_" and "-", begin with a letter or digit, and have at most 64 characters',
              }),
          ...('problem' in alerts ? { alerts: alerts.problem } : {}),
          ...(/^[A-Z]{3}$/.test(currencyOf(currency)) ? {} : { currency: 'must be a currency such as EUR' }),
          ...('problem' in read
            ? { limit: read.problem }
            : read.amount_minor === null
              ? { limit: 'must be the maximum that may be spent' }
              : {}),
        };
      },
    },
  );
  const is_taken = codeOfError(form.error) === 'budget_exists';
  const currency = currencyOf(form.values.currency);
  const parents = nestedBudgets(budgets).filter(
    ({ budget, depth }) => budget.currency === currency && depth + 1 < MAX_DEPTH,
  );
  return (
    <Dialog title={of === undefined ? 'New budget' : `Edit ${of.name}`} onClose={onClose}>
      <form onSubmit={form.onSubmit} noValidate className={styles.form}>
        {form.error !== null && !is_taken && <ErrorNotice error={form.error} />}
        {of === undefined && (
          <TextField
            label="Slug"
            autoFocus
            required
            autoComplete="off"
            spellCheck={false}
            placeholder="marketing"
            hint="Identifies the budget in policies. Cannot be changed later."
            {...form.field('slug')}
            problem={
              form.problemOf('slug') ?? (is_taken ? 'A budget with this slug already exists' : undefined)
            }
          />
        )}
        <TextField label="Name" optional autoComplete="off" {...form.field('name')} />
        {of === undefined && (
          <div className={styles.pair}>
            <TextField
              label="Currency"
              maxLength={3}
              autoComplete="off"
              hint="Only agents with a policy in this currency can use it."
              {...form.field('currency')}
            />
            <SelectField
              label="Period"
              hint="How often the budget resets."
              {...form.field('period')}
              options={PERIOD_OPTIONS}
            />
          </div>
        )}
        <TextField
          label="Limit"
          required
          inputMode="decimal"
          prefix={currency}
          {...form.field('limit')}
          hint={
            of === undefined
              ? amountHint(form.values.limit, currency)
              : `${formatMoney(of.standing.used_minor, currency)} used. A lower limit stops new spending and takes nothing back.`
          }
        />
        <TextField
          label="Alert percentages"
          inputMode="numeric"
          placeholder={percentsToInput(DEFAULT_ALERT_PERCENTS)}
          hint="Usage at which webhooks and channels are notified, once a period."
          {...form.field('alerts')}
        />
        {of === undefined && (
          <>
            <SelectField
              label="Parent budget"
              hint="Spending here also counts toward the parent."
              {...form.field('parent')}
              options={[
                ['', 'None'],
                ...parents.map(
                  ({ budget, depth }) => [budget.slug, `${'– '.repeat(depth)}${budget.name}`] as const,
                ),
              ]}
            />
            {form.values.period !== 'TOTAL' && (
              <TextField
                label="Time zone"
                optional
                list="budget-zones"
                autoComplete="off"
                spellCheck={false}
                placeholder="UTC"
                hint="Determines when a period begins."
                {...form.field('time_zone')}
              />
            )}
            <datalist id="budget-zones">
              {zones.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
            <p className={styles.soft}>Currency, period, time zone and parent cannot be changed later.</p>
          </>
        )}
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy}>
            {of === undefined ? 'Create budget' : 'Save'}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
