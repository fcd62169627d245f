import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import type { Place } from '../../components/AgentTabs.tsx';
import type { Search } from '../../lib/search.ts';
import { reasonWords, words } from '../../lib/words.ts';
import styles from './Decisions.module.css';
import { countsOf, countsOfRows, type ValueCounts } from './facet-counts.ts';
import { useCounts } from './use-counts.ts';

const MAX_VALUES = 6;
/** What the counts are narrowed by themselves, and what narrows nothing. */
const OF_ALL = ['agent', 'from', 'to', 'order'];
const plain = (value: string) => value;

/** The filters whose values are counted, with how their values are said. */
const FACETS: readonly { param: keyof ValueCounts; name: string; say: (value: string) => string }[] = [
  { param: 'decision', name: 'Decision', say: words },
  { param: 'mode', name: 'Mode', say: words },
  { param: 'reason', name: 'Reason', say: reasonWords },
  { param: 'agent', name: 'Agent', say: plain },
  { param: 'currency', name: 'Currency', say: plain },
];

/**
 * How many decisions each value of a filter would leave. The service counts by agent and time alone, and with one further
 * filter still that one's own values; of any others what was read is counted, and said to be no more than that.
 */
export function Facets({
  filters,
  kept,
  place,
  rows,
  has_more,
}: {
  filters: Search;
  kept: Search;
  place: Place;
  rows: readonly Decision[];
  /** Whether more rows fit than were read. */
  has_more: boolean;
}) {
  const set = Object.keys(filters).filter((name) => !OF_ALL.includes(name));
  const is_counted = set.length === 0 || (set.length === 1 && FACETS.some(({ param }) => param === set[0]));
  const { data } = useCounts({ ...filters, ...place.fixed }, { enabled: is_counted });
  const counts = !is_counted ? countsOfRows(rows) : data === undefined ? null : countsOf(data);
  if (counts === null) return null;
  const facets = FACETS.map((facet) => ({ ...facet, values: counts[facet.param] })).filter(
    ({ param, values }) =>
      values.length > (param === 'decision' ? 0 : 1) &&
      (set.length === 0 || !is_counted || param === set[0]) &&
      place.fixed[param as 'agent'] === undefined,
  );
  if (facets.length === 0) return null;
  return (
    <nav className={styles.facets} aria-label="Counts">
      {facets.map(({ param, name, say, values }) => (
        <div key={param}>
          <span>{name}</span>
          {values.slice(0, MAX_VALUES).map(({ value, count }) => {
            const is_set = filters[param]?.split(',').includes(value) === true;
            const { [param]: _value, ...others } = filters;
            return (
              <Link
                key={value}
                to={place.path}
                search={{ ...kept, ...others, ...(is_set ? {} : { [param]: value }) }}
                aria-current={is_set ? 'true' : undefined}
                activeOptions={{ exact: true, includeSearch: true }}
              >
                {say(value)} <b>{count.toLocaleString('en-US')}</b>
              </Link>
            );
          })}
        </div>
      ))}
      <p>
        {!is_counted
          ? has_more
            ? `Of the ${rows.length.toLocaleString('en-US')} that were read so far.`
            : 'Of all that fit.'
          : filters.from === undefined && filters.to === undefined
            ? 'Of the last 30 days.'
            : 'Of this time.'}
      </p>
    </nav>
  );
}
