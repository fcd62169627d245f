import type { ShadowReport } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { Card, Facts } from '../../components/Page.tsx';
import type { Search } from '../../lib/search.ts';
import { duration } from '../../lib/time.ts';
import { words } from '../../lib/words.ts';
import styles from './Report.module.css';

const ASSESSMENTS = ['PURPOSE_ALIGNED', 'PURPOSE_MISALIGNED', 'PURPOSE_UNCLEAR'] as const;
const percent = (share: number | null) => (share === null ? 'not known yet' : `${Math.round(share * 100)}%`);

/** Labels compared with assessments. */
export function Labels({ report, filters }: { report: ShadowReport; filters: Search }) {
  const { labels, reviews } = report;
  return (
    <Card
      title="Labels and reviews"
      aside={
        <Link to="/decisions" search={{ ...filters, labeled: 'false' }}>
          Label more
        </Link>
      }
    >
      <Facts
        of={[
          ['Labelled', `${labels.labeled} (${percent(labels.coverage)})`],
          [
            'Precision',
            labels.precision === null
              ? 'not known yet'
              : `${percent(labels.precision)} of stopped requests were stopped correctly`,
          ],
          [
            'Recall',
            labels.recall === null
              ? 'not known yet'
              : `${percent(labels.recall)} of requests that should be stopped were`,
          ],
          [
            'Reviews',
            `${reviews.pending} pending, ${reviews.allowed} allowed, ${reviews.denied} denied${
              reviews.median_seconds === null
                ? ''
                : `, median time to review ${duration(reviews.median_seconds * 1000)}`
            }`,
          ],
        ]}
      />
      {labels.labeled > 0 && (
        <table className={styles.matrix}>
          <caption className={styles.sub} style={{ textAlign: 'left' }}>
            Rows: assessment. Columns: label.
          </caption>
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Assessed</span>
              </th>
              {ASSESSMENTS.map((each) => (
                <th key={each} scope="col">
                  {words(each)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ASSESSMENTS.map((row) => (
              <tr key={row}>
                <th scope="row">{words(row)}</th>
                {ASSESSMENTS.map((column) => {
                  const count = labels.matrix[row][column];
                  const is_bad = row === 'PURPOSE_ALIGNED' && column === 'PURPOSE_MISALIGNED' && count > 0;
                  return (
                    <td
                      key={column}
                      data-same={(row === column && count > 0) || undefined}
                      data-bad={is_bad || undefined}
                    >
                      {count}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
