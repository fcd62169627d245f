import type { MerchantSuggestion } from '@purser/sdk';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { type PageQuery, useList } from '../../api/lists.ts';
import { invalidate } from '../../api/live.ts';
import { RecordedAs } from '../../components/Author.tsx';
import { Badge, type Tone } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { type CsvColumns, ExportCsv } from '../../components/list/ExportCsv.tsx';
import { ErrorNotice } from '../../components/Notice.tsx';
import { Card, Empty, Loading } from '../../components/Page.tsx';
import { LoadMore, Table } from '../../components/Table.tsx';
import { Money, Time } from '../../components/Value.tsx';
import { useAction } from '../../lib/hooks/use-action.ts';
import { withEach } from '../../lib/pages.ts';
import { visible } from '../../lib/visible.ts';
import styles from './Merchants.module.css';

const SUGGESTED: Record<MerchantSuggestion['suggestion'], readonly [words: string, tone: Tone]> = {
  ALLOW: ['Allow', 'allow'],
  BLOCK: ['Block', 'deny'],
  ASK: ['You decide', 'review'],
};
/** The service's maximum per call. */
const MAX_AT_ONCE = 200;

/** Counts of labels, reviews and outcomes in words. */
function recordOf({ labels, reviews, settled, outcomes }: MerchantSuggestion): string {
  const parts = [
    [labels.ALIGNED + reviews.allowed, 'approved'],
    [labels.MISALIGNED + reviews.denied, 'rejected'],
    [settled, 'paid by the rail'],
    [outcomes.failed, 'failed'],
  ] as const;
  const found = parts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  return found.length === 0 ? 'none yet' : found.join(', ');
}

const CSV: CsvColumns<MerchantSuggestion> = [
  ['merchant', (each) => each.merchant],
  ['payee_ids', (each) => each.payee_ids.join(' ')],
  ['count', (each) => each.count],
  ['amounts', (each) => JSON.stringify(each.amounts)],
  ['first_at', (each) => each.first_at],
  ['last_at', (each) => each.last_at],
  ['suggestion', (each) => each.suggestion],
  ['why', (each) => each.why],
];

/**
 * Merchants that the agent pays, to select and confirm together. Confirming allows a merchant, or blocks it if that is
 * suggested. Those that people or the payment rail vouch for are preselected.
 */
export function Suggestions({ slug, why }: { slug: string; why: string | false }) {
  const fetchPage = (page: PageQuery) => purser.agents.merchants.suggestions(slug, page);
  const list = useList<MerchantSuggestion>(['agents', 'merchants', 'suggestions', slug], fetchPage, {
    mode: 'first',
    idOf: (each) => each.merchant,
  });
  const [ticks, setTicks] = useState<Readonly<Record<string, boolean>>>({});
  // Nothing is selected at first, so that one wrong press lists nothing that nobody looked at.
  const isTicked = ({ merchant }: MerchantSuggestion) => ticks[merchant] ?? false;
  const ticked = list.rows.filter(isTicked).slice(0, MAX_AT_ONCE);
  const confirming = useAction(async (verdict?: 'BLOCKED') => {
    const entries = ticked.map(({ merchant, payee_ids, suggestion }) =>
      (verdict ?? (suggestion === 'BLOCK' ? 'BLOCKED' : 'ALLOWED')) === 'BLOCKED'
        ? { merchant, verdict: 'BLOCKED' as const }
        : { merchant, payee_ids, verdict: 'ALLOWED' as const },
    );
    await purser.agents.merchants.add(slug, { entries });
    setTicks({});
    const listed = new Set(entries.map(({ merchant }) => merchant));
    list.patch((pages) => withEach(pages, (each) => (listed.has(each.merchant) ? null : each)));
    await invalidate('agents', 'merchants');
  });
  return (
    <Card
      title="Suggestions"
      flush={list.rows.length > 0}
      aside={
        <>
          <span className={styles.soft}>From requests of the last 90 days</span>
          <ExportCsv name={`suggestions-${slug}`} what="suggestions" columns={CSV} fetch={fetchPage} />
        </>
      }
    >
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Loading lines={4} />}
      {list.isSuccess && list.rows.length === 0 && (
        <Empty title="No suggestions">
          <p>Merchants that the agent pays and nobody has listed appear here.</p>
        </Empty>
      )}
      {list.rows.length > 0 && (
        <>
          <Table<MerchantSuggestion>
            label="Suggested merchants"
            rows={list.rows}
            keyOf={(each) => each.merchant}
            columns={[
              {
                name: 'Select',
                hideName: true,
                cell: (each) => (
                  <input
                    type="checkbox"
                    aria-label={`Select ${visible(each.merchant)}`}
                    disabled={why !== false}
                    checked={isTicked(each)}
                    onChange={(event) => {
                      const { checked } = event.target;
                      setTicks((before) => ({ ...before, [each.merchant]: checked }));
                    }}
                  />
                ),
              },
              {
                name: 'Merchant',
                heading: true,
                wrap: true,
                cell: (each) => (
                  <>
                    {visible(each.merchant)}
                    {each.examples.map((example) => (
                      <span key={example} className={styles.example}>
                        {example}
                      </span>
                    ))}
                  </>
                ),
              },
              { name: 'Requests', number: true, cell: (each) => each.count },
              {
                name: 'Amount',
                number: true,
                cell: (each) =>
                  each.amounts.map((amount) => (
                    <span key={amount.currency} className={styles.line}>
                      <Money {...amount} />
                    </span>
                  )),
              },
              { name: 'Last', cell: (each) => <Time at={each.last_at} /> },
              { name: 'Track record', wrap: true, cell: recordOf },
              {
                name: 'Suggestion',
                wrap: true,
                cell: (each) => {
                  const [suggested, tone] = SUGGESTED[each.suggestion];
                  return (
                    <>
                      <Badge tone={tone}>{suggested}</Badge>
                      <span className={styles.example}>{each.why}</span>
                    </>
                  );
                },
              },
            ]}
          />
          <LoadMore query={list} />
          <div className={styles.confirm}>
            {confirming.error !== null && <ErrorNotice error={confirming.error} />}
            <p className={styles.soft}>
              Confirming allows the selected merchants for the payees seen there, or blocks those suggested
              for blocking.
            </p>
            <div className={styles.buttons}>
              <Button
                kind="primary"
                busy={confirming.busy}
                why={why}
                disabled={ticked.length === 0}
                onClick={() => void confirming.run()}
              >
                Confirm {ticked.length === 1 ? '1 merchant' : `${ticked.length || ''} merchants`}
              </Button>
              <Button
                kind="danger"
                busy={confirming.busy}
                why={why}
                disabled={ticked.length === 0}
                onClick={() => void confirming.run('BLOCKED')}
              >
                Block selected
              </Button>
              {why === false && <RecordedAs />}
            </div>
          </div>
        </>
      )}
    </Card>
  );
}
