import { formatMoney } from '@purser/mcp/money';
import type { CoverageReport } from '@purser/sdk';
import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';
import { percent } from './history.ts';

export interface CoverageOptions {
  agent?: string;
  feed?: string;
  from?: string;
  to?: string;
  json?: boolean;
}

/** The largest lines that are printed; all are in JSON. */
const SHOWN = 10;
const NAMES = [
  ['asked', 'asked'],
  ['late', 'asked late'],
  ['refused', 'not allowed'],
  ['never_asked', 'never asked'],
  ['waiting', 'waiting'],
  ['excluded', 'excluded'],
] as const;

/** The report in lines. */
function reportLines({ totals, never_asked, unassigned, deleted_imports }: CoverageReport): string[] {
  const of_currencies = totals.map((sums) => {
    const parts = NAMES.flatMap(([name, words]) =>
      sums[name].lines === 0
        ? []
        : `${formatMoney(sums[name].amount_minor, sums.currency)} ${words} (${sums[name].lines})`,
    );
    return `${sums.currency}: ${sums.asked_share === null ? '–' : percent(sums.asked_share)} asked for; ${parts.join(', ')}`;
  });
  return [
    ...(totals.length === 0
      ? ['No lines to compare: none was paid since its agent was created.']
      : of_currencies),
    ...(never_asked.length === 0 ? [] : ['Never asked, the largest:']),
    ...never_asked
      .slice(0, SHOWN)
      .map(
        ({ amount_minor, currency, merchant, occurred_at, agent, line_id }) =>
          `  ${formatMoney(amount_minor, currency)}  ${merchant}  ${occurred_at.slice(0, 10)}  ${agent?.slug ?? '–'}  ${line_id}`,
      ),
    ...(unassigned === 0 ? [] : [`Lines of no agent: ${unassigned}`]),
    ...(deleted_imports === 0 ? [] : [`Imports that were deleted: ${deleted_imports}`]),
  ];
}

/** Prints how much of what was paid was asked for. */
export async function coverage(
  context: Context,
  { json = false, ...query }: CoverageOptions,
): Promise<number> {
  const client = await context.client();
  const report = await client.reports.coverage(query);
  if (json) context.json(report);
  else context.say(...reportLines(report));
  return EXIT.ok;
}
