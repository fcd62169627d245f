import { auditedRail, type RailRow } from '@purser/rules/rails/rails';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface UpdateRailInput {
  rail_id: string;
  changes: Partial<Pick<RailRow, 'name' | 'sealed_secrets' | 'secrets_hash'>>;
}

/** The answer where a rail is gone. */
export const NO_SUCH_RAIL = 'No such rail.';

/** Changes a rail. Without a difference nothing is written. */
export const updateRail: Command<UpdateRailInput, RailRow> = {
  name: 'updateRail',
  needs: ({ rail_id }) => ({ rails: [rail_id] }),
  apply(set, { rail_id, changes }, origin) {
    const before = set.rails.rail(rail_id);
    if (before === undefined) return refuse('not_found', NO_SUCH_RAIL);
    // The same secrets are sealed differently each time, but have the same hash.
    const { name = before.name, secrets_hash = before.secrets_hash } = changes;
    if (name === before.name && secrets_hash === before.secrets_hash) return done(before);
    const rail: RailRow = { ...before, ...changes, updated_at: set.now };
    set.rails.putRail(rail);
    set.audit('rail.updated', { type: 'rail', id: rail_id }, origin, {
      from: auditedRail(before),
      to: auditedRail(rail),
      state: { rail },
    });
    return done(rail);
  },
};
