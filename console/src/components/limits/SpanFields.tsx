import { type Span, UNIT_OPTIONS } from '../../lib/authority/velocity.ts';
import { SelectField, TextField } from '../Field.tsx';
import styles from './limits.module.css';

/** A number and its unit. */
export function SpanFields({
  label,
  hint,
  span,
  problem,
  placeholder,
  may,
  onSpan,
}: {
  label: string;
  hint?: string;
  span: Span;
  problem: string | undefined;
  placeholder?: string;
  may: boolean;
  onSpan: (to: Partial<Span>) => void;
}) {
  return (
    <div className={styles.span}>
      <TextField
        label={label}
        hint={hint}
        inputMode="numeric"
        autoComplete="off"
        placeholder={placeholder}
        disabled={!may}
        value={span.length}
        problem={problem}
        onValue={(length) => onSpan({ length })}
      />
      <SelectField
        label="Unit"
        options={UNIT_OPTIONS}
        disabled={!may}
        value={span.unit}
        onValue={(unit) => onSpan({ unit })}
      />
    </div>
  );
}
