import { type InstrumentAssignment, SINCE_EVER } from '@purser/rules/imports/import-rows';
import { type Command, done, refuse } from '../../lane/command.ts';

export interface AssignInstrumentInput {
  instrument: string;
  /** Id or slug; null: nobody's. */
  agent: string | null;
  /** From when on; null: for all times. */
  from: string | null;
}

/** Says whose an instrument is from a time on; this replaces what was said of later times. */
export const assignInstrument: Command<AssignInstrumentInput, InstrumentAssignment> = {
  name: 'assignInstrument',
  needs: ({ instrument, agent }) => ({
    instruments: [instrument],
    agents: agent === null ? [] : [agent],
  }),
  apply(set, { instrument, agent: ref, from }, origin) {
    const agent = ref === null ? null : set.agent(ref);
    if (agent === undefined) return refuse('not_found', 'No such agent.');
    const before = set.imported.assignment(instrument);
    const row: InstrumentAssignment = {
      instrument,
      version: (before?.version ?? 0) + 1,
      from_at: from ?? SINCE_EVER,
      agent_id: agent?.agent_id ?? null,
      created_at: set.now,
      key_id: origin.actor.key_id,
      principal_id: origin.actor.principal_id,
    };
    if (before?.agent_id === row.agent_id && before.from_at === row.from_at) return done(before);
    set.imported.addAssignment(row);
    set.audit('instrument.assigned', { type: 'instrument', id: instrument }, origin, {
      from: before === undefined ? null : { agent_id: before.agent_id, from: before.from_at },
      to: { agent_id: row.agent_id, from: row.from_at },
      state: { instrument: row },
    });
    return done(row);
  },
};
