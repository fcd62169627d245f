import type { Decision, Line, LineResolutionRequest } from '@purser/sdk';
import { useQuery } from '@tanstack/react-query';
import { purser } from './client.ts';
import { invalidate } from './live.ts';

const SHOWN_LINES = 100;
const SHOWN_DECISIONS = 50;
const DAY_MS = 86_400_000;

/** Loads how much of what was paid was asked for. */
export const useCoverage = (agent: string) =>
  useQuery({
    queryKey: ['coverage', 'report', agent],
    queryFn: () => purser.reports.coverage(agent === '' ? {} : { agent }),
  });

/** The newest lines in a state. */
export const useLinesIn = (state: NonNullable<Line['coverage']>['state'], agent: string) =>
  useQuery({
    queryKey: ['coverage', 'lines', state, agent],
    queryFn: async () =>
      (
        await purser.lines.list({
          state,
          limit: SHOWN_LINES,
          ...(agent === '' ? {} : { agent }),
        })
      ).data,
  });

/** The decisions of a line's agent around its time that could have asked for it. `window_days`: how far before it. */
export const useNearDecisions = ({ agent, occurred_at, line_id }: Line, window_days: number) =>
  useQuery<Decision[]>({
    queryKey: ['coverage', 'near', line_id, window_days],
    enabled: agent !== null,
    queryFn: async () => {
      const at_ms = Date.parse(occurred_at);
      const page = await purser.decisions.list({
        agent: agent?.slug ?? '',
        from: new Date(at_ms - window_days * DAY_MS).toISOString(),
        to: new Date(at_ms + 2 * DAY_MS).toISOString(),
        limit: SHOWN_DECISIONS,
      });
      return page.data as Decision[];
    },
  });

/** Records what a person says about a line. */
export async function resolveLine(line_id: string, body: LineResolutionRequest): Promise<void> {
  await purser.lines.resolve(line_id, body);
  // Lines are compared again within a second or two.
  for (const after_ms of [0, 1_500, 4_000]) setTimeout(() => void invalidate('coverage'), after_ms);
}
