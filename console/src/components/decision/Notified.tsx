import type { Sheet } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { NOTICE_WORDS } from '../../lib/channels.ts';
import { visible } from '../../lib/visible.ts';
import { StateBadge } from '../Badge.tsx';
import { Time } from '../Value.tsx';
import styles from './Sheet.module.css';
import { sheetQuery } from './Sheet.tsx';

/** Says who was notified of a request, and who will be. Shows nothing where nobody is. */
export function Notified({ decision_id }: { decision_id: string }) {
  const { data } = useQuery(sheetQuery(decision_id));
  const notices = data?.notices ?? [];
  if (notices.length === 0) return null;
  return (
    <details className={styles.rest}>
      <summary>
        {notices.length === 1
          ? '1 notice about this request'
          : `${notices.length} notices about this request`}
      </summary>
      <ul className={styles.clauses}>
        {notices.map((notice) => (
          <li key={notice.id}>
            {visible(notice.recipient ?? '–')} · {kindOf(notice)} · <StateBadge state={notice.status} />{' '}
            <Time at={notice.due_at} />
          </li>
        ))}
      </ul>
    </details>
  );
}

const kindOf = ({ kind }: Sheet['notices'][number]): string =>
  (NOTICE_WORDS as Readonly<Record<string, string>>)[kind] ?? kind;
