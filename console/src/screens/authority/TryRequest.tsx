import { type Authority, type AuthorityTest, InvalidRequestError } from '@purser/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { TextField } from '../../components/Field.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { cx } from '../../lib/cx.ts';
import { useDebounced } from '../../lib/hooks/use-debounced.ts';
import { formatMoney, fromInput, toInput } from '../../lib/money.ts';
import type { TemplateRequest } from '../../lib/samples/templates.ts';
import { visible } from '../../lib/visible.ts';
import styles from './TryRequest.module.css';

const textsOf = ({ merchant, amount_minor, currency, description = '' }: TemplateRequest) => ({
  merchant,
  amount: toInput(amount_minor, currency),
  description,
});

/** Asks the draft about a request. Nothing is saved, and every limit counts as unused. */
async function tryOn(authority: Authority, request: TemplateRequest): Promise<AuthorityTest> {
  return purser.authority.test({
    authority,
    steps: [{ at: new Date().toISOString(), decide: { action: request } }],
  });
}

export interface TryRequestProps {
  /** Null while the draft has problems. */
  authority: Authority | null;
  samples: readonly TemplateRequest[];
}

/**
 * A form with which a draft answers requests that nobody has sent, and samples to begin with. The answer follows each
 * change of the draft.
 */
export function TryRequest({ authority, samples }: TryRequestProps) {
  const currency = authority?.currency ?? samples[0]?.currency ?? 'EUR';
  const [texts, setTexts] = useState({ merchant: '', amount: '', description: '' });
  const [problem, setProblem] = useState<{ merchant?: string; amount?: string }>({});
  const [request, setRequest] = useState<TemplateRequest | null>(null);
  const set = (name: keyof typeof texts) => (value: string) => {
    setTexts((before) => ({ ...before, [name]: value }));
    setProblem({});
  };
  const send = () => {
    const read = fromInput(texts.amount, currency);
    const amount_problem =
      'problem' in read ? read.problem : (read.amount_minor ?? 0) < 1 ? 'must be more than 0' : undefined;
    const merchant_problem = texts.merchant.trim() === '' ? 'must name who is paid' : undefined;
    setProblem({
      ...(merchant_problem === undefined ? {} : { merchant: merchant_problem }),
      ...(amount_problem === undefined ? {} : { amount: amount_problem }),
    });
    if (merchant_problem !== undefined || amount_problem !== undefined || 'problem' in read) return;
    const description = texts.description.trim();
    setRequest({
      type: 'purchase',
      merchant: texts.merchant.trim(),
      amount_minor: read.amount_minor as number,
      currency,
      ...(description === '' ? {} : { description }),
    });
  };
  const choose = (sample: TemplateRequest) => {
    setTexts(textsOf(sample));
    setProblem({});
    setRequest(sample);
  };
  const isChosen = (sample: TemplateRequest) =>
    request?.merchant === sample.merchant && request.amount_minor === sample.amount_minor;
  return (
    <Card title="Try a request" aside={<span className={styles.soft}>Nothing is saved.</span>}>
      {samples.length > 0 && (
        <ul className={styles.samples} aria-label="Sample requests">
          {samples.map((sample) => (
            <li key={`${sample.merchant} ${sample.amount_minor} ${sample.description}`}>
              <button type="button" aria-pressed={isChosen(sample)} onClick={() => choose(sample)}>
                <strong>{visible(sample.merchant)}</strong>{' '}
                {formatMoney(sample.amount_minor, sample.currency)}
                {sample.description !== undefined && <span>{visible(sample.description)}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        noValidate
      >
        <TextField
          label="Merchant"
          autoComplete="off"
          value={texts.merchant}
          problem={problem.merchant}
          onValue={set('merchant')}
        />
        <TextField
          label="Amount"
          inputMode="decimal"
          autoComplete="off"
          prefix={currency}
          value={texts.amount}
          problem={problem.amount}
          onValue={set('amount')}
        />
        <div className={styles.wide}>
          <TextField
            label="Description"
            optional
            autoComplete="off"
            hint="What the agent says it is for."
            value={texts.description}
            onValue={set('description')}
          />
        </div>
        <Button type="submit" why={authority === null && 'Enter an objective first.'}>
          Try request
        </Button>
      </form>
      {authority !== null && request !== null && (
        <Answer authority={authority} request={{ ...request, currency }} />
      )}
    </Card>
  );
}

function Answer({ authority, request }: { authority: Authority; request: TemplateRequest }) {
  const draft = useDebounced(JSON.stringify(authority)) as string;
  const { data, error, isError, isPending, refetch } = useQuery({
    queryKey: ['authority', 'try', draft, request],
    queryFn: () => tryOn(JSON.parse(draft) as Authority, request),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  if (isError) {
    if (error instanceof InvalidRequestError)
      return (
        <Notice tone="warn" title="This cannot be tried yet.">
          {error.message}
        </Notice>
      );
    return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  const verdict = data?.steps[0]?.verdict;
  if (isPending || verdict == null) return <Loading lines={2} />;
  return (
    <div className={cx(styles.answer, styles[verdict.decision])} role="status" aria-label="Answer">
      <p>
        <StateBadge state={verdict.decision} /> <strong>{visible(verdict.action.merchant)}</strong>{' '}
        {formatMoney(verdict.requested_amount_minor, verdict.currency)}
      </p>
      <p>{verdict.explanation}</p>
    </div>
  );
}
