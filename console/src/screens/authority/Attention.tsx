import { useId } from 'react';
import styles from './Authority.module.css';

const LEVELS = [
  ['LOW', 'Low', 'Asks about merchants that nobody vouches for, and about contradictions.'],
  ['NORMAL', 'Normal', 'Also about goods plainly of another trade, and conditions that a constraint sets.'],
  ['HIGH', 'High', 'Also about any word that nobody has allowed at the merchant.'],
] as const;

/** The choice of what reviewers are asked about. Each question is asked once. */
export function Attention({
  value,
  problem,
  disabled,
  onValue,
}: {
  value: string;
  problem: string | undefined;
  disabled: boolean;
  onValue: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles.levels}>
      <legend>Attention</legend>
      {LEVELS.map(([level, label, meaning]) => (
        <label key={level}>
          <input
            type="radio"
            name={name}
            value={level}
            checked={value === level}
            disabled={disabled}
            onChange={() => onValue(level)}
          />
          <span>
            <strong>{label}</strong> {meaning}
          </span>
        </label>
      ))}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </fieldset>
  );
}
