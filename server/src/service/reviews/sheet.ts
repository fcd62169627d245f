import type { Authority } from '@purser/contract/authority';
import type { Decision } from '@purser/contract/decisions';
import { reviewReasons } from '@purser/contract/reviews/choices';
import { MAX_NOTES, type Sheet, type SheetApproval } from '@purser/contract/reviews/sheet';
import { stateAt } from '@purser/rules/domain/decision-states';
import type { Caller } from '@purser/rules/domain/keys';
import { allowedBy } from '@purser/rules/merchants/allowlist';
import { blockedBy } from '@purser/rules/merchants/blocklist';
import { blockingEntry, type Directory, listingKey, vouchingEntry } from '@purser/rules/merchants/directory';
import { knownMerchantKey } from '@purser/rules/policy/known-merchants';
import { causeSentence } from '@purser/rules/reviews/cause';
import { claimOf } from '@purser/rules/reviews/claims';
import { purposeOnSheet } from '@purser/rules/reviews/purpose-on-sheet';
import { rememberOffers } from '@purser/rules/reviews/remember';
import { standingOffer } from '@purser/rules/reviews/standing-offer';
import { whyNotListable } from '../../engine/commands/merchants/list-merchants.ts';
import { reviewerLimit } from '../../engine/commands/reviews/decide-allowance.ts';
import { listingOf } from '../../engine/commands/reviews/remember.ts';
import { getAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { type DecisionRecord, getDecision } from '../../engine/storage/decisions.ts';
import { loadKnownMerchants } from '../../engine/storage/derived/known-merchants.ts';
import { loadDirectory } from '../../engine/storage/merchant-entries.ts';
import { readMerchantPast } from '../../engine/storage/reviewing/merchant-past.ts';
import { listNotes, loadAssignees } from '../../engine/storage/reviewing/notes.ts';
import { readClock } from '../../engine/storage/workspaces.ts';
import { approvalOf, loadReviewing } from './approvals.ts';
import { limitsOnSheet } from './limits.ts';
import { noticesOfDecision } from './notices.ts';

export interface SheetOptions {
  db: Queryable;
  /** The address of a decision's page in the console. */
  urlOf: (decision_id: string) => string;
}

/** The authority that a decision was made by; null where the agent had none. */
async function authorityOf(
  db: Queryable,
  workspace_id: string,
  decision: Decision,
): Promise<Authority | null> {
  const { agent, authority_version } = decision;
  if (authority_version === null) return null;
  const row = await getAuthority(db, workspace_id, agent.id, authority_version);
  return row === undefined ? null : parseAuthority(row);
}

/** Finds who lists the merchant of a decision now; a blocking entry comes first, as in a decision. */
function listedOnSheet(
  { action }: Pick<Decision, 'action'>,
  directory: Directory,
  authority: Authority | null,
): Sheet['listed'] {
  const { merchant } = action;
  const blocking = blockingEntry(directory, merchant);
  if (blocking !== null)
    return { verdict: 'BLOCKED', entry_id: blocking.entry_id, listed_at: blocking.created_at };
  if (blockedBy(merchant, authority?.blocked_merchants ?? []) !== null)
    return { verdict: 'BLOCKED', entry_id: null, listed_at: null };
  const vouching = vouchingEntry(directory, action);
  if (vouching !== null)
    return { verdict: 'ALLOWED', entry_id: vouching.entry_id, listed_at: vouching.created_at };
  if (allowedBy(merchant, authority?.allowed_merchants ?? []) !== null)
    return { verdict: 'ALLOWED', entry_id: null, listed_at: null };
  return null;
}

/** Returns whether the agent is known to have paid the payee of a decision, or an entry names it; null without a payee. */
async function isPayeeKnown(
  db: Queryable,
  workspace_id: string,
  { agent, action }: Decision,
  directory: Directory,
): Promise<boolean | null> {
  const { payee_id } = action;
  if (payee_id === undefined) return null;
  if (vouchingEntry(directory, action)?.payee_ids.includes(payee_id) === true) return true;
  const wanted = { workspace_id, agent_id: agent.id, key: knownMerchantKey(action) };
  return (await loadKnownMerchants(db, [wanted])).length > 0;
}

/** The offers to list the merchant and to answer ahead, as far as the caller may do so with a review now. */
async function offersTo(
  db: Queryable,
  caller: Caller,
  decision: Decision,
  { may_allow, may_deny }: SheetApproval,
  { entries }: Directory,
): Promise<Pick<Sheet, 'remember' | 'standing_approval'>> {
  const row = await getAuthority(db, caller.workspace_id, decision.agent.id, null);
  const authority = row === undefined ? null : parseAuthority(row);
  const known = [...new Set(entries.values())];
  const is_reviewer = !caller.scopes.includes('admin');
  const remember = rememberOffers(decision, authority, (each) => {
    if (!(each === 'ALWAYS' ? may_allow : may_deny)) return false;
    const listing = listingOf(decision, each);
    if (known.some((entry) => listingKey(entry) === listingKey(listing))) return false;
    const of = { listings: [listing], is_reviewer, fieldOf: () => 'remember' };
    return whyNotListable(authority ?? undefined, known, of) === null;
  });
  const most_minor = is_reviewer ? reviewerLimit(authority, decision.currency) : null;
  return { remember, standing_approval: standingOffer(decision, most_minor, may_allow) };
}

/** Returns the sheet of a decision for a caller; undefined if the workspace has no such decision. */
export async function readSheet(
  { db, urlOf }: SheetOptions,
  caller: Caller,
  decision_id: string,
): Promise<Sheet | undefined> {
  const { workspace_id } = caller;
  const record = await getDecision(db, workspace_id, decision_id, null);
  return record === undefined ? undefined : sheetOf({ db, urlOf }, caller, record);
}

async function sheetOf({ db, urlOf }: SheetOptions, caller: Caller, record: DecisionRecord): Promise<Sheet> {
  const { workspace_id } = caller;
  const { decision } = record;
  const { decision_id, agent, action, reservation } = decision;
  const now_ms = await readClock(db);
  const [authority, directory, reviewing] = await Promise.all([
    authorityOf(db, workspace_id, decision),
    loadDirectory(db, workspace_id, agent.id),
    loadReviewing(db, caller, [record], now_ms),
  ]);
  const [limits, merchant_past, payee_known, notices, notes, assignees] = await Promise.all([
    limitsOnSheet(db, workspace_id, decision, authority, now_ms),
    readMerchantPast(db, workspace_id, { ...decision, agent_id: agent.id, merchant: action.merchant }),
    isPayeeKnown(db, workspace_id, decision, directory),
    noticesOfDecision(db, workspace_id, decision_id),
    listNotes(db, workspace_id, decision_id, MAX_NOTES),
    loadAssignees(db, workspace_id, [decision_id]),
  ]);
  const approval = approvalOf(reviewing, record);
  const state = stateAt(decision, record.state, now_ms);
  return {
    decision_id,
    url: urlOf(decision_id),
    mode: decision.mode,
    agent,
    merchant: action.merchant,
    payee_id: action.payee_id ?? null,
    amount_minor: reservation.amount_minor || decision.requested_amount_minor,
    currency: decision.currency,
    requested_at: decision.created_at,
    expires_at: state.review_state === 'PENDING' ? state.expires_at : null,
    cause: { reason_code: decision.reason_code, sentence: causeSentence(decision) },
    purpose: purposeOnSheet(authority, decision.purpose),
    limits,
    merchant_past,
    listed: listedOnSheet(decision, directory, authority),
    payee_known,
    claims: {
      description: claimOf(action.description),
      task: claimOf(decision.task),
      category: claimOf(action.category),
    },
    approval,
    reasons: reviewReasons(decision, approval),
    ...(await offersTo(db, caller, decision, approval, directory)),
    assigned_to: assignees.get(decision_id) ?? null,
    notes,
    notices,
  };
}
