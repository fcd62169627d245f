import { useId } from 'react';
import { Button } from '../../components/Button.tsx';
import { SelectField } from '../../components/Field.tsx';
import styles from './ReviewPolicy.module.css';

/** A name that can be chosen: a group, or a person's principal. */
export interface Choice {
  value: string;
  /** As the lists show it. */
  text: string;
  /** The name alone. */
  name: string;
}

/** A list of people or groups, each with a button that removes it, and a select that adds one. */
export function NamesField({
  label,
  hint,
  empty,
  names,
  choices,
  problem,
  may,
  onNames,
}: {
  label: string;
  hint?: string;
  /** Shown while the list is empty. */
  empty: string;
  names: readonly string[];
  choices: readonly Choice[];
  problem: string | undefined;
  may: boolean;
  onNames: (names: readonly string[]) => void;
}) {
  const id = useId();
  const left = choices.filter(({ value }) => !names.includes(value));
  const textOf = (name: string) => choices.find(({ value }) => value === name)?.text ?? name;
  return (
    <div className={styles.names}>
      <span id={id} className={styles.label}>
        {label}
      </span>
      {names.length === 0 ? (
        <p className={styles.soft}>{empty}</p>
      ) : (
        <ul aria-labelledby={id}>
          {names.map((name) => (
            <li key={name}>
              <span>{textOf(name)}</span>
              {may && (
                <Button
                  small
                  kind="quiet"
                  aria-label={`Remove ${textOf(name)} from ${label}`}
                  onClick={() => onNames(names.filter((each) => each !== name))}
                >
                  ✕
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {may && (
        <SelectField
          label={`Add to ${label}`}
          hideLabel
          hint={hint}
          problem={problem}
          value=""
          disabled={left.length === 0}
          options={[
            ['', left.length === 0 ? 'Nobody else' : 'Add…'],
            ...left.map(({ value, text }) => [value, text] as const),
          ]}
          onValue={(value) => value !== '' && onNames([...names, value])}
        />
      )}
    </div>
  );
}
