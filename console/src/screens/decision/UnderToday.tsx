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

/** The agent's authority of today, and what it makes of one decision; null: it has none. */
type Replayed = { version: number; currency: string; result: Simulation } | null;

/** What the agent's current authority would decide of this spend, with the budget as it stood then. Nothing is saved. */
export function UnderToday({ decision }: { decision: Decision }) {
  const may = useMay('admin');
  const [replayed, setReplayed] = useState<Replayed | undefined>(undefined);
  const replaying = useAction(async () => setReplayed(await replay(decision)));
  return (
    <Card title="Under the authority of today">
      <p className={styles.sub}>
        The same spend, against the budget as it stood then, judged by what the agent may do now. Nothing is
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
  if (replayed === null) return <Notice>The agent has no authority, so every spend is denied.</Notice>;
  const { version, currency, result } = replayed;
  const drafted = result.changed.find((each) => each.decision_id === decision.decision_id)?.draft;
  if (currency !== decision.currency) {
    return (
      <Notice tone="warn">
        Version {version} is in {currency}: a spend in {decision.currency} is outside of it.
      </Notice>
    );
  }
  if (drafted === undefined) return <Notice tone="good">Version {version} decides the same.</Notice>;
  return (
    <Notice tone="warn" title={`Version ${version} decides otherwise.`}>
      <DecisionBadges decision={drafted.decision} effective={drafted.decision} />{' '}
      {reasonWords(drafted.reason_code)}, authorizing{' '}
      <Money amount_minor={drafted.authorized_amount_minor} currency={currency} />.
    </Notice>
  );
}
