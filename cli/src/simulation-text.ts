import { formatMoney } from '@purser/mcp/money';
import type { Simulation } from '@purser/sdk';

const MAX_SHOWN = 10;

/** The effect of a draft, in lines. Amounts are in the draft's currency. */
export function simulationLines(simulation: Simulation, currency: string): string[] {
  const { evaluated, skipped, transitions, changed, attention } = simulation;
  const left_out = skipped.map(({ reason, count }) => `; ${count} skipped (${reason})`).join('');
  if (evaluated === 0) return [`Recent decisions: none to replay${left_out}.`];
  const moves = transitions.filter(({ count }) => count > 0);
  const others = changed.filter(({ current, draft }) => current.decision === draft.decision).length;
  return [
    `Last ${evaluated} decisions${left_out}:`,
    ...moves.map(
      ({ from, to, count, amount_minor }) =>
        `  ${count} ${from} → ${to} (${formatMoney(amount_minor, currency)})`,
    ),
    ...(moves.length === 0 ? ['  no decision would change'] : []),
    ...(others === 0 ? [] : [`  ${others} with another reason or amount`]),
    ...changed
      .filter(({ current, draft }) => current.decision !== draft.decision)
      .slice(0, MAX_SHOWN)
      .map(
        ({ decision_id, merchant, amount_minor, current, draft }) =>
          `    ${decision_id}  ${formatMoney(amount_minor, currency)}  ${oneLine(merchant)}: ${current.decision} → ${draft.decision} (${draft.reason_code})`,
      ),
    ...attentionLines(attention),
  ];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these would steer a terminal.
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/g;

/** Words of agents on one line, without characters that would steer the terminal. */
export function oneLine(text: string, max = 200): string {
  const line = text.replace(STEERING, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}

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
