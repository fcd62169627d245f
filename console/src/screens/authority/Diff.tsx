import type { AuthorityChange } from '@purser/contract/authority-changes';
import styles from './Authority.module.css';

const WIDENS = { yes: 'Widens', maybe: 'May widen', no: '' } as const;

/** The differences between two policies, field by field, with a mark where one widens. */
export function Diff({ changes }: { changes: readonly AuthorityChange[] }) {
  if (changes.length === 0) return <p>No differences.</p>;
  const fields = [...new Set(changes.map(({ field }) => field))];
  return (
    <dl className={styles.diff}>
      {fields.map((field) => {
        const of_field = changes.filter((each) => each.field === field);
        const [first] = of_field as [AuthorityChange];
        const widest = of_field.some((each) => each.widens === 'yes')
          ? 'yes'
          : of_field.some((each) => each.widens === 'maybe')
            ? 'maybe'
            : 'no';
        return (
          <div key={field}>
            <dt>
              {first.label} {widest !== 'no' && <span className={styles.status}>{WIDENS[widest]}</span>}
            </dt>
            <dd>
              {of_field.map(({ before }) => before !== null && <del key={before}>{before}</del>)}
              {of_field.map(({ after }) => after !== null && <ins key={after}>{after}</ins>)}
              {!first.is_entry && first.after === null && (
                <span className={styles.status}>no longer set</span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
