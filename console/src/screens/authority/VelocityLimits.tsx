import { Button } from '../../components/Button.tsx';
import { AreaField, SelectField, TextField } from '../../components/Field.tsx';
import { SpanFields } from '../../components/limits/SpanFields.tsx';
import { Card } from '../../components/Page.tsx';
import type { Problems } from '../../lib/authority/draft.ts';
import { amountHint } from '../../lib/authority/draft.ts';
import { newLimit, type VelocityDraft } from '../../lib/authority/velocity.ts';
import styles from './Authority.module.css';
import type { FieldOf } from './fields.ts';

/** The service's maximum. */
const MAX_LIMITS = 10;

const WINDOWS = [
  ['DAY', 'A calendar day'],
  ['WEEK', 'A week from Monday'],
  ['MONTH', 'A calendar month'],
  ['ROLLING', 'A rolling period'],
] as const;
const PER = [
  ['AGENT', 'All requests'],
  ['MERCHANT', 'Each merchant separately'],
  ['PAYEE', 'Each payee separately'],
] as const;
const BEYOND = [
  ['DENY', 'Deny'],
  ['REVIEW', 'Review'],
] as const;

/** Velocity limits, and the detection of duplicates. */
export function VelocityLimits({
  field,
  limits,
  currency,
  problems,
  may,
  onLimits,
}: {
  field: FieldOf;
  limits: readonly VelocityDraft[];
  currency: string;
  problems: Problems;
  may: boolean;
  onLimits: (limits: readonly VelocityDraft[]) => void;
}) {
  const duplicate = field('duplicate_window');
  return (
    <Card title="Velocity limits">
      {limits.length === 0 && (
        <p className={styles.status}>None besides the monthly budget. All limits apply.</p>
      )}
      {problems.velocity_limits !== undefined && (
        <p role="alert" className={styles.problem}>
          {problems.velocity_limits}
        </p>
      )}
      {limits.map((limit, i) => (
        <Limit
          // biome-ignore lint/suspicious/noArrayIndexKey: its name changes while it is typed
          key={i}
          limit={limit}
          number={i + 1}
          currency={currency}
          problemOf={(name) => problems[`velocity_limits[${i}]${name === '' ? '' : `.${name}`}`]}
          may={may}
          onChange={(to) => onLimits(limits.map((each, at) => (at === i ? { ...each, ...to } : each)))}
          onRemove={() => onLimits(limits.filter((_, at) => at !== i))}
        />
      ))}
      <div>
        <Button
          small
          disabled={!may || limits.length >= MAX_LIMITS}
          onClick={() => onLimits([...limits, newLimit(limits)])}
        >
          Add limit
        </Button>
      </div>
      <div className={styles.rows}>
        <h3>Duplicates</h3>
        <SpanFields
          label="Duplicate window"
          hint="A repeated request for the same amount at the same merchant."
          span={{ length: duplicate.value, unit: field('duplicate_unit').value }}
          problem={duplicate.problem}
          placeholder="No detection"
          may={may}
          onSpan={({ length, unit }) => {
            if (length !== undefined) duplicate.onValue(length);
            if (unit !== undefined) field('duplicate_unit').onValue(unit);
          }}
        />
        {duplicate.value.trim() !== '' && (
          <SelectField
            label="Duplicate requests"
            options={[
              ['REVIEW', 'Review'],
              ['DENY', 'Deny'],
            ]}
            {...field('on_duplicate')}
          />
        )}
      </div>
    </Card>
  );
}

function Limit({
  limit,
  number,
  currency,
  problemOf,
  may,
  onChange,
  onRemove,
}: {
  limit: VelocityDraft;
  number: number;
  currency: string;
  /** The problem of a field, or of the whole limit if `name` is empty. */
  problemOf: (name: string) => string | undefined;
  may: boolean;
  onChange: (to: Partial<VelocityDraft>) => void;
  onRemove: () => void;
}) {
  const whole = problemOf('');
  const field = (name: Exclude<keyof VelocityDraft, 'base'>, named: string = name) => ({
    value: limit[name],
    problem: problemOf(named),
    disabled: !may,
    onValue: (value: string) => onChange({ [name]: value }),
  });
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Limit {number}</legend>
      {whole !== undefined && (
        <p role="alert" className={styles.problem}>
          This limit {whole}.
        </p>
      )}
      <div className={styles.span}>
        <TextField label="Name" autoComplete="off" spellCheck={false} maxLength={64} {...field('name')} />
        <SelectField label="Period" options={WINDOWS} {...field('window')} />
        <Button small kind="quiet" disabled={!may} onClick={onRemove} aria-label={`Remove limit ${number}`}>
          Remove
        </Button>
      </div>
      {limit.window === 'ROLLING' && (
        <SpanFields
          label="Length"
          span={limit}
          problem={problemOf('window_seconds')}
          may={may}
          onSpan={onChange}
        />
      )}
      <div className={styles.amounts}>
        <TextField
          label="At most"
          inputMode="decimal"
          prefix={currency}
          placeholder="Any amount"
          hint={amountHint(limit.amount, currency)}
          {...field('amount', 'limit_amount_minor')}
        />
        <TextField
          label="Requests"
          inputMode="numeric"
          placeholder="Any number"
          {...field('count', 'limit_count')}
        />
        <SelectField label="Count" options={PER} {...field('per')} />
        <SelectField label="If exceeded" options={BEYOND} {...field('on_exceeded')} />
      </div>
      <details
        className={styles.more}
        open={limit.merchants !== '' || limit.action_types !== '' || undefined}
      >
        <summary>Only some requests</summary>
        <AreaField
          label="Merchants"
          optional
          hint="One per line. Only requests for these count."
          rows={2}
          {...field('merchants')}
        />
        <AreaField
          label="Action types"
          optional
          hint="One per line. Only requests of these types count."
          rows={2}
          {...field('action_types')}
        />
      </details>
    </fieldset>
  );
}
