import type { Allowance, CreateAllowanceRequest, NewAllowance } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAgentNames, useExampleCurrency } from '../../api/agent-names.ts';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import styles from '../../components/allowances/allowances.module.css';
import { allowanceName } from '../../components/allowances/allowances.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { AreaField, SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { ShownOnce } from '../../components/ShownOnce.tsx';
import { CodeBlock } from '../../components/Value.tsx';
import { amountHint } from '../../lib/authority/draft.ts';
import { listOf } from '../../lib/authority/lines.ts';
import { fromLocal } from '../../lib/authority/zones.ts';
import { PERIOD_OPTIONS } from '../../lib/budgets.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { amountProblem, currencyOf, formatMoney, typedAmount } from '../../lib/money.ts';
import { timeZone } from '../../lib/time.ts';

/** Open allowances that the form offers as parents, the newest. */
const PARENTS = 100;

/** Dialog that creates an allowance and, if asked for, shows the value of its key once. `parent` is preselected. */
export default function NewAllowanceDialog({ parent, onClose }: { parent?: Allowance; onClose: () => void }) {
  const [made, setMade] = useState<NewAllowance | null>(null);
  if (made?.api_key === undefined)
    return (
      <Dialog title="New allowance" onClose={onClose}>
        <AllowanceForm
          parent={parent}
          onMade={(allowance) => (allowance.api_key === undefined ? onClose() : setMade(allowance))}
          onClose={onClose}
        />
      </Dialog>
    );
  return (
    <Dialog title={`Key of ${allowanceName(made)}`} onClose={onClose}>
      <ShownOnce title="Copy this key now." label="the key" secret={made.api_key.key}>
        <CodeBlock label="a line for .env" code={`PURSER_API_KEY=${made.api_key.key}`} />
        <p>It spends under this allowance alone, and ends with it.</p>
      </ShownOnce>
      <Actions>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </Dialog>
  );
}

const START = {
  agent: '',
  amount: '',
  currency: '',
  period: 'TOTAL',
  expires: '',
  name: '',
  merchants: '',
  purpose: '',
  parent: '',
  labels: '',
  key: '',
};
type Values = typeof START;

function AllowanceForm({
  parent: given,
  onMade,
  onClose,
}: {
  parent: Allowance | undefined;
  onMade: (made: NewAllowance) => void;
  onClose: () => void;
}) {
  const { agents } = useAgentNames();
  const parents = useParents(given);
  const example = useExampleCurrency();
  const parentOf = ({ parent }: Values) => parents.find(({ id }) => id === parent);
  const currencyIn = (values: Values) =>
    parentOf(values)?.currency ?? (currencyOf(values.currency) || example);
  const form = useForm<Values>(
    { ...START, parent: given?.id ?? '' },
    async (values) => {
      const made = await purser.allowances.create(bodyOf(values, currencyIn(values), parentOf(values)));
      void invalidate('keys');
      await invalidate('allowances');
      onMade(made);
    },
    {
      fields: { amount_minor: 'amount', expires_at: 'expires' },
      check: (values) => problemsOf(values, currencyIn(values), parentOf(values)),
    },
  );
  const parent = parentOf(form.values);
  const currency = currencyIn(form.values);
  return (
    <form onSubmit={form.onSubmit} noValidate className={styles.form}>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <TextField
        label="Name"
        optional
        autoFocus
        maxLength={64}
        autoComplete="off"
        placeholder="Nightly build"
        {...form.field('name')}
      />
      {(parent?.agent ?? null) === null && (
        <SelectField
          label="Agent"
          {...form.field('agent')}
          options={[
            ['', parent === undefined ? 'Choose an agent' : 'Any agent'],
            ...agents
              .filter(({ status }) => status !== 'revoked')
              .map(({ slug, name }) => [slug, `${name} (${slug})`] as const),
          ]}
        />
      )}
      <div className={styles.pair}>
        <TextField
          label="Amount"
          required
          inputMode="decimal"
          prefix={currency}
          {...form.field('amount')}
          hint={
            parent === undefined
              ? amountHint(form.values.amount, currency)
              : `At most ${formatMoney(parent.amount_minor, currency)}, what it is part of.`
          }
        />
        {parent === undefined && (
          <TextField
            label="Currency"
            maxLength={3}
            autoComplete="off"
            placeholder={example}
            hint={`${example} if left empty.`}
            {...form.field('currency')}
          />
        )}
        <SelectField
          label="Period"
          hint="What the amount is for, in UTC."
          {...form.field('period')}
          options={PERIOD_OPTIONS.toReversed()}
        />
        <TextField
          label="Expires"
          type="datetime-local"
          optional={parent !== undefined}
          required={parent === undefined}
          hint={
            parent === undefined
              ? `In the time of ${timeZone()}, at most 366 days ahead.`
              : 'With what it is part of if left empty.'
          }
          {...form.field('expires')}
        />
      </div>
      <AreaField
        label="Merchants"
        optional
        rows={2}
        hint="Only these: names or hosts, one a line. Any if left empty."
        {...form.field('merchants')}
      />
      <AreaField
        label="Purpose"
        optional
        rows={2}
        maxLength={2_000}
        hint="In your own words. It vouches for the spends, so keep strangers’ words out of it."
        {...form.field('purpose')}
      />
      {parents.length > 0 && (
        <SelectField
          label="Part of"
          hint="Spends count toward that one, too. It gives agent, currency, expiry and labels."
          {...form.field('parent')}
          options={[
            ['', 'None'],
            ...parents.map(
              (each) =>
                [
                  each.id,
                  `${allowanceName(each)} (${formatMoney(each.amount_minor, each.currency)})`,
                ] as const,
            ),
          ]}
        />
      )}
      <AreaField
        label="Labels"
        optional
        rows={2}
        placeholder="customer:c42"
        hint="Up to ten for reports, one a line. They never change."
        {...form.field('labels')}
      />
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={form.values.key !== ''}
          onChange={(event) => form.set('key', event.target.checked ? 'true' : '')}
        />
        <span>Create key: one that spends under this allowance alone</span>
      </label>
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" busy={form.busy}>
          Create allowance
        </Button>
      </Actions>
    </form>
  );
}

/** The newest open allowances, and the one that was given even if it is older. */
function useParents(given: Allowance | undefined): readonly Allowance[] {
  const { data = [] } = useQuery({
    queryKey: ['allowances', 'parents'],
    queryFn: async () =>
      (await purser.allowances.list({ status: ['OPEN'], automatic: false, limit: PARENTS })).data,
  });
  return given === undefined || data.some(({ id }) => id === given.id) ? data : [given, ...data];
}

/** Labels as typed, one `key:value` a line. Null if a line has no key or no value. */
function labelsIn(text: string): Record<string, string> | null {
  const pairs = listOf(text).map((line) => /^([^:]+):(.+)$/.exec(line));
  if (pairs.some((pair) => pair === null)) return null;
  return Object.fromEntries(pairs.map((pair) => [(pair?.[1] ?? '').trim(), (pair?.[2] ?? '').trim()]));
}

function problemsOf(
  { agent, amount, currency: typed, expires, labels, key }: Values,
  currency: string,
  parent: Allowance | undefined,
): Partial<Record<keyof Values, string>> {
  const amount_problem = amountProblem(amount, currency, 'must be the most that may be spent');
  const needs_agent = agent === '' && (parent === undefined || (key !== '' && parent.agent === null));
  return {
    ...(needs_agent ? { agent: 'must be the agent that may use it' } : {}),
    ...(amount_problem === undefined ? {} : { amount: amount_problem }),
    ...(typed.trim() === '' || /^[A-Z]{3}$/.test(currency)
      ? {}
      : { currency: 'must be a currency such as EUR' }),
    ...((expires === '' ? parent === undefined : fromLocal(expires, timeZone()) === null)
      ? { expires: 'must be a date and time' }
      : {}),
    ...(labelsIn(labels) === null ? { labels: 'must have a key and a value, such as customer:c42' } : {}),
  };
}

function bodyOf(values: Values, currency: string, parent: Allowance | undefined): CreateAllowanceRequest {
  const merchants = listOf(values.merchants);
  const labels = labelsIn(values.labels) ?? {};
  const [name, purpose] = [values.name.trim(), values.purpose.trim()];
  return {
    amount_minor: typedAmount(values.amount, currency),
    period: values.period as Allowance['period'],
    ...(parent === undefined ? { currency } : { parent: parent.id }),
    ...(values.agent === '' || (parent?.agent ?? null) !== null ? {} : { agent: values.agent }),
    ...(values.expires === '' ? {} : { expires_at: fromLocal(values.expires, timeZone()) ?? '' }),
    ...(name === '' ? {} : { name }),
    ...(merchants.length === 0 ? {} : { merchants }),
    ...(purpose === '' ? {} : { purpose }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(values.key === '' ? {} : { key: true as const }),
  };
}
