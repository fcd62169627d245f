import type { Claim, Inbox, InboxRow, MerchantPast, Sheet, SheetLimit } from '@purser/sdk';
import { formatMoney, majorUnits } from './money.ts';
import { bounded } from './text.ts';

const MAX_CLAUSES = 20;
const MAX_NOTES = 20;

/** The sheet that an answer is. Throws where it is none, or that of another decision. */
export function sheetIn(body: unknown, decision_id: string): Sheet {
  const { cause, claims, approval, ...found } = (body ?? {}) as Partial<Sheet>;
  const is_sheet = [cause, claims, approval].every((part) => typeof part === 'object' && part !== null);
  if (!is_sheet || found.decision_id !== decision_id) throw new Error('the response is not the sheet');
  return body as Sheet;
}

/** The page of the inbox that an answer is. Throws where it is none. */
export function inboxIn(body: unknown): Inbox {
  const { data, total } = (body ?? {}) as Partial<Inbox>;
  if (!Array.isArray(data) || typeof total !== 'number') throw new Error('the response is not the inbox');
  return body as Inbox;
}

const orNull = (text: string | null) => (text === null ? null : bounded(text));
const major = (amount_minor: number | null, currency: string) =>
  amount_minor === null ? null : majorUnits(amount_minor, currency);

/** A row of the inbox: facts, and last the merchant, which is the agent's word. */
export function pendingReview(row: InboxRow): Record<string, unknown> {
  const { decision_id, agent, amount_minor, currency, reason_code, created_at, expires_at } = row;
  const { required, given, signed, may_allow, assigned_to, merchant } = row;
  return {
    decision_id,
    agent: agent.slug,
    amount: majorUnits(amount_minor, currency),
    currency,
    reason_code,
    approvals: { required, given, signed },
    may_allow,
    assigned_to,
    created_at,
    expires_at,
    agent_says: { merchant: bounded(merchant, 200) },
  };
}

function limitOf(limit: SheetLimit, currency: string): Record<string, unknown> {
  const { name, kind, limit_minor, used_then_minor, used_now_minor, limit_count, used_now_count } = limit;
  return {
    name: bounded(name, 64),
    kind,
    limit: major(limit_minor, currency),
    used_then: major(used_then_minor, currency),
    used_now: major(used_now_minor, currency),
    limit_count,
    used_now_count,
  };
}

function purposeOf({ fires, ...purpose }: Sheet['purpose']): Record<string, unknown> {
  const clauses = (texts: readonly string[]) => texts.slice(0, MAX_CLAUSES).map((text) => bounded(text));
  return {
    objective: orNull(purpose.objective),
    success_criteria: clauses(purpose.success_criteria),
    constraints: clauses(purpose.constraints),
    context: orNull(purpose.context),
    assessment: purpose.assessment,
    sentence: bounded(purpose.sentence),
    conflicts_with: clauses(fires.map(({ text }) => text)),
  };
}

const claimOf = (claim: Claim | null) =>
  claim === null ? null : { text: bounded(claim.text), length: claim.length, clamped: claim.clamped };

/** A sheet for a model: the purpose, the cause, the limits and the past first, and the agent's own words last. */
export function sheetAsData(sheet: Sheet): Record<string, unknown> {
  const { currency, reasons, remember } = sheet;
  return {
    decision_id: sheet.decision_id,
    url: sheet.url,
    mode: sheet.mode,
    agent: sheet.agent.slug,
    amount: majorUnits(sheet.amount_minor, currency),
    currency,
    requested_at: sheet.requested_at,
    expires_at: sheet.expires_at,
    purpose: purposeOf(sheet.purpose),
    cause: sheet.cause,
    limits: sheet.limits.map((limit) => limitOf(limit, currency)),
    merchant_past: sheet.merchant_past,
    merchant_listed: sheet.listed?.verdict ?? null,
    payee_known: sheet.payee_known,
    approval: sheet.approval,
    reasons: {
      ALLOW: reasons.ALLOW,
      DENY: reasons.DENY,
      default_allow: reasons.default_allow,
      default_deny: reasons.default_deny,
    },
    remember: {
      ALWAYS: orNull(remember.ALWAYS.effect),
      NEVER: orNull(remember.NEVER.effect),
      UP_TO: orNull(sheet.standing_approval.effect),
    },
    assigned_to: sheet.assigned_to,
    notes: sheet.notes
      .slice(-MAX_NOTES)
      .map(({ principal_id, text, created_at }) => ({ principal_id, text: bounded(text), created_at })),
    agent_says: {
      merchant: bounded(sheet.merchant, 200),
      payee_id: sheet.payee_id === null ? null : bounded(sheet.payee_id, 200),
      description: claimOf(sheet.claims.description),
      task: claimOf(sheet.claims.task),
      category: claimOf(sheet.claims.category),
    },
  };
}

function pastInWords({ decisions, allowed, denied }: MerchantPast): string {
  if (decisions === 0) return 'No earlier request of this agent there.';
  return `Earlier requests of this agent there: ${decisions}, ${allowed} allowed, ${denied} denied.`;
}

/**
 * The question to the person who would allow it, in one line: facts first, the agent's own words last. `also` says what else
 * their consent changes.
 */
export function questionOf(sheet: Sheet, also: readonly string[]): string {
  const { agent, amount_minor, currency, merchant, cause, purpose, claims, approval } = sheet;
  const { description, category } = claims;
  const said = bounded((description ?? category)?.text ?? '', 200);
  const parts = [
    `May ${agent.slug} pay ${formatMoney(amount_minor, currency)} to “${bounded(merchant, 200)}”?`,
    purpose.objective === null ? '' : `The agent is for: ${bounded(purpose.objective, 300)}`,
    `It needs a review: ${cause.sentence}`,
    purpose.fires.length === 0 ? '' : `It conflicts with: ${bounded(purpose.fires[0]?.text ?? '', 200)}`,
    ...also.map((effect) => `Your consent also changes this: ${bounded(effect, 500)}`),
    pastInWords(sheet.merchant_past.with_agent),
    approval.required > 1 ? `Approvals so far: ${approval.given} of ${approval.required}.` : '',
    said === '' ? 'The agent says nothing more.' : `The agent says: “${said}”.`,
    `(${sheet.decision_id})`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}
