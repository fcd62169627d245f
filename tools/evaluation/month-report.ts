import type { Assess } from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import type { Share } from './measure.ts';
import { type Month, type MonthCounts, runMonth, SHADOW_DAYS } from './month.ts';

/** Shares of right spends that are described in new words. */
export const NEW_WORDS = [0, 0.1, 0.3] as const;

/** The two ways to start. */
const ARMS = [
  { name: 'ENFORCE from the start', after_shadow: false },
  { name: `${SHADOW_DAYS} days of SHADOW, merchants confirmed, 12 questions answered`, after_shadow: true },
] as const;

/** The size of a measurement, and its seeds. */
export interface MonthSettings {
  agents: number;
  spends: number;
  seeds: readonly number[];
}

/** The months of one arm with one share of new words, by seed. */
export interface MonthRow {
  arm: string;
  new_words: number;
  months: readonly Month[];
}

/** Runs the month in both arms, with each share of new words, for each seed. */
export function measureMonths(
  cases: readonly ExpectedSpend[],
  assess: Assess,
  { agents, spends, seeds }: MonthSettings,
): MonthRow[] {
  return ARMS.flatMap(({ name, after_shadow }) =>
    NEW_WORDS.map((new_words) => ({
      arm: name,
      new_words,
      months: seeds.map((seed) => runMonth(cases, { assess, seed, agents, spends, new_words, after_shadow })),
    })),
  );
}

const sum = (shares: readonly Share[]): Share =>
  shares.reduce((all, one) => ({ count: all.count + one.count, of: all.of + one.of }), { count: 0, of: 0 });

const ratio = ({ count, of }: Share): number => (of === 0 ? 0 : count / of);
const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** The share over all seeds, and its range where there are several. */
function ranged(shares: readonly Share[]): string {
  const all = shares.map(ratio);
  const mean = percent(ratio(sum(shares)));
  const [low, high] = [Math.min(...all), Math.max(...all)].map(percent);
  return low === high ? mean : `${mean} (${low} to ${high})`;
}

/** Wrong spends that passed, scaled to 36, which the goals speak of. */
const of36 = (shares: readonly Share[]): string => {
  const { count, of } = sum(shares);
  return `${count} of ${of} (${(ratio({ count, of }) * 36).toFixed(1)} of 36)`;
};

const COLUMNS = [
  'start',
  'new words',
  'to a person',
  'of these wrong',
  'wrong ones that passed',
  'punished for their words',
  'right called MISALIGNED',
  'to a person by week',
] as const;

function cellsOf({ arm, new_words, months }: MonthRow): string[] {
  const of = (name: keyof MonthCounts) => months.map(({ late }) => late[name]);
  const weeks = [0, 1, 2, 3].map((week) =>
    percent(ratio(sum(months.map(({ weeks }) => weeks[week] as Share)))),
  );
  return [
    arm,
    percent(new_words),
    ranged(of('to_person')),
    ranged(of('precision')),
    of36(of('passed')),
    ranged(of('punished')),
    ranged(of('misaligned')),
    weeks.join(', '),
  ];
}

/** The table of a file, as Markdown that also reads well in a terminal. */
export function renderMonths(rows: readonly MonthRow[], { agents, spends, seeds }: MonthSettings): string {
  const lines = [COLUMNS, COLUMNS.map(() => '---'), ...rows.map(cellsOf)].map(
    (cells) => `| ${cells.join(' | ')} |`,
  );
  const days = `days ${SHADOW_DAYS + 1} to 30 of a month of up to ${agents} agents with ${spends} spends each`;
  return `${days}, 3 % of them wrong; seeds ${seeds.join(', ')}\n\n${lines.join('\n')}\n`;
}
