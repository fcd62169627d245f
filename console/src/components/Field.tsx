import { type ReactNode, useId } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './Field.module.css';

/** Attributes that connect a control with its label, hint and problem. */
export interface ControlProps {
  id: string;
  className: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** The problem with the value, shown below the field. */
  problem?: string | null | undefined;
  optional?: boolean | undefined;
  /** Shows the label only to screen readers. */
  hideLabel?: boolean | undefined;
  className?: string | undefined;
  children: (control: ControlProps) => ReactNode;
}

/** A control with its label, hint and problem. */
export function Field({ label, hint, problem, optional, hideLabel, className, children }: FieldProps) {
  const id = useId();
  const is_wrong = problem !== undefined && problem !== null;
  const described = cx(hint !== undefined && `${id}-hint`, is_wrong && `${id}-problem`);
  return (
    <div className={cx(styles.field, className)}>
      <label htmlFor={id} className={hideLabel === true ? 'visually-hidden' : styles.label}>
        {label}
      </label>
      {children({
        id,
        className: styles.control ?? '',
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': is_wrong || undefined,
      })}
      {is_wrong && (
        <p id={`${id}-problem`} role="alert" className={styles.problem}>
          {capitalised(problem)}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles.hint}>
          {optional === true && <span className={styles.optional}>Optional. </span>}
          {hint}
        </p>
      )}
      {hint === undefined && optional === true && <p className={styles.hint}>Optional.</p>}
    </div>
  );
}

/** The service's messages continue a sentence that starts with the field's name. */
function capitalised(problem: string): string {
  const text = problem.charAt(0).toUpperCase() + problem.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

type Input = React.InputHTMLAttributes<HTMLInputElement>;

/** A labelled single-line text field. */
export function TextField({
  label,
  hint,
  problem,
  optional,
  hideLabel,
  prefix,
  onValue,
  ...input
}: Omit<FieldProps, 'children'> &
  Omit<Input, 'prefix' | 'onChange'> & { prefix?: string | undefined; onValue: (value: string) => void }) {
  return (
    <Field label={label} hint={hint} problem={problem} optional={optional} hideLabel={hideLabel}>
      {(control) => {
        const box = <input {...input} {...control} onChange={(event) => onValue(event.target.value)} />;
        if (prefix === undefined) return box;
        return (
          <span className={styles.row}>
            <span className={styles.prefix} aria-hidden="true">
              {prefix}
            </span>
            {box}
          </span>
        );
      }}
    </Field>
  );
}

/** A labelled native select. */
export function SelectField({
  label,
  hint,
  problem,
  hideLabel,
  className,
  options,
  onValue,
  ...select
}: Omit<FieldProps, 'children'> &
  Omit<React.SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> & {
    options: readonly (readonly [value: string, text: string])[];
    onValue: (value: string) => void;
  }) {
  return (
    <Field label={label} hint={hint} problem={problem} hideLabel={hideLabel} className={className}>
      {(control) => (
        <select {...select} {...control} onChange={(event) => onValue(event.target.value)}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A labelled multi-line text field. */
export function AreaField({
  label,
  hint,
  problem,
  optional,
  hideLabel,
  onValue,
  ...area
}: Omit<FieldProps, 'children'> &
  Omit<React.TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'> & {
    onValue: (value: string) => void;
  }) {
  return (
    <Field label={label} hint={hint} problem={problem} optional={optional} hideLabel={hideLabel}>
      {(control) => (
        <textarea rows={3} {...area} {...control} onChange={(event) => onValue(event.target.value)} />
      )}
    </Field>
  );
}
