import { Link } from '@tanstack/react-router';
import { buttonClass } from './Button.tsx';
import { Empty } from './Page.tsx';
import { CodeBlock } from './Value.tsx';

/** The request of a first spend, to be pasted into a terminal. */
export function decisionCurl(agent: string, currency = 'EUR'): string {
  const body = {
    agent,
    action: {
      type: 'purchase',
      merchant: 'Hetzner Online',
      amount_minor: 5440,
      currency,
      description: 'Server for staging',
    },
  };
  const pretty = JSON.stringify(body, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(', "action"', ',\n       "action"')
    .replace(', "amount_minor"', ',\n         "amount_minor"');
  return [
    `curl -s ${location.origin}/v1/decisions -H "x-api-key: $PURSER_KEY" \\`,
    `  -H 'content-type: application/json' -H "idempotency-key: $(date +%s)" \\`,
    `  -d '${pretty}'`,
  ].join('\n');
}

/** No decision yet: what makes the first one. */
export function FirstDecision({ agent = 'infra-bot' }: { agent?: string }) {
  return (
    <Empty
      title="No decision yet"
      action={
        <div
          style={{
            display: 'grid',
            gridTemplateColumns: 'minmax(0, 1fr)',
            gap: '0.75rem',
            maxWidth: '46rem',
          }}
        >
          <CodeBlock label="a first spend" code={decisionCurl(agent)} />
          <p>
            <code>PURSER_KEY</code> is an agent’s key, or an admin key. <Link to="/keys">Make one</Link>.
          </p>
          <p>
            <Link to="/agents" className={buttonClass()}>
              See agents
            </Link>
          </p>
        </div>
      }
    >
      <p>Every spend that an agent asks for appears here, with what was decided and why. Ask for one:</p>
    </Empty>
  );
}
