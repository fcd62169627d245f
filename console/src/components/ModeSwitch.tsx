import type { Agent, UpdateAgentRequest } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { codeOfError, purser } from '../api/client.ts';
import { invalidate } from '../api/live.ts';
import { useMay, WHY_NOT } from '../api/queries.ts';
import { useAction } from '../lib/hooks/use-action.ts';
import { words } from '../lib/words.ts';
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
    void invalidate('report');
    await invalidate('agents');
    onDone();
  });
}

/** Switches between Shadow and Enforce. Before Enforce it shows the blockers of the shadow report. */
export function ModeSwitch({ agent }: { agent: Switched }) {
  const may = useMay('admin');
  const [is_asking, setAsking] = useState(false);
  if (agent.status === 'revoked') return null;
  const to = agent.mode === 'SHADOW' ? 'ENFORCE' : 'SHADOW';
  return (
    <>
      <Button why={!may && WHY_NOT.admin} onClick={() => setAsking(true)}>
        Switch to {words(to)}
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
    <Dialog
      title={`${to === 'ENFORCE' ? 'Enforce' : 'Stop enforcing'} decisions for ${agent.name}?`}
      onClose={onClose}
    >
      {to === 'ENFORCE' ? (
        <>
          <p>
            From the next request, denied payments are stopped, reviews wait for a person, and a payment
            adapter needs a capability.
          </p>
          {report.isLoading && <Loading lines={3} />}
          {report.isError && <ErrorNotice error={report.error} title="Readiness could not be loaded." />}
          {report.data !== undefined &&
            (blockers.length === 0 ? (
              <Notice tone="good" title="This agent is ready.">
                The shadow report has no blockers.
              </Notice>
            ) : (
              <>
                <p>
                  The{' '}
                  <Link to="/report" search={{ agent: agent.slug }} onClick={onClose}>
                    shadow report
                  </Link>{' '}
                  says that this agent is not ready:
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
          From the next request, nothing is stopped. Decisions only record what would have happened, and every
          payment is allowed.
        </p>
      )}
      {codeOfError(update.error) === 'plan_required' ? (
        <Notice tone="bad" title="Your plan does not include Enforce.">
          {(update.error as Error).message}
        </Notice>
      ) : (
        update.error !== null && <ErrorNotice error={update.error} />
      )}
      <Actions recorded>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" busy={update.busy} onClick={() => update.run({ mode: to })}>
          Switch to {words(to)}
        </Button>
      </Actions>
    </Dialog>
  );
}
