import type { ShadowReport } from '@purser/sdk';
import { Card } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { ATTENTION_WORDS } from '../../lib/authority/attention.ts';
import styles from './Report.module.css';

/** The effect of each level of attention on the requests of the period. */
export function Attention({ report }: { report: ShadowReport }) {
  const { evaluated, wrong, levels } = report.attention;
  if (evaluated === 0) return null;
  return (
    <Card title="Attention" flush>
      <p className={styles.inQuestions}>
        Each level on the newest {evaluated} {evaluated === 1 ? 'request' : 'requests'}, {wrong} of them found
        wrong by people. The policy of an agent sets its level.
      </p>
      <Table
        label="Levels of attention"
        rows={levels}
        keyOf={({ level }) => level}
        columns={[
          {
            name: 'Level',
            heading: true,
            wrap: true,
            cell: ({ level }) => (
              <>
                {ATTENTION_WORDS[level].label}
                <div className={styles.sub}>{ATTENTION_WORDS[level].meaning}</div>
              </>
            ),
          },
          { name: 'Requests asked about', number: true, cell: ({ asked }) => asked },
          { name: 'Questions', number: true, cell: ({ questions }) => questions },
          { name: 'Wrong and asked', number: true, cell: ({ found }) => found },
          { name: 'Wrong and missed', number: true, cell: ({ missed }) => missed },
        ]}
      />
    </Card>
  );
}
