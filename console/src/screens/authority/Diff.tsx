import type { Change } from '../../lib/authority/diff.ts';
import styles from './Authority.module.css';

/** The differences between two policies, field by field. */
export function Diff({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <p>No differences.</p>;
  return (
    <dl className={styles.diff}>
      {changes.map(({ name, before, after, removed, added }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {before !== null && <del>{before}</del>}
            {removed.map((each) => (
              <del key={each}>{each}</del>
            ))}
            {after !== null && <ins>{after}</ins>}
            {added.map((each) => (
              <ins key={each}>{each}</ins>
            ))}
            {after === null && before !== null && <span className={styles.status}>no longer set</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
