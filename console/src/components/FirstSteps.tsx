import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAgentNames, useExampleCurrency } from '../api/agent-names.ts';
import { purser } from '../api/client.ts';
import { buttonClass } from './Button.tsx';
import styles from './FirstSteps.module.css';
import { Empty } from './Page.tsx';
import { CodeBlock } from './Value.tsx';

const FIRST = { merchant: 'Hetzner Online', amount_minor: 5440, description: 'Server for staging' };
/** An unknown merchant, whose purpose the assessor cannot judge. */
const UNCLEAR = { merchant: 'Ostwind Trading', amount_minor: 4900, description: 'Spare parts' };

/** A sample payment request as a terminal command. */
export function decisionCurl(agent: string, currency: string, spend = FIRST): string {
  const { merchant, amount_minor, description } = spend;
  const body = { agent, action: { type: 'purchase', merchant, amount_minor, currency, description } };
  const pretty = JSON.stringify(body, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(', "action"', ',\n       "action"')
    .replace(', "amount_minor"', ',\n         "amount_minor"');
  return [
    `curl -s ${location.origin}/v1/decisions -H "x-api-key: $PURSER_API_KEY" \\`,
    `  -H 'content-type: application/json' -H "idempotency-key: $(date +%s)" \\`,
    `  -d '${pretty}'`,
  ].join('\n');
}

/** The agent to use in examples. Undefined if none is active. */
function useExampleAgent(): string | undefined {
  return useAgentNames().agents.find((each) => each.status === 'active')?.slug;
}

function Example({ code }: { code: string }) {
  return (
    <div className={styles.example}>
      <CodeBlock label="a payment request" code={code} />
      <p>
        <code>PURSER_API_KEY</code> is the agent’s key, shown when it was created, or an admin key.{' '}
        <Link to="/keys">Create another key</Link>.
      </p>
    </div>
  );
}

/** Empty state without decisions: how to get the first one, for one agent or any. */
export function FirstDecision({ agent }: { agent?: string }) {
  const example = useExampleAgent();
  const slug = agent ?? example;
  const currency = useExampleCurrency(slug);
  if (slug === undefined) {
    return (
      <Empty
        title="No decisions yet"
        action={
          <Link to="/agents" search={{ new: '1' }} className={buttonClass('primary')}>
            Create an agent
          </Link>
        }
      >
        <p>Each payment request appears here with its decision and the reason.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No decisions yet" action={<Example code={decisionCurl(slug, currency)} />}>
      <p>Each payment request appears here with its decision and the reason. Send one:</p>
    </Empty>
  );
}

/** Empty state before the first review: how to make a request that needs one. */
export function FirstReview() {
  const agent = useExampleAgent();
  const currency = useExampleCurrency(agent);
  const { data: is_first } = useQuery({
    queryKey: ['decisions', 'any', 'review'],
    queryFn: async () => (await purser.decisions.list({ limit: 1, decision: ['REVIEW'] })).data.length === 0,
  });
  if (agent === undefined || is_first !== true) return null;
  return (
    <Empty title="Try it out" action={<Example code={decisionCurl(agent, currency, UNCLEAR)} />}>
      <p>
        This merchant is unknown. Unless the agent’s policy allows requests with an unclear purpose, this one
        comes here for review:
      </p>
    </Empty>
  );
}
