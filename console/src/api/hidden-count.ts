import type { PagePromise } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';

/** The service's largest page. A longer list is shown as "200+". */
const MOST = 200;

/**
 * The number of rows that a list hides by default, as text: "3" or "200+". Undefined while loading. `key` identifies the list
 * and its filters.
 */
export function useHiddenCount(
  key: readonly unknown[],
  fetch: (limit: number) => PagePromise<unknown>,
  options: { enabled: boolean },
): string | undefined {
  const { data } = useQuery({
    queryKey: [...key, 'hidden'],
    queryFn: async () => {
      const { data, next_cursor } = await fetch(MOST);
      return `${data.length}${next_cursor === null ? '' : '+'}`;
    },
    ...options,
  });
  return data;
}
