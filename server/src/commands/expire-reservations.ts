import { type Command, done } from '../lane/command.ts';

/**
 * Lets the run-out holds of agents go. Loading their budgets does it: every batch that looks at a budget first
 * lets go what has run out, so that no decision waits for the sweep.
 */
export const expireReservations: Command<{ agent_ids: readonly string[] }, null> = {
  name: 'expireReservations',
  needs: ({ agent_ids }) => ({ budgets_of: agent_ids }),
  apply: () => done(null),
};
