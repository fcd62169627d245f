import { type Command, done } from '../../lane/command.ts';

export interface RewrapRailInput {
  rail_id: string;
  /** The secrets as they were sealed, and the same secrets sealed again. */
  before: string;
  after: string;
}

/** Stores a rail's secrets sealed with the current secret key. Returns the number of rails changed, 0 or 1. */
export const rewrapRail: Command<RewrapRailInput, number> = {
  name: 'rewrapRail',
  needs: ({ rail_id }) => ({ rails: [rail_id] }),
  apply(set, { rail_id, before, after }, origin) {
    const found = set.rails.rail(rail_id);
    if (found === undefined || found.sealed_secrets !== before) return done(0);
    const rail = { ...found, sealed_secrets: after };
    set.rails.putRail(rail);
    set.audit('rail.secrets_rewrapped', { type: 'rail', id: rail_id }, origin, {
      from: {},
      to: {},
      state: { rail },
    });
    return done(1);
  },
};
