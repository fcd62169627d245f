import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAgentNames, useExampleCurrency } from '../api/agent-names.ts';
import { purser } from '../api/client.ts';
import { buttonClass } from './Button.tsx';
import styles from './FirstSteps.module.css';
import { Empty } from './Page.tsx';
import { CodeBlock } from './Value.tsx';

const FIRST = { merchant: 'Hetzner Online', amount_minor: 5440, description: 'Server for staging' };
/** Nobody has heard of this merchant, so it is unclear whether it serves a purpose. */
const UNCLEAR = { merchant: 'Ostwind Trading', amount_minor: 4900, description: 'Spare parts' };

/** The request of a spend, to be pasted into a terminal. */
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

/** The agent that examples speak of; undefined where there is none that may ask. */
function useExampleAgent(): string | undefined {
  return useAgentNames().agents.find((each) => each.status === 'active')?.slug;
}

/** A request with where its key comes from. */
function Example({ code }: { code: string }) {
  return (
    <div className={styles.example}>
      <CodeBlock label="a spend" code={code} />
      <p>
        <code>PURSER_API_KEY</code> is the agent’s key, which was shown when it was made, or an admin key.{' '}
        <Link to="/keys">Make another</Link>.
      </p>
    </div>
  );
}

/** No decision yet: what makes the first one, of this agent or of any. */
export function FirstDecision({ agent }: { agent?: string }) {
  const example = useExampleAgent();
  const slug = agent ?? example;
  const currency = useExampleCurrency(slug);
  if (slug === undefined) {
    return (
      <Empty
        title="No decision yet"
        action={
          <Link to="/agents" search={{ new: '1' }} className={buttonClass('primary')}>
            Make an agent
          </Link>
        }
      >
        <p>Every spend that an agent asks for appears here, with what was decided and why.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No decision yet" action={<Example code={decisionCurl(slug, currency)} />}>
      <p>Every spend that an agent asks for appears here, with what was decided and why. Ask for one:</p>
    </Empty>
  );
}

/** Nobody has ever had to decide anything: what makes a first spend wait for a person. */
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
        Nobody has heard of this merchant. Unless the agent’s authority allows what is unclear, the spend
        comes here for you to decide:
      </p>
    </Empty>
  );
}
