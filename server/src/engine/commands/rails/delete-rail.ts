import { auditedRail } from '@purser/rules/rails/rails';
import { type Command, done, refuse } from '../../lane/command.ts';
import { NO_SUCH_RAIL } from './update-rail.ts';

/** Deletes a rail and its secrets. Its lines and decisions stay. */
export const deleteRail: Command<{ rail_id: string }, null> = {
  name: 'deleteRail',
  needs: ({ rail_id }) => ({ rails: [rail_id] }),
  apply(set, { rail_id }, origin) {
    const rail = set.rails.rail(rail_id);
    if (rail === undefined) return refuse('not_found', NO_SUCH_RAIL);
    set.rails.deleteRail(rail_id);
    const shown = auditedRail(rail);
    set.audit('rail.deleted', { type: 'rail', id: rail_id }, origin, {
      from: shown,
      to: Object.fromEntries(Object.keys(shown).map((field) => [field, null])),
      state: { rail },
    });
    return done(null);
  },
};
