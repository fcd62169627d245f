import type { ConsumptionRecord, CountedLimit, Decision } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ComponentProps, useState } from 'react';
import { purser } from '../../api/client.ts';
import { Author } from '../../components/Author.tsx';
import { DecisionBadges, StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Notes } from '../../components/decision/Assign.tsx';
import { Budget } from '../../components/decision/Budget.tsx';
import { useHeldReviews } from '../../components/decision/held-reviews.ts';
import { MerchantHistory } from '../../components/decision/MerchantHistory.tsx';
import { PolicyTrace } from '../../components/decision/PolicyTrace.tsx';
import { Purpose } from '../../components/decision/Purpose.tsx';
import { Remedies } from '../../components/decision/Remedies.tsx';
import { ReviewBox } from '../../components/decision/ReviewBox.tsx';
import { useRefusedReviews } from '../../components/decision/review-drafts.ts';
import { Sheet } from '../../components/decision/Sheet.tsx';
import { LimitMeters } from '../../components/limits/LimitMeters.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { Card, Facts, Loading, Page } from '../../components/Page.tsx';
import { DecisionQuestions, hasQuestions } from '../../components/questions/DecisionQuestions.tsx';
import { CodeBlock, Countdown, Id, Money, Time } from '../../components/Value.tsx';
import { downloadText } from '../../lib/download.ts';
import { progressInWords } from '../../lib/reviews/progress.ts';
import { localTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import styles from './DecisionPage.module.css';
import { LedgerEntries } from './Entries.tsx';
import { ModelUsage } from './ModelUsage.tsx';
import { Outcomes } from './Outcomes.tsx';
import { PolicyReplay } from './PolicyReplay.tsx';
import { RequestBody } from './RequestBody.tsx';
import { SentWebhooks } from './SentWebhooks.tsx';
import { Share } from './Share.tsx';
import { Thread } from './Thread.tsx';
import { usePrint } from './use-print.ts';

export default function DecisionPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['decision', id],
    queryFn: async () => purser.decisions.retrieve(id),
  });
  const back = <Link to="/decisions">← Decisions</Link>;
  if (query.data === undefined) {
    return (
      <Page title="Decision" above={back}>
        {query.isError ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading lines={12} />
        )}
      </Page>
    );
  }
  return <Whole decision={query.data} above={back} />;
}

function Whole({ decision, above }: { decision: Decision; above: React.ReactNode }) {
  const { decision_id, action, agent, mode, currency, review_state } = decision;
  const print = usePrint(decision_id);
  const progress = progressInWords(decision);
  const [is_reviewing, setReviewing] = useState(false);
  const is_refused = useRefusedReviews().has(decision_id);
  const is_held = useHeldReviews().has(decision_id);
  return (
    <Page
      title={visible(action.merchant)}
      screen="Decision"
      above={above}
      badges={
        <>
          <DecisionBadges decision={decision.decision} effective={decision.effective_decision} />
          <StateBadge state={mode} />
        </>
      }
      actions={
        <>
          <Share decision={decision} />
          <Button onClick={print}>Print</Button>
          <Button
            onClick={() =>
              downloadText(`${decision_id}.json`, JSON.stringify(decision, null, 2), 'application/json')
            }
          >
            Download JSON
          </Button>
        </>
      }
    >
      <div className={styles.verdict}>
        <dl className={styles.sums}>
          <div>
            <dt>Requested</dt>
            <dd>
              <Money amount_minor={decision.requested_amount_minor} currency={currency} />
            </dd>
          </div>
          <div>
            <dt>Authorized</dt>
            <dd>
              <Money amount_minor={decision.authorized_amount_minor} currency={currency} />
            </dd>
          </div>
        </dl>
      </div>
      <div className={styles.columns}>
        <div className={styles.column}>
          {(review_state === 'PENDING' || is_reviewing || is_refused || is_held) && (
            <Card
              title="Review"
              aside={
                decision.reservation.expires_at !== null && (
                  <Countdown until={decision.reservation.expires_at} />
                )
              }
            >
              {progress !== null && <p className={styles.why}>{progress}</p>}
              <ReviewBox decision={decision} onOpen={setReviewing} onDone={() => setReviewing(false)} />
              <Notes decision_id={decision_id} />
            </Card>
          )}
          <Sheet decision={decision} past={<MerchantHistory decision={decision} />} />
          <Remedies decision={decision} />
          <Card title="Checks" aside="At the decision">
            <PolicyTrace decision={decision} />
          </Card>
          <Card title="Purpose assessment">
            <Purpose decision={decision} />
          </Card>
          {hasQuestions(decision) && (
            <Card title="Questions">
              <DecisionQuestions decision={decision} />
            </Card>
          )}
          <Card title="Reviews and labels">
            <Thread decision={decision} />
          </Card>
          <Card title="Outcome">
            <Outcomes decision={decision} />
          </Card>
          {decision.lease === true && <ModelUsage decision={decision} />}
          <Card title="Request">
            <RequestBody decision={decision} />
          </Card>
        </div>
        <div className={styles.column}>
          <Card title="Details">
            <Facts
              of={[
                [
                  'Agent',
                  <Link key="a" to={`/agents/${agent.slug}`}>
                    <AgentName of={agent} />
                  </Link>,
                ],
                ['Action type', action.type],
                ['Decided', <Time key="t" at={decision.created_at} exact />],
                ['Requested by', <Author key="k" {...decision.requested_by} />],
                [
                  'Policy',
                  decision.authority_version === null ? (
                    'None'
                  ) : (
                    <Link
                      key="v"
                      to={`/agents/${agent.slug}/authority`}
                      search={{ version: String(decision.authority_version) }}
                    >
                      Version {decision.authority_version}
                    </Link>
                  ),
                ],
                ['Decision', <Id key="d" id={decision_id} />],
                decision.request_id === undefined
                  ? null
                  : ['Request', <Id key="r" id={decision.request_id} />],
              ]}
            />
          </Card>
          <Card title="Hold and budget" aside="Now">
            <Hold decision={decision} />
            <Budget decision={decision} />
          </Card>
          {decision.reservation.limits !== undefined && (
            <Card title="Velocity limits">
              <p>Then, after this decision.</p>
              <LimitMeters
                limits={decision.reservation.limits}
                currency={currency}
                windowOf={windowThen}
                nameOf={({ subject }) =>
                  (subject?.startsWith('m:') ? decision.action.merchant : decision.action.payee_id) ?? null
                }
              />
            </Card>
          )}
          {decision.capability !== null && (
            <Card title="Capability">
              <CapabilityFacts decision={decision} />
            </Card>
          )}
          <Card title="In the ledger">
            <LedgerEntries decision={decision} />
          </Card>
          <PolicyReplay decision={decision} />
          <SentWebhooks decision={decision} />
          {decision.context !== null && (
            <Card title="Attached context">
              <CodeBlock label="the context" code={JSON.stringify(decision.context, null, 2)} />
            </Card>
          )}
        </div>
      </div>
    </Page>
  );
}

const windowThen = ({ window }: CountedLimit): string =>
  window.type === 'TOTAL'
    ? 'in total'
    : `${localTime(window.starts_at)} to ${localTime(window.ends_at)}${window.type === 'ROLLING' ? ', rolling' : ''}`;

function Hold({ decision: { reservation, currency } }: { decision: Decision }) {
  const { status, amount_minor, expires_at } = reservation;
  if (status === 'NONE') return <p>No hold.</p>;
  return (
    <Facts
      of={[
        ['Status', <StateBadge key="s" state={status} />],
        ['Amount', <Money key="m" amount_minor={amount_minor} currency={currency} />],
        status !== 'HELD'
          ? null
          : [
              'Until',
              expires_at === null ? 'an outcome is reported' : <Countdown key="c" until={expires_at} />,
            ],
      ]}
    />
  );
}

/** The use of a capability: payment and caller. */
function usedFor(
  { amount_minor, payee_id, merchant, external_reference, consumed_by }: ConsumptionRecord,
  currency: string,
): ComponentProps<typeof Facts>['of'] {
  return [
    ['Consumed by', <Author key="w" {...consumed_by} />],
    ['Paid', <Money key="a" amount_minor={amount_minor} currency={currency} />],
    merchant === null ? null : ['To', merchant],
    payee_id === null ? null : ['Paid payee', <code key="y">{payee_id}</code>],
    external_reference === null ? null : ['Reference', <Id key="x" id={external_reference} />],
  ];
}

function CapabilityFacts({ decision: { capability } }: { decision: Decision }) {
  if (capability === null) return null;
  const { status, max_amount_minor, currency, payee_id, expires_at, consumed_at, consumption } = capability;
  return (
    <Facts
      of={[
        ['Status', <StateBadge key="s" state={status} />],
        ['At most', <Money key="m" amount_minor={max_amount_minor} currency={currency} />],
        payee_id === null ? null : ['Payee', <code key="p">{payee_id}</code>],
        consumed_at === null
          ? [status === 'ISSUED' ? 'Expires' : 'Expired', <Time key="e" at={expires_at} />]
          : ['Consumed', <Time key="c" at={consumed_at} exact />],
        ['ID', <Id key="i" id={capability.capability_id} />],
        ...(consumption === undefined ? [] : usedFor(consumption, currency)),
      ]}
    />
  );
}
