import { type Cell, renderTable } from '../demo/table.ts';
import { type Goal, isReached, shownAim, shownValue, shownVerdict } from './goals.ts';
import { PUBLISHED } from './peers.ts';
import type { GroupResult, ResultTable } from './result.ts';
import type { Spread } from './statistics.ts';

/** Where and when was measured. */
export interface Machine {
  cpus: number;
  cpu: string;
  memory_bytes: number;
  node: string;
  /** Programs that wanted to run, on average over the minute before the start. */
  load_before: number;
  /** ISO 8601, UTC. */
  begun_at: string;
}

export interface BenchReport {
  machine: Machine;
  options: string;
  groups: { name: string; title: string; result: GroupResult }[];
}

/** A figure with digits that say something; `–` where there is none. */
export function shownNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

/** `5210 (4800 to 5400)`; a single measurement has no spread. */
export function shownSpread({ median, min, max }: Spread): string {
  return min === max
    ? shownNumber(median)
    : `${shownNumber(median)} (${shownNumber(min)} to ${shownNumber(max)})`;
}

const isShared = ({ cpus, load_before }: Machine) => load_before > cpus / 2;

function shownMachine(machine: Machine): string[] {
  const { cpus, cpu, memory_bytes, node, begun_at, load_before } = machine;
  return [
    `${begun_at.slice(0, 10)}, ${cpus} x ${cpu}, ${(memory_bytes / 1e9).toFixed(0)} GB, Node ${node}; service, PostgreSQL and load generator on this one machine, fsync on.`,
    isShared(machine)
      ? `The machine was shared: on average ${load_before.toFixed(1)} programs wanted its ${cpus} processors in the minute before. Rates are lower and times longer than on a machine of one's own; the ratios are of one run.`
      : `Nothing else of weight ran (load ${load_before.toFixed(1)} before).`,
  ];
}

const verdictStyle = (goal: Goal): Cell['style'] => {
  const reached = isReached(goal);
  return reached === null ? 'dim' : reached ? 'green' : 'red';
};

const measuredOf = ({ measured, unit }: Goal) => (measured === null ? '–' : shownValue(measured, unit));

/** The report for a terminal. */
export function renderReport(report: BenchReport, screen: { width: number; has_colour: boolean }): string[] {
  const columnsOf = ({ columns }: Pick<ResultTable, 'columns'>) =>
    columns.map((title, i) =>
      i === 0 ? { title: title.toUpperCase() } : { title: title.toUpperCase(), align: 'right' as const },
    );
  const lines = [...shownMachine(report.machine)];
  for (const { title, result } of report.groups) {
    lines.push('', `== ${title}`);
    for (const table of result.tables) {
      const rows = table.rows.map((row) => row.map((text) => ({ text })));
      lines.push('', table.title, ...renderTable(columnsOf(table), rows, screen));
    }
    lines.push('', ...result.notes);
  }
  const goals = report.groups.flatMap(({ result }) => result.goals);
  const rows = goals.map(
    (goal) =>
      [
        { text: goal.name },
        { text: shownAim(goal) },
        { text: measuredOf(goal) },
        { text: shownVerdict(goal), style: verdictStyle(goal) },
      ] as Cell[],
  );
  lines.push(
    '',
    ...renderTable(columnsOf({ columns: ['goal', 'aim', 'measured', 'verdict'] }), rows, screen),
  );
  if (isShared(report.machine)) {
    lines.push(
      '',
      'The machine was busy with other programs: a goal that was missed says little of the service.',
    );
  }
  const problems = problemsOf(report);
  lines.push(
    '',
    ...(problems.length === 0
      ? ['Every change that was answered is in its ledger once, and every ledger is valid.']
      : problems.map((problem) => `WRONG: ${problem}`)),
  );
  return lines;
}

/** Lists the problems, each with its group of measurements. */
const problemsOf = (report: BenchReport): string[] =>
  report.groups.flatMap(({ title, result }) => result.problems.map((problem) => `${title}: ${problem}`));

const cell = (text: string) => text.replaceAll('|', '\\|');

function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [
    `| ${columns.map(cell).join(' | ')} |`,
    `|${columns.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
  ];
}

/** The report as a page of the documentation. */
export function renderPage(report: BenchReport): string {
  const goals = report.groups.flatMap(({ result }) => result.goals);
  const problems = problemsOf(report);
  const lines = [
    `<!-- Written by \`npm run bench -- ${report.options}\`; do not edit. -->`,
    '',
    '# Performance',
    '',
    ...shownMachine(report.machine),
    '',
    '## Goals',
    '',
    ...markdownTable(
      ['goal', 'aim', 'measured', 'verdict'],
      goals.map((goal) => [goal.name, shownAim(goal), measuredOf(goal), shownVerdict(goal)]),
    ),
    '',
    problems.length === 0
      ? 'Every change that was answered is in its ledger once, and every ledger is valid.'
      : `Wrong in this run: ${problems.join(' ')}`,
  ];
  for (const { title, result } of report.groups) {
    lines.push('', `## ${title}`);
    for (const table of result.tables) {
      lines.push('', `### ${table.title}`, '', ...markdownTable(table.columns, table.rows));
    }
    lines.push('', ...result.notes.map((note) => `- ${note}`));
  }
  lines.push(
    '',
    '## What others publish',
    '',
    'Figures of their authors, on machines of theirs and of other work than a decision of Purser, which judges a purpose, holds a budget, chains a history and is durable when it is answered. They give the order of magnitude; what was measured here, on one machine, stands above.',
    '',
    ...markdownTable(
      ['what', 'published', 'where'],
      PUBLISHED.map(({ what, figure, where, source }) => [`[${what}](${source})`, figure, where]),
    ),
  );
  return `${lines.join('\n')}\n`;
}
