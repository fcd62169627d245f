import { InvalidRequestError } from '@purser/sdk';
import { codeOfError } from '../../api/client.ts';

/** The meaning of a refused review for the reviewer, and what they can do. */
export interface Refusal {
  title: string;
  text: string;
  /** True if the request can still be denied. */
  may_deny?: true;
}

const REFUSALS: Record<string, Refusal | undefined> = {
  review_final: {
    title: 'This is already decided.',
    text: 'Somebody else reviewed it, or the review expired. Your review was not recorded.',
  },
  authority_changed: {
    title: 'The agent’s policy has changed.',
    text: 'The request can no longer be allowed under the old policy. Deny it, so that the agent can send it again under the new one.',
    may_deny: true,
  },
  budget_frozen: {
    title: 'A shared budget is frozen.',
    text: 'No new spending is possible from it. Deny the request, or allow it after an administrator unfreezes the budget.',
    may_deny: true,
  },
  self_review_forbidden: {
    title: 'This is your own request.',
    text: 'You sent the request, or created the key that did, or a key that led to it. Another member must review it.',
  },
  signature_required: {
    title: 'You have no active signing key.',
    text: 'This approval must be signed. Add a signing key under “Your account”, and have an administrator endorse it.',
    may_deny: true,
  },
  signature_invalid: {
    title: 'The signature was not accepted.',
    text: 'Your passkey, or its signing key, is not good for this approval, or the statement expired. Sign again.',
    may_deny: true,
  },
  not_reviewable: {
    title: 'There is nothing to review.',
    text: 'Only a request that needs review can be reviewed.',
  },
};

/** The refusal behind an error. Undefined if the error is not specific to reviews. */
export function refusalOf(error: unknown): Refusal | undefined {
  const code = codeOfError(error);
  // In Shadow a review that another person has superseded is refused by this field.
  const is_superseded = error instanceof InvalidRequestError && error.field === 'supersedes';
  return REFUSALS[is_superseded ? 'review_final' : (code ?? '')];
}
