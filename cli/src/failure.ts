import { APIError, ConnectionError, PurserError } from '@purser/sdk';

/** What a command ends with: 0 as wished, 1 it could not be done, 2 it was done and the answer is no. */
export const EXIT = { ok: 0, failed: 1, differs: 2 } as const;

/** A command that cannot go on. The message says what to do. */
export class CommandError extends Error {}

/** What to do about an answer of the service, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: 'Put a valid key into PURSER_API_KEY or the key file.',
  insufficient_scope: 'Use a key of another kind.',
  authority_changed:
    'Somebody else changed it meanwhile: run `purser authority pull`, look at the difference, apply again.',
  rate_limited: 'Wait a minute.',
  self_review_forbidden:
    'You requested this spend, or made the key that did; another member has to review it.',
  budget_frozen: 'Deny it, or unfreeze the budget first.',
  agent_required: 'Name the agent with --agent.',
};

/** An error in one line for whoever typed the command. Keys are in none of them. */
export function told(error: unknown): string {
  if (error instanceof APIError) {
    const advice = ADVICE[error.code] ?? '';
    return `${error.message} (${error.code}) ${advice}`.trim();
  }
  if (error instanceof ConnectionError)
    return `${error.message}. Is Purser running, and is PURSER_BASE_URL its address?`;
  if (error instanceof PurserError || error instanceof CommandError || error instanceof TypeError)
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
