import type { Decision, Simulation } from '@purser/sdk';
import { useState } from 'react';
import { codeOfError, purser } from '../../api/client.ts';
import { useMay, WHY_NOT } from '../../api/queries.ts';
import { DecisionBadges } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card } from '../../components/Page.tsx';
import { Money } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { reasonWords } from '../../lib/words.ts';
import styles from './DecisionPage.module.css';

/** The agent's current policy and its simulated result. Null if there is none. */
type Replayed = { version: number; currency: string; result: Simulation } | null;

/** Replays the request under the agent's current policy and the budget of that time. Nothing is saved. */
export function PolicyReplay({ decision }: { decision: Decision }) {
  const may = useMay('admin');
  const [replayed, setReplayed] = useState<Replayed | undefined>(undefined);
  const replaying = useAction(async () => setReplayed(await replay(decision)));
  return (
    <Card title="Replay with current policy" screen_only>
      <p className={styles.sub}>
        Decides the same request under the agent’s current policy, with the budget of that time. Nothing is
        saved.
      </p>
      <div role="status">{replayed !== undefined && <Result decision={decision} replayed={replayed} />}</div>
      {replaying.error !== null && <ErrorNotice error={replaying.error} />}
      <p>
        <Button small why={!may && WHY_NOT.admin} busy={replaying.busy} onClick={() => void replaying.run()}>
          Simulate
        </Button>
      </p>
    </Card>
  );
}

async function replay({ agent, created_at }: Decision): Promise<Replayed> {
  try {
    const { version, authority } = await purser.agents.authority.retrieve(agent.slug);
    const to = new Date(Date.parse(created_at) + 1).toISOString();
    const query = { from: created_at, to, limit: 1_000 };
    const result = await purser.agents.authority.simulate(agent.slug, authority, query);
    return { version, currency: authority.currency, result };
  } catch (error) {
    if (codeOfError(error) === 'not_found') return null;
    throw error;
  }
}

function Result({ decision, replayed }: { decision: Decision; replayed: Replayed }) {
  if (replayed === null) return <Notice>The agent has no policy, so every request is denied.</Notice>;
  const { version, currency, result } = replayed;
  const simulated = result.changed.find((each) => each.decision_id === decision.decision_id)?.draft;
  if (currency !== decision.currency) {
    return (
      <Notice tone="warn">
        Version {version} is in {currency}, so a request in {decision.currency} is denied.
      </Notice>
    );
  }
  if (simulated === undefined) return <Notice tone="good">Version {version} gives the same decision.</Notice>;
  return (
    <Notice tone="warn" title={`Version ${version} gives a different decision.`}>
      <DecisionBadges decision={simulated.decision} effective={simulated.decision} />{' '}
      {reasonWords(simulated.reason_code)}, authorizing{' '}
      <Money amount_minor={simulated.authorized_amount_minor} currency={currency} />.
    </Notice>
  );
}
