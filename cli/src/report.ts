import { formatMoney } from '@purser/mcp/money';
import type { ShadowReport, Simulation } from '@purser/sdk';
import type { Context } from './context.ts';
import { EXIT } from './failure.ts';

/** A line for each level of attention: what it would have asked and missed. */
export function attentionLines({ evaluated, wrong, levels }: Simulation['attention']): string[] {
  if (evaluated === 0) return [];
  return [
    `Attention, on ${evaluated} decisions, ${wrong} of them found wrong:`,
    ...levels.map(
      ({ level, asked, questions, found, missed }) =>
        `  ${level.padEnd(6)}  asks about ${asked} (questions: ${questions}), ${found} of them wrong; misses ${missed}`,
    ),
  ];
}

/** The report in lines. */
function reportLines(report: ShadowReport): string[] {
  const { from, to, totals, questions, attention, readiness } = report;
  const { count, allow, review, deny, by_currency } = totals;
  return [
    `SHADOW, ${from} to ${to}: ${count} decisions, ${allow} ALLOW, ${review} REVIEW, ${deny} DENY`,
    ...by_currency.map(
      (each) => `  ${formatMoney(each.amount_minor, each.currency)} in ${each.count} requests`,
    ),
    questions.message,
    ...attentionLines(attention),
    readiness.ready ? 'Ready to enforce.' : 'Not ready to enforce:',
    ...readiness.blockers.map(({ message }) => `  ${message}`),
  ];
}

/** Prints what SHADOW would have decided. */
export async function report(
  context: Context,
  options: { agent?: string; from?: string; to?: string; json?: boolean },
): Promise<number> {
  const client = await context.client();
  const { agent, from, to } = options;
  const found = await client.reports.shadow({ agent, from, to });
  if (options.json === true) context.json(found);
  else context.say(...reportLines(found));
  return EXIT.ok;
}
