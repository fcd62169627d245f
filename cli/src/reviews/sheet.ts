import { formatMoney } from '@purser/mcp/money';
import type { Claim, MerchantPast, Sheet, SheetLimit } from '@purser/sdk';
import { oneLine } from '../simulation-text.ts';

const LONG = 1_000;

function limitLine(
  { name, kind, limit_minor, used_now_minor, limit_count, used_now_count }: SheetLimit,
  currency: string,
) {
  const called = kind === 'velocity' || kind === 'shared_budget' ? `${kind} ${name}` : kind;
  const amount =
    limit_minor === null
      ? []
      : used_now_minor === null
        ? [formatMoney(limit_minor, currency)]
        : [`${formatMoney(used_now_minor, currency)} of ${formatMoney(limit_minor, currency)}`];
  const count = limit_count === null ? [] : [`${used_now_count ?? 0} of ${limit_count} requests`];
  return `    ${oneLine(called.replaceAll('_', ' '), 60)}: ${[...amount, ...count].join(', ')}`;
}

const pastLine = (whose: string, { decisions, allowed, denied, executed, last_at }: MerchantPast) =>
  `    ${whose}: ${decisions} ${decisions === 1 ? 'request' : 'requests'}, ${allowed} allowed, ${denied} denied, ${executed} executed${last_at === null ? '' : `; last ${last_at}`}`;

const claimLine = (name: string, claim: Claim | null) =>
  claim === null
    ? []
    : [`    ${name}: “${oneLine(claim.text, LONG)}”${claim.clamped ? ` (${claim.length} characters)` : ''}`];

function purposeLines({ objective, constraints, assessment, sentence, fires }: Sheet['purpose']): string[] {
  const fired = new Set(fires.map(({ text }) => text));
  return [
    `    ${objective === null ? 'The agent had no policy.' : oneLine(objective, LONG)}`,
    ...constraints.map((text) => `    ${fired.has(text) ? '!' : '-'} ${oneLine(text, LONG)}`),
    `    ${assessment}. ${oneLine(sentence, LONG)}`,
  ];
}

const grantOf = ({ standing_approval: { most_minor }, currency }: Sheet) =>
  most_minor === null ? '' : ` You may grant up to ${formatMoney(most_minor, currency)}.`;

/** The sheet of a decision in lines: the purpose, the cause, the limits, the past, and last the agent's own words. */
export function sheetLines(sheet: Sheet): string[] {
  const { merchant, agent, amount_minor, currency, decision_id, cause, limits, merchant_past } = sheet;
  const { approval, claims, listed, payee_known, expires_at, assigned_to, notes, remember } = sheet;
  const { effect: effect_up_to } = sheet.standing_approval;
  const facts = [
    ...(listed === null ? [] : [`listed as ${listed.verdict}`]),
    ...(payee_known === null ? [] : [payee_known ? 'known payee' : 'new payee']),
  ];
  const said = [
    ...claimLine('description', claims.description),
    ...claimLine('task', claims.task),
    ...claimLine('category', claims.category),
  ];
  return [
    `${formatMoney(amount_minor, currency)} to ${oneLine(merchant)}, by ${agent.slug}   ${decision_id}`,
    '  What this agent is for',
    ...purposeLines(sheet.purpose),
    '  Why it waits',
    `    ${cause.sentence} (${cause.reason_code})${facts.length === 0 ? '' : ` ${facts.join(', ')}.`}`,
    '  Limits',
    ...(limits.length === 0 ? ['    none'] : limits.map((limit) => limitLine(limit, currency))),
    '  History with this merchant',
    pastLine('this agent', merchant_past.with_agent),
    pastLine('all agents', merchant_past.in_workspace),
    '  What the agent says',
    ...(said.length === 0 ? ['    nothing'] : said),
    ...notes.map(({ principal_id, text }) => `  Note of ${principal_id ?? 'a key'}: ${oneLine(text, LONG)}`),
    ...(assigned_to === null ? [] : [`  Assigned to ${assigned_to}.`]),
    ...(approval.required === 1 ? [] : [`  Approvals: ${approval.given} of ${approval.required}.`]),
    ...(approval.signed ? ['  An approval must be signed, in the console.'] : []),
    ...(remember.ALWAYS.effect === null ? [] : [`  --always: ${oneLine(remember.ALWAYS.effect, LONG)}`]),
    ...(remember.NEVER.effect === null ? [] : [`  --never: ${oneLine(remember.NEVER.effect, LONG)}`]),
    ...(effect_up_to === null ? [] : [`  --up-to: ${oneLine(effect_up_to, LONG)}${grantOf(sheet)}`]),
    expires_at === null ? '  The review does not expire.' : `  The review expires at ${expires_at}.`,
  ];
}
