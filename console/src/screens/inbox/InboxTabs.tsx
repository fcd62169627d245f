import { Link } from '@tanstack/react-router';
import { Tabs } from '../../components/Page.tsx';
import { TABS } from './use-reviews.ts';

const NAMES: readonly (readonly [key: string, name: string])[] = Object.entries(TABS).flatMap(
  ([key, { name }]) =>
    key === 'waiting' ? [[key, name] as const, ['requests', 'Requests'] as const] : [[key, name] as const],
);

/** The tabs of the inbox: those of the reviews, and the requested allowances. */
export function InboxTabs({ tab }: { tab: string }) {
  return (
    <Tabs label="Reviews">
      {NAMES.map(([key, name]) => (
        <Link
          key={key}
          to="/reviews"
          search={key === 'waiting' ? {} : { tab: key }}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={key === tab ? 'page' : undefined}
        >
          {name}
        </Link>
      ))}
    </Tabs>
  );
}
