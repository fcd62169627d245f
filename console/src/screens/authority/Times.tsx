import { dayName } from '@purser/contract/authority-words';
import { WEEKDAYS } from '@purser/contract/calendar';
import { useMemo } from 'react';
import { Button } from '../../components/Button.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { SpanFields } from '../../components/limits/SpanFields.tsx';
import { Card } from '../../components/Page.tsx';
import type { Problems } from '../../lib/authority/draft.ts';
import { type HoursDraft, OFFICE_HOURS } from '../../lib/authority/hours.ts';
import { timeZones } from '../../lib/authority/zones.ts';
import styles from './Authority.module.css';
import type { FieldOf } from './fields.ts';

/** The service's maximum. */
const MAX_ROWS = 14;

/** Validity and active hours. */
export function Times({
  field,
  hours,
  problems,
  may,
  onHours,
}: {
  field: FieldOf;
  hours: readonly HoursDraft[];
  problems: Problems;
  may: boolean;
  onHours: (hours: readonly HoursDraft[]) => void;
}) {
  const zones = useMemo(timeZones, []);
  const ttl = field('review_ttl');
  const change = (at: number, to: Partial<HoursDraft>) =>
    onHours(hours.map((row, i) => (i === at ? { ...row, ...to } : row)));
  return (
    <Card title="Times">
      <TextField
        label="Time zone"
        list="time-zones"
        autoComplete="off"
        spellCheck={false}
        placeholder="UTC"
        hint="Applies to every day and hour below. The monthly budget always uses UTC."
        {...field('time_zone')}
      />
      <datalist id="time-zones">
        {zones.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <div className={styles.amounts}>
        <TextField label="Valid from" type="datetime-local" optional {...field('valid_from')} />
        <TextField
          label="Valid until"
          type="datetime-local"
          optional
          hint="After this, every request is denied and all capabilities have expired."
          {...field('valid_until')}
        />
      </div>
      <SpanFields
        label="Reviews expire after"
        hint="Without it, as the installation sets it."
        span={{ length: ttl.value, unit: field('review_ttl_unit').value }}
        problem={ttl.problem}
        may={may}
        onSpan={({ length, unit }) => {
          if (length !== undefined) ttl.onValue(length);
          if (unit !== undefined) field('review_ttl_unit').onValue(unit);
        }}
      />
      <div className={styles.rows}>
        <h3>Active hours</h3>
        {hours.length === 0 && <p className={styles.status}>Any time.</p>}
        {problems.active_hours !== undefined && <p role="alert">{problems.active_hours}</p>}
        {hours.map((row, i) => (
          <HoursRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no ID
            key={i}
            row={row}
            number={i + 1}
            problemOf={(name) => problems[`active_hours[${i}].${name}`]}
            may={may}
            onChange={(to) => change(i, to)}
            onRemove={() => onHours(hours.filter((_, at) => at !== i))}
          />
        ))}
        <Button
          small
          disabled={!may || hours.length >= MAX_ROWS}
          onClick={() => onHours([...hours, OFFICE_HOURS])}
        >
          Add hours
        </Button>
        {hours.length > 0 && (
          <SelectField
            label="Outside active hours"
            options={[
              ['DENY', 'Deny'],
              ['REVIEW', 'Review'],
            ]}
            {...field('on_outside_hours')}
          />
        )}
      </div>
    </Card>
  );
}

function HoursRow({
  row,
  number,
  problemOf,
  may,
  onChange,
  onRemove,
}: {
  row: HoursDraft;
  number: number;
  problemOf: (name: string) => string | undefined;
  may: boolean;
  onChange: (to: Partial<HoursDraft>) => void;
  onRemove: () => void;
}) {
  const toggle = (day: string) =>
    onChange({
      days: row.days.includes(day) ? row.days.filter((each) => each !== day) : [...row.days, day],
    });
  const wrong_days = problemOf('days');
  const time = (name: 'from' | 'to', label: string) => (
    <TextField
      label={label}
      autoComplete="off"
      maxLength={5}
      disabled={!may}
      value={row[name]}
      problem={problemOf(name)}
      onValue={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <fieldset className={styles.row}>
      <legend className="visually-hidden">Active hours {number}</legend>
      <div className={styles.days}>
        {WEEKDAYS.map((day) => (
          <label key={day}>
            <input
              type="checkbox"
              aria-label={dayName(day)}
              checked={row.days.includes(day)}
              disabled={!may}
              onChange={() => toggle(day)}
            />
            <span aria-hidden="true">{dayName(day).slice(0, 2)}</span>
          </label>
        ))}
      </div>
      {wrong_days !== undefined && (
        <p role="alert" className={styles.problem}>
          This row {wrong_days}.
        </p>
      )}
      <div className={styles.span}>
        {time('from', 'From')}
        {time('to', 'To')}
        <Button small kind="quiet" disabled={!may} onClick={onRemove} aria-label={`Remove hours ${number}`}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}
