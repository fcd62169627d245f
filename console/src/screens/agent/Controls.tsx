import type { AgentWithBudgets } from '@purser/sdk';
import { useState } from 'react';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { useUnderWay } from '../../api/under-way.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { TextField } from '../../components/Field.tsx';
import { useUpdateAgent } from '../../components/ModeSwitch.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { RecordedAs } from '../../components/Who.tsx';
import styles from './AgentPage.module.css';

/** Pausing and revoking, with what each of them stops. */
export function Controls({ agent }: { agent: AgentWithBudgets }) {
  const may = useMay('admin');
  const why = !may && WHY_NOT.admin;
  const update = useUpdateAgent(agent);
  const [is_revoking, setRevoking] = useState(false);
  const affected = useUnderWay(agent.id);
  if (agent.status === 'revoked') {
    return <Notice title="This agent is revoked.">It never asks again. Its history stays.</Notice>;
  }
  const is_paused = agent.status === 'paused';
  return (
    <Card title="Stop it">
      <div className={styles.stop}>
        {update.error !== null && <ErrorNotice error={update.error} />}
        <div className={styles.stopRow}>
          <p>
            {is_paused
              ? 'It is paused: its requests are refused. Resuming gives its capabilities back that have not run out.'
              : `Pausing refuses its requests from the next one on, and its capabilities cannot be used until it is resumed. ${affected}`}
          </p>
          {is_paused ? (
            <Button why={why} busy={update.busy} onClick={() => update.run({ status: 'active' })}>
              Resume
            </Button>
          ) : (
            <Button
              kind="danger"
              why={why}
              busy={update.busy}
              onClick={() => update.run({ status: 'paused' })}
            >
              Pause
            </Button>
          )}
        </div>
        <div className={styles.stopRow}>
          <p>Revoking is for ever: it never asks again, and its open capabilities are void.</p>
          <Button kind="danger" why={why} onClick={() => setRevoking(true)}>
            Revoke
          </Button>
        </div>
        {may && <RecordedAs />}
      </div>
      {is_revoking && <Revoke agent={agent} affected={affected} onClose={() => setRevoking(false)} />}
    </Card>
  );
}

function Revoke({
  agent,
  affected,
  onClose,
}: {
  agent: AgentWithBudgets;
  affected: string;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const update = useUpdateAgent(agent, onClose);
  return (
    <Dialog title={`Revoke ${agent.name}?`} onClose={onClose}>
      <p>This cannot be taken back. {affected}</p>
      {update.error !== null && <ErrorNotice error={update.error} />}
      <form
        style={{ display: 'grid', gap: '1rem' }}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === agent.slug) void update.run({ status: 'revoked' });
        }}
      >
        <TextField
          label={`Type ${agent.slug} to revoke it`}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onValue={setTyped}
        />
        <Actions recorded>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="danger-primary"
            type="submit"
            busy={update.busy}
            why={typed !== agent.slug && 'Type its slug first.'}
          >
            Revoke
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
