import type { Authority } from '@purser/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purser } from '../../api/client.ts';
import { useDebounced } from '../../lib/hooks/use-debounced.ts';

/** Large replays take far longer than other requests. Milliseconds. */
const TIMEOUT_MS = 300_000;

/** The replay of past decisions under the draft, started after each pause in typing. */
export function useSimulation(slug: string, authority: Authority | null, may: boolean) {
  const [limit, setLimit] = useState('500');
  const [days, setDays] = useState({ from: '', to: '' });
  const text = authority === null ? null : JSON.stringify(authority);
  const asked = useDebounced(text);
  const query = useQuery({
    queryKey: ['simulation', slug, asked, limit, days],
    queryFn: async ({ signal }) =>
      purser.agents.authority.simulate(
        slug,
        JSON.parse(asked as string) as Authority,
        {
          limit: Number(limit),
          ...(days.from === '' ? {} : { from: days.from }),
          ...(days.to === '' ? {} : { to: days.to }),
        },
        { signal, timeout: TIMEOUT_MS },
      ),
    enabled: may && asked !== null,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const is_old = text !== asked || query.isPlaceholderData;
  return { query, limit, setLimit, days, setDays, is_empty: asked === null, is_old };
}

export type EditorSimulation = ReturnType<typeof useSimulation>;
