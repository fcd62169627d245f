import { type Command, done } from '../lane/command.ts';

/**
 * Releases the expired holds of agents. Loading their budgets is enough: every batch that loads a budget first releases
 * the expired holds in it, so that no decision depends on the sweep.
 */
export const expireReservations: Command<{ agent_ids: readonly string[] }, null> = {
  name: 'expireReservations',
  needs: ({ agent_ids }) => ({ budgets_of: agent_ids }),
  apply: () => done(null),
};
