import type { LedgerVerification } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Facts } from '../../components/Page.tsx';
import { Time } from '../../components/Value.tsx';
import { useForm } from '../../lib/hooks/use-form.ts';
import { useNow } from '../../lib/hooks/use-now.ts';
import { duration } from '../../lib/time.ts';
import styles from './Ledger.module.css';
import { breakWords, unfinishedOf, verdictOf } from './verdict.ts';

/**
 * Verifies the chain on the service and shows the result. If the URL names a first entry, the verification starts by itself.
 */
export function Verify({ since }: { since: string }) {
  const [found, setFound] = useState<LedgerVerification | null>(null);
  const [began_ms, setBegan] = useState(0);
  const form = useForm(
    { since },
    async (values) => {
      setFound(null);
      setBegan(Date.now());
      const from = values.since.trim();
      // A retry after a timeout would take as long again.
      setFound(await purser.ledger.verify(from === '' ? {} : { since: Number(from) }, { maxRetries: 0 }));
      // The overview shows the time of the last verification.
      await invalidate('overview');
    },
    {
      check: (values) => (/^\d{0,15}$/.test(values.since.trim()) ? {} : { since: 'must be an entry number' }),
    },
  );
  const is_begun = useRef(false);
  useEffect(() => {
    if (since === '' || is_begun.current) return;
    is_begun.current = true;
    void form.onSubmit();
  });
  const unfinished = form.error === null ? null : unfinishedOf(form.error);
  return (
    <Card title="Verify history">
      <form onSubmit={form.onSubmit} noValidate className={styles.verify}>
        <TextField
          label="Only after entry"
          optional
          inputMode="numeric"
          hint="Leave empty to verify from the beginning."
          {...form.field('since')}
        />
        <Button kind="primary" type="submit" busy={form.busy}>
          Verify
        </Button>
      </form>
      {form.error !== null && unfinished === null && <ErrorNotice error={form.error} />}
      {unfinished !== null && (
        <Notice tone="bad" title={unfinished.title}>
          {unfinished.text}
        </Notice>
      )}
      <div role="status" className={styles.result}>
        {form.busy && <Running began_ms={began_ms} />}
        {found !== null && <Verdict found={found} />}
      </div>
    </Card>
  );
}

/** Progress of the verification. Changes only every ten seconds, since screen readers announce it. */
function Running({ began_ms }: { began_ms: number }) {
  const elapsed_ms = Math.max(0, useNow(10_000) - began_ms);
  return (
    <p>
      Recomputing every hash from the stored rows…
      {elapsed_ms >= 10_000 &&
        ` Still running after ${duration(elapsed_ms)}. A history of millions of entries takes minutes. No result yet.`}
    </p>
  );
}

function Verdict({ found }: { found: LedgerVerification }) {
  const { title, text } = verdictOf(found);
  return (
    <>
      <Notice tone={found.valid ? 'good' : 'bad'} title={title}>
        {text}
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
          ['Duration', `${(found.duration_ms / 1000).toFixed(2)} s`],
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
