import type { AgentWithBudgets } from '@purser/sdk';
import { useState } from 'react';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { useStopImpact } from '../../api/stop-impact.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { TextField } from '../../components/Field.tsx';
import { useUpdateAgent } from '../../components/ModeSwitch.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import styles from './AgentPage.module.css';

/** Buttons to pause and revoke an agent, with their effects. */
export function Controls({ agent }: { agent: AgentWithBudgets }) {
  const may = useMay('admin');
  const why = !may && WHY_NOT.admin;
  const update = useUpdateAgent(agent);
  const [is_revoking, setRevoking] = useState(false);
  const affected = useStopImpact(agent.id);
  if (agent.status === 'revoked') {
    return <Notice title="This agent is revoked.">It cannot make requests. Its history stays.</Notice>;
  }
  const is_paused = agent.status === 'paused';
  return (
    <Card title="Stop this agent">
      <div className={styles.stop}>
        {update.error !== null && <ErrorNotice error={update.error} />}
        <div className={styles.stopRow}>
          <p>
            {is_paused
              ? 'Paused: all requests are refused. Resuming restores capabilities that have not expired.'
              : `Pausing refuses new requests and blocks capabilities until you resume the agent. ${affected}`}
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
          <p>
            Revoking is permanent: the agent can never send requests again, and its open capabilities become
            void.
          </p>
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
      <p>This cannot be undone. {affected}</p>
      {update.error !== null && <ErrorNotice error={update.error} />}
      <form
        style={{ display: 'grid', gap: '1rem' }}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === agent.slug) void update.run({ status: 'revoked' });
        }}
      >
        <TextField
          label={`Type ${agent.slug} to confirm`}
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
            why={typed !== agent.slug && 'Type the slug first.'}
          >
            Revoke
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
