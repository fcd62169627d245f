import type { ReactNode } from 'react';
import { useTitle } from '../../components/Page.tsx';
import styles from './SignedOutLayout.module.css';

/** Layout of the screens before sign-in. */
export function SignedOutLayout({
  title,
  lead,
  foot,
  children,
}: {
  title: string;
  lead?: ReactNode;
  foot?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <main className={styles.entrance}>
      <div className={styles.brand}>
        <img src="/console/icon.svg" alt="" />
        Purser
      </div>
      <div className={styles.box}>
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {children}
      </div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </main>
  );
}
