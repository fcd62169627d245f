import { isSameContent, type LineRow, type NewLine, pageDataHash } from '@purser/rules/history/lines';
import { type Command, done, refuse } from '../../lane/command.ts';
import type { WorkingSet } from '../../lane/working-set.ts';
import { NO_SUCH_RAIL } from './update-rail.ts';

export interface RecordRailEventInput {
  rail_id: string;
  /** At most a page. */
  lines: readonly NewLine[];
}

export interface RecordedRailEvent {
  /** How many lines are new to the workspace. */
  added: number;
  /** How many say something else than the known line of the same id, which stays. */
  changed: number;
}

/** Adds the lines of an event that no feed has yet, sealed by one event of the chain. */
function addLines(set: WorkingSet, { rail_id, lines }: RecordRailEventInput): RecordedRailEvent {
  const added: LineRow[] = [];
  let changed = 0;
  const seq = set.head.seq + 1;
  for (const line of lines) {
    const known = added.find((each) => each.identity === line.identity) ?? set.imported.line(line);
    if (known === undefined) {
      const line_id = set.newId('line');
      added.push({ line_id, seq, import_id: null, rail_id, ...line, recorded_at: set.now });
    } else if (!isSameContent(known, line)) changed += 1;
  }
  if (added.length > 0) {
    set.imported.addLines(added);
    set.append('lines.recorded', 'rail', rail_id, pageDataHash(added));
  }
  return { added: added.length, changed };
}

/** Records a card event of a rail. The same event again changes nothing. */
export const recordRailEvent: Command<RecordRailEventInput, RecordedRailEvent> = {
  name: 'takeRailEvent',
  needs: ({ rail_id, lines }) => ({
    rails: [rail_id],
    lines: lines.map(({ feed, identity }) => ({ feed, identity })),
  }),
  apply(set, input) {
    if (set.rails.rail(input.rail_id) === undefined) return refuse('not_found', NO_SUCH_RAIL);
    return done(addLines(set, input));
  },
};
