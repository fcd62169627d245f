import styles from './charts.module.css';

/** A choice between few values, each a button. */
export function Switch({
  label,
  options,
  value,
  onValue,
}: {
  label: string;
  options: readonly string[];
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <fieldset className={styles.switch}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((each) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onValue(each)}>
          {each}
        </button>
      ))}
    </fieldset>
  );
}
