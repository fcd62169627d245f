import type { Decision } from '@purser/sdk';
import { CodeBlock } from '../../components/Value.tsx';
import styles from './DecisionPage.module.css';

/** The request as JSON and as a curl command. */
export function RequestBody({ decision }: { decision: Decision }) {
  const body = JSON.stringify(bodyOf(decision), null, 2);
  return (
    <>
      <CodeBlock label="the request as JSON" code={body} />
      <details className={styles.folded} data-screen-only>
        <summary>As a curl command</summary>
        <CodeBlock label="the request as curl" code={curlOf(body)} />
      </details>
    </>
  );
}

function bodyOf({ agent, action, task, trace, limitable, min_amount_minor, context }: Decision) {
  return {
    agent: agent.slug,
    action,
    ...(task === null ? {} : { task }),
    ...(trace === null ? {} : { trace }),
    ...(limitable ? { limitable } : {}),
    ...(min_amount_minor === null ? {} : { min_amount_minor }),
    ...(context === null ? {} : { context }),
  };
}

const curlOf = (body: string): string =>
  [
    `curl -s ${location.origin}/v1/decisions -H "x-api-key: $PURSER_API_KEY" \\`,
    `  -H 'content-type: application/json' -H "idempotency-key: $(date +%s)" \\`,
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
