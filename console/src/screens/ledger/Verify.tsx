import type { LedgerVerification } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Facts } from '../../components/Page.tsx';
import { Time } from '../../components/Value.tsx';
import { useForm } from '../../lib/use-form.ts';
import styles from './Ledger.module.css';
import { breakWords, verdictOf } from './verdict.ts';

/** Has the service rebuild the chain from the rows, and says plainly what came of it. */
export function Verify({ since }: { since: string }) {
  const [found, setFound] = useState<LedgerVerification | null>(null);
  const form = useForm(
    { since },
    async (values) => {
      setFound(null);
      const from = values.since.trim();
      setFound(await purser.ledger.verify(from === '' ? {} : { since: Number(from) }));
    },
    {
      check: (values) =>
        /^\d{0,15}$/.test(values.since.trim()) ? {} : { since: 'must be the number of an entry' },
    },
  );
  return (
    <Card title="Is the history what it was?">
      <form onSubmit={form.onSubmit} noValidate className={styles.verify}>
        <TextField
          label="Only after entry"
          optional
          inputMode="numeric"
          hint="Without it, from the beginning."
          {...form.field('since')}
        />
        <Button kind="primary" type="submit" busy={form.busy}>
          Verify
        </Button>
      </form>
      {form.error !== null && <ErrorNotice error={form.error} />}
      <div role="status" className={styles.result}>
        {form.busy && <p>Every hash is being made again from the stored rows…</p>}
        {found !== null && <Verdict found={found} />}
      </div>
    </Card>
  );
}

function Verdict({ found }: { found: LedgerVerification }) {
  const { title, says } = verdictOf(found);
  return (
    <>
      <Notice tone={found.valid ? 'good' : 'bad'} title={title}>
        {says}
      </Notice>
      {found.breaks.length > 0 && (
        <ol className={styles.breaks}>
          {found.breaks.map((each) => (
            <li key={`${each.seq} ${each.kind}`}>
              <Link to={`/ledger/${each.seq}`}>Entry {each.seq}</Link>: {breakWords(each.kind)}{' '}
              <span className={styles.soft}>{each.detail}</span>
            </li>
          ))}
        </ol>
      )}
      <Facts
        of={[
          ['Checked', <Time key="t" at={found.checked_at} exact />],
          ['Entries', found.events_checked.toLocaleString('en-US')],
          ['Took', `${(found.duration_ms / 1000).toFixed(2)} s`],
          [
            'Head',
            <>
              Entry {found.head.seq}
              <code className={styles.hash}>{found.head.hash}</code>
            </>,
          ],
        ]}
      />
    </>
  );
}
