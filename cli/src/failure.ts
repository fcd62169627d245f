import { APIError, ConnectionError, PurserError } from '@purser/sdk';

/** Exit codes: 0 success, 1 failure, 2 success with a negative result. */
export const EXIT = { ok: 0, failed: 1, differs: 2 } as const;

/** A command that cannot go on. The message says what to do. */
export class CommandError extends Error {}

/** Advice for errors of the service, by code. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: 'Put a valid key in PURSER_API_KEY or the key file.',
  insufficient_scope: 'Use another kind of key.',
  authority_changed:
    'Somebody else changed it: run `purser authority pull`, check the difference, and apply again.',
  rate_limited: 'Wait a minute.',
  self_review_forbidden:
    'You requested this spend, or created the key that did; another member must review it.',
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
  if (!(error instanceof Error)) return String(error);
  // An error of a file or a connection names it, and its stack is of no use to anybody.
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}
