import type { Line } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { resolveLine, useNearDecisions } from '../../api/coverage.ts';
import { workspaceQuery } from '../../api/queries.ts';
import { Button } from '../../components/Button.tsx';
import { Actions, Dialog } from '../../components/Dialog.tsx';
import { AreaField, SelectField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { formatMoney } from '../../lib/money.ts';
import { visible } from '../../lib/visible.ts';
import styles from './Coverage.module.css';

/** Statements of a person about a line. */
export type Said = 'MATCH' | 'UNMATCH' | 'EXCLUDE' | 'INCLUDE';

const WORDS: Readonly<Record<Said, readonly [action: string, says: string]>> = {
  MATCH: ['Match', 'Names the request that asked for this payment.'],
  UNMATCH: ['Unmatch', 'No request asked for this payment. It is compared with none from now on.'],
  EXCLUDE: ['Exclude', 'The payment counts in no share, as a fee of the bank.'],
  INCLUDE: ['Include', 'The payment is compared with requests again.'],
};

/** Asks a person about a line and records the answer. */
export function ResolveLine({ said, line, onClose }: { said: Said; line: Line; onClose: () => void }) {
  const [action, says] = WORDS[said];
  const [decision_id, setDecision] = useState('');
  const [comment, setComment] = useState('');
  const saving = useAction(async () => {
    const body = {
      action: said,
      ...(said === 'MATCH' ? { decision_id } : {}),
      ...(comment === '' ? {} : { comment }),
    };
    await resolveLine(line.line_id, body);
    onClose();
  });
  const amount = formatMoney(line.amount_minor, line.currency);
  return (
    <Dialog title={`${action}: ${amount} to ${visible(line.merchant)}`} onClose={onClose}>
      <div className={styles.form}>
        <p>{says}</p>
        {said === 'MATCH' && <Requests line={line} value={decision_id} onValue={setDecision} />}
        <AreaField label="Comment" optional value={comment} onValue={setComment} maxLength={2_000} />
        {saving.error !== null && <ErrorNotice error={saving.error} />}
        <Actions recorded>
          <Button
            kind="primary"
            busy={saving.busy}
            why={said === 'MATCH' && decision_id === '' && 'Choose the request first.'}
            onClick={() => void saving.run()}
          >
            {action}
          </Button>
        </Actions>
      </div>
    </Dialog>
  );
}

function Requests({
  line,
  value,
  onValue,
}: {
  line: Line;
  value: string;
  onValue: (decision_id: string) => void;
}) {
  const workspace = useQuery(workspaceQuery);
  const query = useNearDecisions(line, workspace.data?.coverage.window_days ?? 7);
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  const apart = (amount_minor: number) => Math.abs(amount_minor - line.amount_minor);
  const near = [...(query.data ?? [])].sort(
    (a, b) => apart(a.requested_amount_minor) - apart(b.requested_amount_minor),
  );
  if (query.data !== undefined && near.length === 0)
    return (
      <Notice>
        {line.agent !== null && <AgentName of={line.agent} />} made no request around that time, so nothing
        can be matched with this payment.
      </Notice>
    );
  const options = near.map(
    (each) =>
      [
        each.decision_id,
        `${formatMoney(each.requested_amount_minor, each.currency)} · ${visible(each.action.merchant)} · ${each.created_at.slice(0, 16).replace('T', ' ')}`,
      ] as const,
  );
  return (
    <SelectField
      label="Request"
      hint="Requests of the agent around that time, those of the nearest amount first. Times are UTC."
      value={value}
      onValue={onValue}
      options={[['', 'Choose'], ...options]}
    />
  );
}
