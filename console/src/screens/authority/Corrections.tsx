import type { AuthorityReading } from '@purser/sdk';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import {
  ADDITIONS,
  type Addition,
  type Correction,
  type Corrections,
  withAlso,
  withNot,
  withoutAlso,
  withoutNot,
} from '../../lib/authority/corrections.ts';
import styles from './Authority.module.css';

export type OnCorrect = (corrections: Corrections | null) => void;

type Shown = Correction & { from: AuthorityReading['wanted'][number]['from'] };

const MAX_WORDS = 400;

/**
 * Corrects a reading: says that a chip is wrong, or adds one. Undefined without the right to edit. `message` tells screen
 * readers what changed, and takes the focus, since the button that was pressed goes away with its chip.
 */
export function useCorrections(corrections: Corrections | null, onCorrect: OnCorrect | undefined) {
  const status = useRef<HTMLParagraphElement>(null);
  const [message, setMessage] = useState('');
  const say = (text: string) => {
    setMessage(text);
    status.current?.focus();
  };
  if (onCorrect === undefined) return undefined;
  return {
    corrections,
    status,
    message,
    reject: ({ kind, words, from }: Shown) => {
      if (from.field === 'purpose.reading.also') onCorrect(withoutAlso(corrections, from.index ?? 0));
      else onCorrect(withNot(corrections, { kind, words }));
      say(`“${words}” no longer counts. Save to keep this.`);
    },
    restore: (chip: Correction) => {
      onCorrect(withoutNot(corrections, chip));
      say(`“${chip.words}” is read as before.`);
    },
    add: (added: Addition) => {
      onCorrect(withAlso(corrections, added));
      setMessage(`“${added.words}” now counts. Save to keep this.`);
    },
  };
}

export type Correcting = ReturnType<typeof useCorrections>;

/** The button that says that a chip is wrong. */
export function NotThis({ chip, correcting }: { chip: Shown; correcting: Correcting }) {
  if (correcting === undefined) return null;
  const is_added = chip.from.field === 'purpose.reading.also';
  const text = is_added ? 'Remove' : 'Not this';
  return (
    <Button
      small
      kind="quiet"
      aria-label={`${text}: ${chip.words}, ${chip.kind}`}
      onClick={() => correcting.reject(chip)}
    >
      {text}
    </Button>
  );
}

/** The readings that were said to be wrong, and the form that adds one. */
export function CorrectionsForm({ correcting }: { correcting: NonNullable<Correcting> }) {
  const { corrections, restore, add, status, message } = correcting;
  const [kind, setKind] = useState<Addition['kind']>('wanted');
  const [words, setWords] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (words.trim() === '') return;
    add({ kind, words: words.trim() });
    setWords('');
  };
  const not = corrections?.not ?? [];
  return (
    <>
      <p ref={status} role="status" tabIndex={-1} className={styles.status}>
        {message}
      </p>
      {not.length > 0 && (
        <dl className={styles.terms}>
          <div>
            <dt>You said not this</dt>
            <dd>
              <ul>
                {not.map((chip) => (
                  <li key={`${chip.kind} ${chip.words}`} className={styles.chip}>
                    <span>
                      <s>{chip.words}</s>
                      <span className={styles.was}> {chip.kind.replace('_', ' ')}</span>
                    </span>
                    <Button
                      small
                      kind="quiet"
                      aria-label={`Undo: ${chip.words}, ${chip.kind}`}
                      onClick={() => restore(chip)}
                    >
                      Undo
                    </Button>
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        </dl>
      )}
      <form className={styles.also} aria-label="Add to the reading" onSubmit={submit}>
        <SelectField
          label="Also"
          options={ADDITIONS}
          value={kind}
          onValue={(value) => setKind(value as Addition['kind'])}
        />
        <TextField label="Words" maxLength={MAX_WORDS} value={words} onValue={setWords} />
        <Button type="submit" why={words.trim() === '' && 'Enter the words first.'}>
          Add
        </Button>
      </form>
    </>
  );
}
