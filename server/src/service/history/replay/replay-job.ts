import type { Authority } from '@purser/contract/authority';
import type { Assess } from '@purser/rules/domain/assessment';
import { type Anomaly, findAnomalies } from '@purser/rules/history/anomalies';
import type { Aims } from '@purser/rules/history/proposal-numbers';
import type { LineReplayOptions, LineReplayResult, ReplayedLine } from '@purser/rules/history/replay-lines';
import { type NextTurn, type Proposed, propose, replayDraft } from './propose.ts';

/** Everything that people said of an agent's merchants and questions. */
export type Known = Pick<LineReplayOptions, 'facts' | 'directory'>;

/** The work about lines, as data. */
export type ReplayJob =
  | { kind: 'replay'; draft: Authority; known: Known }
  | {
      kind: 'proposal';
      /** The policy of the agent; null: none. */
      current: Authority | null;
      purpose: Authority['purpose'];
      /** Where there are no lines. */
      default_currency: string;
      aims: Aims;
      known: Known;
    }
  | { kind: 'anomalies'; threshold_minor: number | null };

/** The result of each kind of job. */
export interface ReplayResults {
  replay: LineReplayResult;
  proposal: Proposed;
  anomalies: Anomaly[];
}

const byTime = (a: ReplayedLine, b: ReplayedLine) =>
  a.occurred_at !== b.occurred_at ? (a.occurred_at < b.occurred_at ? -1 : 1) : a.line_id < b.line_id ? -1 : 1;

/** The currency of most lines; null without any. */
function mostFrequent(lines: readonly ReplayedLine[]): string | null {
  const counts = new Map<string, number>();
  for (const { currency } of lines) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? null;
}

/** Does a job about lines, which may come in any order. It takes seconds where there are many. */
export async function doReplayJob(
  job: ReplayJob,
  lines: ReplayedLine[],
  { assess, nextTurn }: { assess: Assess; nextTurn: NextTurn },
): Promise<ReplayResults[ReplayJob['kind']]> {
  lines.sort(byTime);
  if (job.kind === 'anomalies') return findAnomalies(lines, job.threshold_minor);
  if (job.kind === 'replay') {
    return await replayDraft(lines, { draft: job.draft, assess, ...job.known }, nextTurn);
  }
  const { current, purpose, default_currency, aims, known } = job;
  const found = mostFrequent(lines);
  const spends = lines.filter((line) => line.kind === 'SPEND' && line.currency === found);
  const base: Authority = { ...(current ?? {}), purpose, currency: found ?? default_currency };
  return await propose({ lines, spends, base, current, aims }, { assess, ...known }, nextTurn);
}
