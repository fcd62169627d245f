import type { Budget, NewStandingApproval } from '@purser/sdk';
import { fromLocal, toLocal } from '../../lib/authority/zones.ts';
import { PERIOD_OPTIONS } from '../../lib/budgets.ts';
import type { Form } from '../../lib/hooks/use-form.ts';
import { amountProblem, formatMoney, typedAmount } from '../../lib/money.ts';
import { timeZone } from '../../lib/time.ts';
import { SelectField, TextField } from '../Field.tsx';
import styles from './OneChoice.module.css';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;
const MAX_DAYS = 366;
const DATE_LENGTH = 10;

/** The fields of a standing approval as a reviewer types them. */
export type StandingValues = {
  amount: string;
  period: string;
  /** The last day on which it answers, in the browser's time zone. */
  until: string;
};

const dayIn = (days: number) =>
  toLocal(new Date(Date.now() + days * DAY_MS).toISOString(), timeZone()).slice(0, DATE_LENGTH);

/** The fields of a new standing approval: no amount yet, a month, ninety days. */
export const newStanding = (): StandingValues => ({
  amount: '',
  period: 'MONTH',
  until: dayIn(DEFAULT_DAYS),
});

/** The start of the day after the last one, when it no longer answers; null where the field has no date. */
const endOf = (until: string): string | null => {
  const day_ms = Date.parse(`${until}T00:00Z`);
  if (Number.isNaN(day_ms)) return null;
  return fromLocal(new Date(day_ms + DAY_MS).toISOString().slice(0, '2026-12-31T00:00'.length), timeZone());
};

/** The problems of the fields, before anything is sent. `most_minor` is the most that the reviewer may grant. */
export function standingProblems(
  { amount, until }: StandingValues,
  currency: string,
  most_minor: number | null,
): Partial<Record<keyof StandingValues, string>> {
  const is_too_much = most_minor !== null && typedAmount(amount, currency) > most_minor;
  const amount_problem = is_too_much
    ? `must be at most ${formatMoney(most_minor, currency)}, the most that you may grant`
    : amountProblem(amount, currency, 'must be the most that may be spent in a period');
  const end = endOf(until);
  const days = end === null ? Number.NaN : (Date.parse(end) - Date.now()) / DAY_MS;
  return {
    ...(amount_problem === undefined ? {} : { amount: amount_problem }),
    ...(days > 0 && days <= MAX_DAYS ? {} : { until: `must be a day in the next ${MAX_DAYS - 1} days` }),
  };
}

/** The body of the standing approval that fields without problems ask for. */
export function standingOf({ amount, period, until }: StandingValues, currency: string): NewStandingApproval {
  return {
    amount_minor: typedAmount(amount, currency),
    period: period as Budget['period'],
    expires_at: endOf(until) ?? '',
  };
}

/** The fields of "Up to … a month": Amount, Period, Until. */
export function StandingFields({
  form,
  currency,
  most_minor,
}: {
  form: Pick<Form<StandingValues>, 'field'>;
  currency: string;
  /** The most that the reviewer may grant; null: any amount. */
  most_minor: number | null;
}) {
  return (
    <div className={styles.standing}>
      <TextField
        label="Amount"
        required
        inputMode="decimal"
        autoComplete="off"
        prefix={currency}
        hint={most_minor === null ? undefined : `You may grant up to ${formatMoney(most_minor, currency)}.`}
        {...form.field('amount')}
      />
      <SelectField label="Period" {...form.field('period')} options={PERIOD_OPTIONS} />
      <TextField label="Until" type="date" required {...form.field('until')} />
    </div>
  );
}
