import type { Decision, DecisionLink, NewDecisionLink } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { invalidate } from '../../api/live.ts';
import { useMay } from '../../api/queries.ts';
import { Author } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { SelectField, TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { CopyButton, Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { words } from '../../lib/words.ts';
import styles from './Share.module.css';

const LIVES = [
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;

/** The button and dialog that share a decision with somebody outside the workspace. Only for people who may review. */
export function Share({ decision }: { decision: Pick<Decision, 'decision_id'> }) {
  const may = useMay('review');
  const [is_open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Share</Button>
      {is_open && <ShareDialog id={decision.decision_id} onClose={() => setOpen(false)} />}
    </>
  );
}

function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [seconds, setSeconds] = useState<string>(LIVES[1][0]);
  const [made, setMade] = useState<NewDecisionLink | null>(null);
  const making = useAction(async () => {
    setMade(await purser.decisions.links.create(id, { expires_in_seconds: Number(seconds) }));
    void invalidate('decision', id);
  });
  return (
    <Dialog title="Share this decision" onClose={onClose}>
      {made === null ? (
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            void making.run();
          }}
        >
          <p>
            Anyone who has the link sees this decision, and that you shared it. They see nothing else and need
            no account.
          </p>
          {making.error !== null && <ErrorNotice error={making.error} />}
          <SelectField label="Expires after" options={LIVES} value={seconds} onValue={setSeconds} />
          <Actions>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={making.busy}>
              Create link
            </Button>
          </Actions>
        </form>
      ) : (
        <div className={styles.form}>
          <Notice tone="warn" title="Copy this link now.">
            Purser cannot show it again.
          </Notice>
          <div className={styles.link}>
            <TextField
              label="Link"
              readOnly
              value={made.url}
              onFocus={(event) => event.target.select()}
              onValue={() => {}}
            />
            <CopyButton text={made.url} label="Copy link" />
          </div>
          <p>
            It expires <Time at={made.expires_at} exact />, or when you revoke it here.
          </p>
          <Actions>
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </Actions>
        </div>
      )}
      <Links id={id} />
    </Dialog>
  );
}

/** The links of a decision, newest first. */
function Links({ id }: { id: string }) {
  const list = useQuery({
    queryKey: ['decision', id, 'links'],
    queryFn: async () => (await purser.decisions.links.list(id, { limit: 50 })).data,
  });
  const revoking = useAction(async (link: DecisionLink) => {
    await purser.decisions.links.delete(id, link.link_id);
    await list.refetch();
  });
  const links = list.data ?? [];
  if (list.isError) return <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />;
  if (links.length === 0) return null;
  return (
    <section aria-label="Links of this decision">
      <h3>Links</h3>
      {revoking.error !== null && <ErrorNotice error={revoking.error} />}
      <ul className={styles.links}>
        {links.map((link) => (
          <li key={link.link_id}>
            <span>
              <Author {...link.created_by} />, <Time at={link.created_at} />
              <span className={styles.state}>
                {link.status === 'active' ? (
                  <>
                    Expires <Time at={link.expires_at} exact />
                  </>
                ) : (
                  words(link.status)
                )}
              </span>
            </span>
            {link.status === 'active' && (
              <Button small onClick={() => void revoking.run(link)}>
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
