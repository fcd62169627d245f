import type { LedgerVerification } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { purser } from '../../api/client.ts';
import { makeOld } from '../../api/live.ts';
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
 * Has the service rebuild the chain from the rows, and says plainly what came of it. Where the address says from which
 * entry on, it begins by itself.
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
      // What took too long once takes as long again.
      setFound(await purser.ledger.verify(from === '' ? {} : { since: Number(from) }, { maxRetries: 0 }));
      // It says when the history was verified last.
      await makeOld('overview');
    },
    {
      check: (values) =>
        /^\d{0,15}$/.test(values.since.trim()) ? {} : { since: 'must be the number of an entry' },
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
      {form.error !== null && unfinished === null && <ErrorNotice error={form.error} />}
      {unfinished !== null && (
        <Notice tone="bad" title={unfinished.title}>
          {unfinished.says}
        </Notice>
      )}
      <div role="status" className={styles.result}>
        {form.busy && <Running began_ms={began_ms} />}
        {found !== null && <Verdict found={found} />}
      </div>
    </Card>
  );
}

/** That it is still under way, and for how long; said anew only every ten seconds, since it is read aloud. */
function Running({ began_ms }: { began_ms: number }) {
  const so_far_ms = Math.max(0, useNow(10_000) - began_ms);
  return (
    <p>
      Every hash is being made again from the stored rows…
      {so_far_ms >= 10_000 &&
        ` Still running after ${duration(so_far_ms)}: a history of millions of entries takes minutes. Nothing is known of it yet.`}
    </p>
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
