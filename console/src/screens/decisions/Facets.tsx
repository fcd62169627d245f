import type { Overview } from '@purser/sdk';
import { Link } from '@tanstack/react-router';
import type { Search } from '../../lib/search.ts';
import { reasonWords, words } from '../../lib/words.ts';
import styles from './Decisions.module.css';
import { useCounts } from './use-counts.ts';

/** The values of a filter with how many decisions have them. */
interface Facet {
  param: string;
  name: string;
  values: { value: string; text: string; count: number }[];
}

const MAX_VALUES = 6;
/** What the counts are narrowed by themselves, and what narrows nothing. */
const OF_ALL = ['agent', 'from', 'to', 'order'];

function facetsOf({ by_decision, by_reason, by_agent, by_currency }: Overview): Facet[] {
  const all = (mode: 'shadow' | 'enforce') => by_decision.reduce((sum, each) => sum + each[mode], 0);
  const facets: Facet[] = [
    {
      param: 'decision',
      name: 'Decision',
      values: by_decision.map(({ decision, count }) => ({ value: decision, text: words(decision), count })),
    },
    {
      param: 'mode',
      name: 'Mode',
      values: (['shadow', 'enforce'] as const).map((mode) => ({
        value: mode.toUpperCase(),
        text: mode.toUpperCase(),
        count: all(mode),
      })),
    },
    {
      param: 'reason',
      name: 'Reason',
      values: by_reason.map(({ reason_code, count }) => ({
        value: reason_code,
        text: reasonWords(reason_code),
        count,
      })),
    },
    {
      param: 'agent',
      name: 'Agent',
      values: by_agent.map(({ agent, count }) => ({ value: agent.slug, text: agent.slug, count })),
    },
    {
      param: 'currency',
      name: 'Currency',
      values: by_currency.map(({ currency, count }) => ({ value: currency, text: currency, count })),
    },
  ];
  return facets.map((facet) => ({ ...facet, values: facet.values.filter(({ count }) => count > 0) }));
}

/**
 * How many decisions each value of a filter would leave. The service counts by agent and time alone: once another filter
 * is set, only its own values can still be told, and with two of them none.
 */
export function Facets({ filters, kept }: { filters: Search; kept: Search }) {
  const set = Object.keys(filters).filter((name) => !OF_ALL.includes(name));
  const { data } = useCounts(filters, { enabled: set.length <= 1 });
  if (data === undefined || set.length > 1) return null;
  const facets = facetsOf(data).filter(
    ({ param, values }) =>
      values.length > (param === 'decision' ? 0 : 1) && (set.length === 0 || param === set[0]),
  );
  if (facets.length === 0) return null;
  return (
    <nav className={styles.facets} aria-label="Counts">
      {facets.map(({ param, name, values }) => (
        <div key={param}>
          <span>{name}</span>
          {values.slice(0, MAX_VALUES).map(({ value, text, count }) => {
            const is_set = filters[param]?.split(',').includes(value) === true;
            const { [param]: _value, ...others } = filters;
            return (
              <Link
                key={value}
                to="/decisions"
                search={{ ...kept, ...others, ...(is_set ? {} : { [param]: value }) }}
                aria-current={is_set ? 'true' : undefined}
                activeOptions={{ exact: true, includeSearch: true }}
              >
                {text} <b>{count.toLocaleString('en-US')}</b>
              </Link>
            );
          })}
        </div>
      ))}
      <p>
        {filters.from === undefined && filters.to === undefined ? 'Of the last 30 days.' : 'Of this time.'}
      </p>
    </nav>
  );
}
