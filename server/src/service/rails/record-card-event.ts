import { recordRailEvent } from '../../engine/commands/rails/record-rail-event.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { RecordCardEvent } from './take-event.ts';

/** The problem of an event whose lines contradict known ones. */
const CHANGED =
  'A movement of money says something else than the line of the same id that is known; the known one stays.';

/** Makes the function that records a card event: its movements become lines. */
export function makeRecordCardEvent({ lane }: { lane: Lane }): RecordCardEvent {
  return async ({ workspace_id, rail_id }, { lines, origin }) => {
    const { changed } = await lane.submit(workspace_id, recordRailEvent, { rail_id, lines }, origin);
    return changed > 0 ? CHANGED : null;
  };
}
