import type { Assess } from '@purser/server/tools';
import type { ExpectedSpend } from '../demo/spends-file.ts';
import { SHADOW_DAYS } from './month.ts';
import type { MonthSettings } from './month-report.ts';
import { type Answering, runStandingMonth, type StandingMonth } from './standing-month.ts';

/** The share of right spends that are described in words that nobody has seen. */
const NEW_WORDS = 0.3;
/** The share of right spends over the review threshold, where the month sets one. */
const OVER_THRESHOLD = 0.3;

const ASKED = [
  { name: 'as in the file', over_threshold: null },
  { name: 'with a review threshold that 30 % of the right spends exceed', over_threshold: OVER_THRESHOLD },
] as const;
const ANSWERING: readonly Answering[] = ['never', 'when it comes again', 'at once'];

/** The months of all seeds together, with the rules that ask and a person's way to answer. */
export interface StandingRow {
  asked: string;
  answering: Answering;
  month: StandingMonth;
}

function sum(months: readonly StandingMonth[]): StandingMonth {
  const total = (of: (month: StandingMonth) => number) => months.reduce((all, one) => all + of(one), 0);
  return {
    reviews: { count: total((one) => one.reviews.count), of: total((one) => one.reviews.of) },
    passed: { count: total((one) => one.passed.count), of: total((one) => one.passed.of) },
    answered_wrongly: total((one) => one.answered_wrongly),
    made: total((one) => one.made),
    left: {
      again: total((one) => one.left.again),
      first: total((one) => one.left.first),
      wrong: total((one) => one.left.wrong),
      unanswerable: total((one) => one.left.unanswerable),
    },
  };
}

/** Runs the month with and without standing approvals, for each seed. */
export function measureStanding(
  cases: readonly ExpectedSpend[],
  assess: Assess,
  { agents, spends, seeds }: MonthSettings,
): StandingRow[] {
  return ASKED.flatMap(({ name, over_threshold }) =>
    ANSWERING.map((answering) => {
      const options = { assess, agents, spends, new_words: NEW_WORDS, answering, over_threshold };
      return {
        asked: name,
        answering,
        month: sum(seeds.map((seed) => runStandingMonth(cases, { ...options, seed }))),
      };
    }),
  );
}

const COLUMNS = [
  'reviews',
  'standing approval',
  'made',
  'to a person',
  'fewer',
  'wrong ones that passed',
  'answered ahead',
  'of the reviews: came again',
  'new',
  'wrong',
  'not answerable',
] as const;

function cellsOf({ asked, answering, month }: StandingRow, without: StandingMonth): string[] {
  const { reviews, passed, answered_wrongly, made, left } = month;
  const fewer = without.reviews.count === 0 ? 0 : 1 - reviews.count / without.reviews.count;
  return [
    asked,
    answering,
    `${made}`,
    `${reviews.count} of ${reviews.of}`,
    answering === 'never' ? '' : `${(fewer * 100).toFixed(0)} %`,
    `${passed.count} of ${passed.of}`,
    answering === 'never' ? '' : `${answered_wrongly}`,
    `${left.again}`,
    `${left.first}`,
    `${left.wrong}`,
    `${left.unanswerable}`,
  ];
}

/** The table of a file, as Markdown that also reads well in a terminal. */
export function renderStanding(
  rows: readonly StandingRow[],
  { agents, spends, seeds }: MonthSettings,
): string {
  const without = (row: StandingRow) =>
    (rows.find((one) => one.asked === row.asked && one.answering === 'never') ?? row).month;
  const cells = [COLUMNS, COLUMNS.map(() => '---'), ...rows.map((row) => cellsOf(row, without(row)))];
  const lines = cells.map((row) => `| ${row.join(' | ')} |`);
  const days = `days ${SHADOW_DAYS + 1} to 30 of a month of up to ${agents} agents with ${spends} spends each`;
  return `${days}, 3 % of them wrong, new words in 30 % of the right ones; seeds ${seeds.join(', ')} together\n\n${lines.join('\n')}\n`;
}
