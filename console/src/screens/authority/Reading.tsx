import { type Authority, type AuthorityReading, InvalidRequestError } from '@purser/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { purser } from '../../api/client.ts';
import { StateBadge } from '../../components/Badge.tsx';
import { ErrorNotice, Notice } from '../../components/Notice.tsx';
import { Card, Loading } from '../../components/Page.tsx';
import { Table } from '../../components/Table.tsx';
import { Money } from '../../components/Value.tsx';
import { cx } from '../../lib/cx.ts';
import { useDebounced } from '../../lib/hooks/use-debounced.ts';
import { visible } from '../../lib/visible.ts';
import styles from './Authority.module.css';

type Example = AuthorityReading['examples'][number];

/** Purser's interpretation of the draft, so that its author notices misreadings before saving. */
export function Reading({ authority }: { authority: Authority | null }) {
  const text = authority === null ? null : JSON.stringify(authority);
  const asked = useDebounced(text);
  const query = useQuery({
    queryKey: ['reading', asked],
    queryFn: async ({ signal }) =>
      purser.authority.reading(JSON.parse(asked as string) as Authority, { signal }),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const is_old = text !== asked || query.isPlaceholderData;
  return (
    <Card title="How Purser reads it">
      {query.isError &&
        (query.error instanceof InvalidRequestError ? (
          <p className={styles.status}>{query.error.message}</p>
        ) : (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ))}
      {query.isLoading && <Loading lines={5} />}
      {asked === null && (
        <p className={styles.status}>As you type, this shows how Purser interprets your text.</p>
      )}
      {query.data !== undefined && (
        <div className={cx(styles.reading, is_old && styles.stale)} aria-busy={is_old}>
          <Shown reading={query.data} />
        </div>
      )}
    </Card>
  );
}

function Shown({ reading }: { reading: AuthorityReading }) {
  const { wanted, forbidden, conditions, merchants, people, not_understood, examples } = reading;
  const terms: [string, { key: string; said: string; as?: string }[]][] = [
    ['Wanted', wanted.map(({ kind, words }) => ({ key: `${words} ${kind}`, said: words, as: kind }))],
    ['Forbidden', forbidden.map(({ kind, words }) => ({ key: `${words} ${kind}`, said: words, as: kind }))],
    [
      'Conditions',
      conditions.map(({ text, met_by }) => ({ key: `${text} ${met_by}`, said: text, as: met_by })),
    ],
    ['Merchants', merchants.map(({ name, from }) => ({ key: `${name} ${from.text}`, said: name }))],
    ['People', people.map(({ name, from }) => ({ key: `${name} ${from.text}`, said: name }))],
  ];
  return (
    <>
      {not_understood.length > 0 && (
        <Notice tone="warn" title="Not understood">
          <ul className={styles.sentences}>
            {not_understood.map(({ text, from }) => (
              <li key={`${from.field} ${from.index} ${text}`}>{text}</li>
            ))}
          </ul>
          Try other wording, such as “No …”, “… only from …” or “… only after …”. Purser cannot enforce text
          that it does not understand.
        </Notice>
      )}
      <dl className={styles.terms}>
        {terms
          .filter(([, list]) => list.length > 0)
          .map(([name, list]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <ul>
                  {list.map(({ key, said, as }) => (
                    <li key={key}>
                      <strong>{said}</strong>
                      {as !== undefined && <span className={styles.was}> {as}</span>}
                    </li>
                  ))}
                </ul>
              </dd>
            </div>
          ))}
      </dl>
      <Table<Example>
        label="Example requests with their assessment"
        rows={examples}
        keyOf={({ spend }) => `${spend.action.merchant} ${spend.action.description}`}
        columns={[
          {
            name: 'Example',
            heading: true,
            wrap: true,
            cell: ({ spend: { action }, because }) => (
              <>
                {visible(action.merchant)}: {action.description}
                <div className={styles.was}>{because}</div>
              </>
            ),
          },
          {
            name: 'Assessment',
            cell: ({ spend: { action }, assessment }) => (
              <>
                <StateBadge state={assessment} />
                <div>
                  <Money amount_minor={action.amount_minor} currency={action.currency} />
                </div>
              </>
            ),
          },
        ]}
      />
    </>
  );
}
