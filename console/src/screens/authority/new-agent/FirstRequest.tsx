import { Link } from '@tanstack/react-router';
import { useDraftSamples } from '../../../api/samples.ts';
import { buttonClass } from '../../../components/Button.tsx';
import { Connect } from '../../../components/connect/Connect.tsx';
import { Listening } from '../../../components/connect/Listening.tsx';
import { ErrorNotice, Notice } from '../../../components/Notice.tsx';
import { Card } from '../../../components/Page.tsx';
import { CodeBlock } from '../../../components/Value.tsx';
import type { Created } from './create-agent.ts';
import styles from './NewAgent.module.css';

/** The new agent's key, the ways to send its first request, and what arrives. */
export function FirstRequest({ made: { agent, authority, key, key_error } }: { made: Created }) {
  const samples = useDraftSamples(authority);
  return (
    <div className={styles.made}>
      <Card title={`${agent.name} created`}>
        {key_error !== null && (
          <ErrorNotice error={key_error} title="The key could not be created. Create one in Keys." />
        )}
        {key !== null && (
          <>
            <Notice tone="warn" title="This key is shown only once.">
              Copy it to the agent’s environment. It cannot be shown again.
            </Notice>
            <CodeBlock label="the key for a .env file" code={`PURSER_API_KEY=${key.key}`} />
          </>
        )}
        {authority === null && (
          <>
            <p>Without a policy every request is denied. Set the policy first.</p>
            <p>
              <Link to={`/agents/${agent.slug}/authority`} className={buttonClass('primary')}>
                Set policy
              </Link>
            </p>
          </>
        )}
      </Card>
      {key !== null && authority !== null && (
        <Card title="Send the first request">
          <Connect secret={key.key} samples={samples} />
        </Card>
      )}
      <Card title="Requests" aside={<Link to={`/agents/${agent.slug}`}>{`Open ${agent.name}`}</Link>}>
        <Listening agent_id={agent.id} />
      </Card>
    </div>
  );
}
