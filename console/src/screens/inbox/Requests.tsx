import type { Allowance, DecideAllowanceRequest } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import { purser } from '../../api/client.ts';
import { useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { useMay, useMe, WHY_NOT } from '../../api/queries.ts';
import { RecordedAs } from '../../components/Author.tsx';
import styles from '../../components/allowances/allowances.module.css';
import { allowanceName, allowancePeriod } from '../../components/allowances/allowances.ts';
import { Button } from '../../components/Button.tsx';
import { AreaField, TextField } from '../../components/Field.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { AgentName, useAgentLabel } from '../../components/names/AgentName.tsx';
import { Card, Empty, Facts, Loading, Page } from '../../components/Page.tsx';
import { LoadMore } from '../../components/Table.tsx';
import { Countdown } from '../../components/Value.tsx';
import { fromLocal, toLocal } from '../../lib/authority/zones.ts';
import { useAction } from '../../lib/hooks/use-action.ts';
import { useForm } from '../../lib/hooks/use-form.ts';
import { amountProblem, formatMoney, toInput, typedAmount } from '../../lib/money.ts';
import { timeZone } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { InboxTabs } from './InboxTabs.tsx';

/** The allowances that agents request and nobody has decided. */
export default function Requests() {
  const labelOf = useAgentLabel();
  const list = useList<Allowance>(
    ['allowances', 'requests'],
    (page) => purser.allowances.list({ status: ['REQUESTED'], ...page }),
    { mode: 'first', idOf: ({ id }) => id },
  );
  return (
    <Page title="Inbox">
      <InboxTabs tab="requests" />
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={8} />}
      {list.isSuccess && list.rows.length === 0 && (
        <Card>
          <Empty title="No requests">
            <p>Agents request allowances for a task. They permit nothing until somebody allows them.</p>
          </Empty>
        </Card>
      )}
      {list.rows.map((each) => (
        <Card key={each.id} title={titleOf(each, labelOf)}>
          <Request allowance={each} />
        </Card>
      ))}
      <LoadMore query={list} />
    </Page>
  );
}

function titleOf(allowance: Allowance, labelOf: (agent: string) => string): string {
  const { name, agent, amount_minor, currency } = allowance;
  const what = name === null ? '' : `: ${allowanceName(allowance)}`;
  return `${agent === null ? 'Any agent' : labelOf(agent.slug)} requests ${formatMoney(amount_minor, currency)}${what}`;
}

/** Why this person may not decide it. Undefined if they may. */
function useWhyNot({ request }: Allowance): string | undefined {
  const me = useMe();
  if (!useMay('review')) return WHY_NOT.review;
  return request?.requested_by.principal_id === me.principal_id
    ? `This is your own request (${me.principal_id}), so somebody else must decide it.`
    : undefined;
}

function Request({ allowance }: { allowance: Allowance }) {
  const { id, currency, amount_minor, expires_at, request } = allowance;
  const why = useWhyNot(allowance);
  const labelOf = useAgentLabel();
  const before = {
    purpose: visible(request?.purpose ?? ''),
    amount: toInput(amount_minor, currency),
    expires: toLocal(`${expires_at.slice(0, 16)}Z`, timeZone()),
    comment: '',
  };
  const send = async (body: DecideAllowanceRequest) => {
    await purser.allowances.decide(id, body);
    await invalidate('allowances');
  };
  const form = useForm(
    before,
    async ({ purpose, amount, expires, comment }) => {
      // A field that the reviewer left alone keeps the requested value exactly.
      await send({
        action: 'ALLOW',
        ...(purpose.trim() === '' ? {} : { purpose: purpose.trim() }),
        ...(amount === before.amount ? {} : { amount_minor: typedAmount(amount, currency) }),
        ...(expires === before.expires ? {} : { expires_at: fromLocal(expires, timeZone()) ?? '' }),
        ...(comment.trim() === '' ? {} : { comment }),
      });
    },
    {
      fields: { amount_minor: 'amount', expires_at: 'expires' },
      check: ({ amount, expires }) => {
        const amount_problem = amountProblem(amount, currency, 'must be the most that may be spent');
        return {
          ...(amount_problem === undefined ? {} : { amount: amount_problem }),
          ...(fromLocal(expires, timeZone()) === null ? { expires: 'must be a date and time' } : {}),
        };
      },
    },
  );
  const denying = useAction(async () => {
    const { comment } = form.values;
    await send({ action: 'DENY', ...(comment.trim() === '' ? {} : { comment }) });
  });
  const error = form.error ?? denying.error;
  return (
    <form
      onSubmit={form.onSubmit}
      noValidate
      className={styles.form}
      aria-label={titleOf(allowance, labelOf)}
    >
      <Facts of={factsOf(allowance)} />
      {error !== null && <ErrorNotice error={error} title="Your decision was not recorded." />}
      <AreaField
        label="Purpose"
        optional
        rows={2}
        maxLength={2_000}
        hint="The agent’s words. Make them yours: what you allow here vouches for the spends. Empty vouches for nothing."
        {...form.field('purpose')}
      />
      <div className={styles.pair}>
        <TextField
          label="Amount"
          required
          inputMode="decimal"
          prefix={currency}
          hint={`${formatMoney(amount_minor, currency)} requested, ${allowancePeriod(allowance)}. You can lower it.`}
          {...form.field('amount')}
        />
        <TextField
          label="Expires"
          type="datetime-local"
          required
          hint={`In the time of ${timeZone()}. You can end it earlier.`}
          {...form.field('expires')}
        />
      </div>
      <TextField label="Comment" optional maxLength={500} {...form.field('comment')} />
      <div className={styles.foot}>
        <Button kind="primary" type="submit" busy={form.busy} why={why}>
          Allow
        </Button>
        <Button kind="danger" busy={denying.busy} why={why} onClick={() => void denying.run()}>
          Deny
        </Button>
        {why === undefined ? <RecordedAs /> : <span className={styles.soft}>{why}</span>}
      </div>
    </form>
  );
}

function factsOf({ id, agent, request, ...more }: Allowance) {
  const { currency, merchants, payee_ids, action_types, expected_items } = more;
  const listed = (name: string, values: readonly string[] | null) =>
    values === null ? null : ([name, values.map(visible).join(', ')] as const);
  return [
    agent === null
      ? null
      : ([
          'Agent',
          <Link key="a" to={`/agents/${agent.slug}`}>
            <AgentName of={agent} />
          </Link>,
        ] as const),
    request === null ? null : (['Decide', <Countdown key="d" until={request.decide_by} />] as const),
    listed('Merchants', merchants) ?? (['Merchants', 'Any'] as const),
    listed('Payees', payee_ids),
    listed('Types', action_types),
    listed('Items', expected_items),
    more.per_spend_limit_minor === null
      ? null
      : (['Each spend', `at most ${formatMoney(more.per_spend_limit_minor, currency)}`] as const),
    more.max_count === null ? null : (['Spends', `at most ${more.max_count} a period`] as const),
    [
      'Details',
      <Link key="i" to={`/allowances/${id}`}>
        {id}
      </Link>,
    ] as const,
  ];
}
