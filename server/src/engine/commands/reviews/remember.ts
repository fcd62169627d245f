import type { Decision } from '@purser/contract/decisions';
import type { Agent } from '@purser/rules/domain/agents';
import type { Origin } from '@purser/rules/domain/audit';
import type { ReviewAction } from '@purser/rules/domain/reviews';
import type { Refusal } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { type Listing, listFor, whyNotListed } from '../merchants/list-merchants.ts';
import type { Remembering } from './review-case.ts';

const ACTION_OF: Record<Remembering['remember'], ReviewAction> = { ALWAYS: 'ALLOW', NEVER: 'DENY' };

/** Returns the listing that remembers a decision's merchant, with its payee if the request named one. */
export function listingOf(
  { action: { merchant, payee_id } }: Pick<Decision, 'action'>,
  remember: Remembering['remember'],
): Listing {
  const verdict = remember === 'ALWAYS' ? 'ALLOWED' : 'BLOCKED';
  return { merchant, payee_ids: payee_id === undefined ? [] : [payee_id], verdict, note: null };
}

/** Returns why a review cannot remember the merchant; null: it can, or asks for nothing. */
export function whyNotRemembered(
  set: WorkingSet,
  decision: Decision,
  agent: Agent,
  { action, remember }: { action: ReviewAction; remember: Remembering | null },
): Refusal | null {
  if (remember === null) return null;
  if (remember.agent_id !== agent.agent_id)
    throw new Error(`${decision.decision_id} is of a different agent than the review was prepared for`);
  const { remember: verdict, is_reviewer } = remember;
  if (ACTION_OF[verdict] !== action)
    return {
      code: 'invalid_request',
      message: `remember: ${verdict} goes with the action ${ACTION_OF[verdict]} alone`,
    };
  const listings = [listingOf(decision, verdict)];
  return whyNotListed(set, { agent, listings, is_reviewer, fieldOf: () => 'remember' });
}

/** Lists the merchant that a review remembers. `whyNotRemembered` must have found nothing against it. */
export function rememberMerchant(
  set: WorkingSet,
  decision: Decision,
  { remember, agent_id }: Remembering,
  origin: Origin,
): void {
  // The answers of the review have changed the agent.
  const agent = set.agent(agent_id) as Agent;
  listFor(set, { agent, listings: [listingOf(decision, remember)] }, origin);
}
