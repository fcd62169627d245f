import { InvalidRequestError } from '@purser/sdk';
import { codeOfError } from '../../api/client.ts';

/** What a refusal of a review means to whoever made it, and what they can do. */
export interface Refusal {
  title: string;
  says: string;
  /** Whether the other verdict may still be given. */
  may_deny?: true;
}

const REFUSALS: Record<string, Refusal | undefined> = {
  review_final: {
    title: 'This is decided already.',
    says: 'Somebody else reviewed it, or its time ran out. Your review was not recorded.',
  },
  authority_changed: {
    title: 'The agent’s authority has changed since.',
    says: 'It can no longer be allowed under the rules of that time. Deny it, and the agent may ask again under the new ones.',
    may_deny: true,
  },
  budget_frozen: {
    title: 'A shared budget is frozen.',
    says: 'Nothing new may be spent of it. Deny the spend, or allow it once an administrator has unfrozen the budget.',
    may_deny: true,
  },
  self_review_forbidden: {
    title: 'This is your own request.',
    says: 'You requested the spend, or made the key that did, or a key that led to it. Another member has to review it.',
  },
  not_reviewable: {
    title: 'There is nothing to review.',
    says: 'Only a spend that was sent to a person can be reviewed.',
  },
};

/** What this error says of a review; undefined where it says nothing of reviews in particular. */
export function refusalOf(error: unknown): Refusal | undefined {
  const code = codeOfError(error);
  // In SHADOW somebody else's review, which this one does not name, has to be superseded by name.
  const is_superseded = error instanceof InvalidRequestError && error.field === 'supersedes';
  return REFUSALS[is_superseded ? 'review_final' : (code ?? '')];
}
