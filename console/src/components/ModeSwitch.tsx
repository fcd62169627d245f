import type { Agent, UpdateAgentRequest } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { codeOfError, purser } from '../api/client.ts';
import { makeOld } from '../api/live.ts';
import { useMay, WHY_NOT } from '../api/queries.ts';
import { useAction } from '../lib/hooks/use-action.ts';
import { Button } from './Button.tsx';
import { Actions, Dialog } from './Dialog.tsx';
import styles from './ModeSwitch.module.css';
import { ErrorNotice, Notice } from './Notice.tsx';
import { Loading } from './Page.tsx';

type Switched = Pick<Agent, 'id' | 'slug' | 'name' | 'mode' | 'status'>;

/** Changes an agent's status, mode or name. */
export function useUpdateAgent(agent: Pick<Agent, 'id'>, onDone: () => void = () => {}) {
  return useAction(async (changes: UpdateAgentRequest) => {
    await purser.agents.update(agent.id, changes);
    void makeOld('report');
    await makeOld('agents');
    onDone();
  });
}

/** Between watching and binding. Towards binding, what speaks against it is shown first. */
export function ModeSwitch({ agent }: { agent: Switched }) {
  const may = useMay('admin');
  const [is_asking, setAsking] = useState(false);
  if (agent.status === 'revoked') return null;
  const to = agent.mode === 'SHADOW' ? 'ENFORCE' : 'SHADOW';
  return (
    <>
      <Button why={!may && WHY_NOT.admin} onClick={() => setAsking(true)}>
        Switch to {to}
      </Button>
      {is_asking && <Switch agent={agent} to={to} onClose={() => setAsking(false)} />}
    </>
  );
}

function Switch({ agent, to, onClose }: { agent: Switched; to: 'SHADOW' | 'ENFORCE'; onClose: () => void }) {
  const update = useUpdateAgent(agent, onClose);
  const report = useQuery({
    queryKey: ['report', { agent: agent.slug }],
    queryFn: async () => purser.reports.shadow({ agent: agent.slug }),
    enabled: to === 'ENFORCE',
  });
  const blockers = report.data?.readiness.blockers ?? [];
  return (
    <Dialog title={`${to === 'ENFORCE' ? 'Bind' : 'Only watch'} ${agent.name}?`} onClose={onClose}>
      {to === 'ENFORCE' ? (
        <>
          <p>
            From its next request on, DENY stops it, REVIEW waits for a person, and a payment adapter can ask
            for a capability.
          </p>
          {report.isLoading && <Loading lines={3} />}
          {report.isError && <ErrorNotice error={report.error} title="Its readiness could not be read." />}
          {report.data !== undefined &&
            (blockers.length === 0 ? (
              <Notice tone="good" title="It is ready.">
                Nothing in the shadow report speaks against it.
              </Notice>
            ) : (
              <>
                <p>
                  The{' '}
                  <Link to="/report" search={{ agent: agent.slug }} onClick={onClose}>
                    shadow report
                  </Link>{' '}
                  says that it is not ready:
                </p>
                <ul className={styles.blockers}>
                  {blockers.map((each) => (
                    <li key={each.code}>{each.message}</li>
                  ))}
                </ul>
              </>
            ))}
        </>
      ) : (
        <p>
          From its next request on, nothing is stopped: decisions say what would have been done, and every
          spend is allowed.
        </p>
      )}
      {codeOfError(update.error) === 'plan_required' ? (
        <Notice tone="bad" title="Your plan only watches.">
          {(update.error as Error).message}
        </Notice>
      ) : (
        update.error !== null && <ErrorNotice error={update.error} />
      )}
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" busy={update.busy} onClick={() => update.run({ mode: to })}>
          Switch to {to}
        </Button>
      </Actions>
    </Dialog>
  );
}
