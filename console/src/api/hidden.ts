import type { PagePromise } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';

/** The most that a list answers with at once: of more it is said that there are more. */
const MOST = 200;

/**
 * How many rows a list hides until it is asked for them, as text: "3", or "200+". Undefined until it is known. `key` names
 * the list and its filters.
 */
export function useHidden(
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
