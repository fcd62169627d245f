import { ATTENTION_LEVELS } from '@purser/contract/purpose/attention';
import type { Simulation } from '@purser/sdk';
import { useId } from 'react';
import { ATTENTION_WORDS, attentionInWords } from '../../lib/authority/attention.ts';
import styles from './Attention.module.css';

/** The choice of what reviewers are asked about, with what each level would have asked and missed. */
export function Attention({
  compared,
  value,
  problem,
  disabled,
  onValue,
}: {
  /** Undefined before the first simulation. */
  compared: Simulation['attention'] | undefined;
  value: string;
  problem: string | undefined;
  disabled: boolean;
  onValue: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles.levels}>
      <legend>Attention</legend>
      {ATTENTION_LEVELS.map((level) => (
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
            <strong>{ATTENTION_WORDS[level].label}</strong> {ATTENTION_WORDS[level].meaning}
            {compared !== undefined && (
              <span className={styles.meant}>{attentionInWords(compared, level)}</span>
            )}
          </span>
        </label>
      ))}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </fieldset>
  );
}
