import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAgentNames, useExampleCurrency } from '../api/agent-names.ts';
import { purser } from '../api/client.ts';
import { useAgentSample } from '../api/samples.ts';
import { curl } from '../lib/samples/snippets.ts';
import type { TemplateRequest } from '../lib/samples/templates.ts';
import { buttonClass } from './Button.tsx';
import styles from './FirstSteps.module.css';
import { Empty, Loading } from './Page.tsx';
import { CodeBlock } from './Value.tsx';

/** An unknown merchant, whose purpose the assessor cannot judge. */
const UNCLEAR = {
  type: 'purchase',
  merchant: 'Ostwind Trading',
  amount_minor: 4900,
  description: 'Spare parts',
};

/** A sample payment request as a terminal command, for an agent's key or an admin key. */
export const decisionCurl = (agent: string, request: TemplateRequest): string =>
  curl({ url: location.origin, key: '$PURSER_API_KEY', agent, request });

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
  const sample = useAgentSample(slug);
  if (slug === undefined) {
    return (
      <Empty
        title="No decisions yet"
        action={
          <Link to="/new-agent" className={buttonClass('primary')}>
            Create an agent
          </Link>
        }
      >
        <p>Each payment request appears here with its decision and the reason.</p>
      </Empty>
    );
  }
  return (
    <Empty
      title="No decisions yet"
      action={sample === undefined ? <Loading lines={3} /> : <Example code={decisionCurl(slug, sample)} />}
    >
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
    <Empty title="Try it out" action={<Example code={decisionCurl(agent, { ...UNCLEAR, currency })} />}>
      <p>
        This merchant is unknown. Unless the agent’s policy allows requests with an unclear purpose, this one
        comes here for review:
      </p>
    </Empty>
  );
}
