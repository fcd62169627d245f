import { formatMoney } from '@purser/mcp/money';
import type { ShadowReport } from '@purser/sdk';
import type { Context } from './context.ts';
import { EXIT } from './failure.ts';
import { attentionLines, oneLine } from './simulation-text.ts';

/** A line for each standing approval: what it answered ahead. */
const standingLines = (answered: ShadowReport['by_standing_approval']): string[] =>
  answered.length === 0
    ? []
    : [
        'Answered ahead:',
        ...answered.map(({ allowance, agent, count, amounts }) =>
          [
            `  ${allowance.id}`,
            ...(allowance.name === null ? [] : [oneLine(allowance.name, 64)]),
            agent.slug,
            count === 1 ? '1 request' : `${count} requests`,
            ...amounts.map((each) => formatMoney(each.amount_minor, each.currency)),
          ].join('  '),
        ),
      ];

/** The report in lines. */
function reportLines(report: ShadowReport): string[] {
  const { from, to, totals, by_standing_approval, questions, attention, readiness } = report;
  const { count, allow, review, deny, by_currency } = totals;
  return [
    `SHADOW, ${from} to ${to}: ${count} decisions, ${allow} ALLOW, ${review} REVIEW, ${deny} DENY`,
    ...by_currency.map(
      (each) => `  ${formatMoney(each.amount_minor, each.currency)} in ${each.count} requests`,
    ),
    ...standingLines(by_standing_approval),
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
