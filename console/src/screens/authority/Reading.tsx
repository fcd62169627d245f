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
import { type Correcting, CorrectionsForm, NotThis, type OnCorrect, useCorrections } from './Corrections.tsx';

type Example = AuthorityReading['examples'][number];

/** Purser's interpretation of the draft, so that its author notices misreadings before saving. */
export function Reading(props: { authority: Authority | null; onCorrect: OnCorrect | undefined }) {
  const { authority, onCorrect } = props;
  const correcting = useCorrections(authority?.purpose.reading ?? null, onCorrect);
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
          <Shown reading={query.data} correcting={correcting} />
        </div>
      )}
    </Card>
  );
}

/** The readings by their headings; a condition also says how it is met. */
function termsOf(reading: AuthorityReading) {
  const { wanted, forbidden, conditions, merchants, people, wishes } = reading;
  return [
    ['Wanted', wanted.map((chip) => ({ chip, as: chip.kind }))],
    ['Forbidden', forbidden.map((chip) => ({ chip, as: chip.kind }))],
    ['Conditions', conditions.map((chip) => ({ chip, as: chip.met_by }))],
    ['Merchants', merchants.map((chip) => ({ chip, as: undefined }))],
    ['People', people.map((chip) => ({ chip, as: undefined }))],
    ['Wishes, which ask nothing', wishes.map((chip) => ({ chip, as: undefined }))],
  ] as const;
}

function Shown({ reading, correcting }: { reading: AuthorityReading; correcting: Correcting }) {
  const { not_understood, examples } = reading;
  return (
    <>
      {not_understood.length > 0 && (
        <Notice tone="warn" title="Not understood">
          <ul className={styles.sentences}>
            {not_understood.map((chip) => (
              <li key={`${chip.from.field} ${chip.from.index} ${chip.text}`}>{chip.text}</li>
            ))}
          </ul>
          Try other wording, such as “No …”, “… only from …” or “… only after …”. Purser cannot enforce text
          that it does not understand.
        </Notice>
      )}
      <dl className={styles.terms}>
        {termsOf(reading)
          .filter(([, list]) => list.length > 0)
          .map(([name, list]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <ul>
                  {list.map(({ chip, as }) => (
                    <li
                      key={`${chip.words} ${chip.kind} ${as} ${chip.from.field} ${chip.from.index}`}
                      className={styles.chip}
                    >
                      <span>
                        <strong>{chip.words}</strong>
                        {as !== undefined && <span className={styles.was}> {as}</span>}
                      </span>
                      <NotThis chip={chip} correcting={correcting} />
                    </li>
                  ))}
                </ul>
              </dd>
            </div>
          ))}
      </dl>
      {correcting !== undefined && <CorrectionsForm correcting={correcting} />}
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
                {visible(action.merchant)}: {visible(action.description ?? '')}
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
