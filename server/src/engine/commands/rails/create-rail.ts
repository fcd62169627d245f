import { auditedRail, type RailRow } from '@purser/rules/rails/rails';
import { type Command, done } from '../../lane/command.ts';

export type CreateRailInput = Pick<RailRow, 'kind' | 'name' | 'sealed_secrets' | 'secrets_hash'>;

/** Adds a rail, whose vendor can then send events. */
export const createRail: Command<CreateRailInput, RailRow> = {
  name: 'createRail',
  needs: () => ({}),
  apply(set, input, origin) {
    const rail: RailRow = { rail_id: set.newId('rail'), ...input, created_at: set.now, updated_at: set.now };
    set.rails.putRail(rail);
    set.audit('rail.created', { type: 'rail', id: rail.rail_id }, origin, {
      from: null,
      to: auditedRail(rail),
      state: { rail },
    });
    return done(rail);
  },
};
