import type { Decision } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import type { Place } from '../../components/AgentTabs.tsx';
import { AgentName } from '../../components/names/AgentName.tsx';
import type { Search } from '../../lib/search.ts';
import { reasonWords, words } from '../../lib/words.ts';
import styles from './Decisions.module.css';
import { countsOf, countsOfRows, type ValueCounts } from './facet-counts.ts';
import { useCounts } from './use-counts.ts';

const MAX_VALUES = 6;
/** Filters that the counts already apply, and the order. */
const OF_ALL = ['agent', 'from', 'to', 'order'];
const plain = (value: string) => value;

/** Filters with counted values, and the words for their values. */
const FACETS: readonly { param: keyof ValueCounts; name: string; inWords: (value: string) => string }[] = [
  { param: 'decision', name: 'Decision', inWords: words },
  { param: 'mode', name: 'Mode', inWords: words },
  { param: 'reason', name: 'Reason', inWords: reasonWords },
  { param: 'agent', name: 'Agent', inWords: plain },
  { param: 'currency', name: 'Currency', inWords: plain },
];

/**
 * The number of decisions for each value of a filter. The service counts by agent and time, so its counts also hold for the
 * values of one more filter. For other combinations only the loaded rows are counted, and the text says so.
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
  /** True if more rows match than are loaded. */
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
      {facets.map(({ param, name, inWords, values }) => (
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
                {param === 'agent' ? <AgentName of={{ slug: value }} /> : inWords(value)}{' '}
                <b>{count.toLocaleString('en-US')}</b>
              </Link>
            );
          })}
        </div>
      ))}
      <p>
        {!is_counted
          ? has_more
            ? `Among ${rows.length.toLocaleString('en-US')} loaded decisions.`
            : 'Among all matching decisions.'
          : filters.from === undefined && filters.to === undefined
            ? 'In the last 30 days.'
            : 'In this period.'}
      </p>
    </nav>
  );
}
