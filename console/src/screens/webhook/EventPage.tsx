import { Link, useParams } from '@tanstack/react-router';
import { useEndpoints } from '../../api/endpoints.ts';
import { useMay } from '../../api/queries.ts';
import { AdminOnly } from '../../components/AdminOnly.tsx';
import { Card, Facts, Page } from '../../components/Page.tsx';
import { CodeBlock, Id, Time } from '../../components/Value.tsx';
import { Deliveries } from '../../components/webhook/Deliveries.tsx';
import { EventBody, useEventBody } from '../../components/webhook/EventBody.tsx';

interface Envelope {
  id: string;
  type: string;
  created_at: string;
  data: { decision_id?: string; decision?: { decision_id?: string } | string };
}

const CHECK = `import { webhooks } from '@purser/sdk';

// \`body\` must be the raw bytes as received: parsed and re-serialized JSON does not match.
const event = await webhooks.unwrap(body, request.headers, process.env.PURSER_WEBHOOK_SECRET);`;

export default function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const may = useMay('admin');
  const query = useEventBody(id);
  const endpoints = new Map((useEndpoints({ enabled: may }).data ?? []).map((each) => [each.id, each.url]));
  return (
    <Page title="Event" above={<Link to="/webhooks">Webhooks</Link>}>
      <AdminOnly what="webhooks">
        {query.data !== undefined && <About event={JSON.parse(query.data)} />}
        <EventBody id={id} />
        <Deliveries search={{}} to={`/webhooks/events/${id}`} fixed={{ event: id }} endpoints={endpoints} />
        <Card title="Verify the signature">
          <p>
            Each attempt has the header <code>x-svc-signature: t=…,v1=…</code>, an HMAC-SHA256 of the time, a
            dot and the body, keyed with the endpoint’s secret. In TypeScript:
          </p>
          <CodeBlock label="the check" code={CHECK} />
        </Card>
      </AdminOnly>
    </Page>
  );
}

/** An event's type, time and decision. */
function About({ event }: { event: Envelope }) {
  const { decision } = event.data;
  const decision_id =
    event.data.decision_id ?? (typeof decision === 'object' ? decision.decision_id : undefined);
  return (
    <Card>
      <Facts
        of={[
          ['Type', <code key="c">{event.type}</code>],
          ['ID', <Id key="i" id={event.id} />],
          ['Time', <Time key="t" at={event.created_at} exact />],
          decision_id === undefined
            ? null
            : [
                'Decision',
                <Link key="l" to={`/decisions/${decision_id}`}>
                  {decision_id}
                </Link>,
              ],
        ]}
      />
    </Card>
  );
}
