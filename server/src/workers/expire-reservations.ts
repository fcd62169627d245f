import type { Logger } from 'pino';
import { expireReservations } from '../commands/expire-reservations.ts';
import { SYSTEM } from '../domain/audit.ts';
import type { Lane } from '../lane/lane.ts';
import type { Queryable } from '../storage/database.ts';
import { type DueHold, listDueHolds } from '../storage/decision-states.ts';

/** Due holds read in one sweep: each workspace among them becomes a command, and the lane must keep room for requests. */
const MAX_HOLDS_A_SWEEP = 500;

/**
 * Gives a sweep, to be called again and again: it lets go the holds that have run out, through the lane. Reads and
 * decisions judge expiry by themselves; the sweep makes it a fact of the history also where nobody looks. Each sweep
 * goes on where the one before ended and begins anew behind the last due hold, so that a workspace whose holds cannot
 * be let go keeps no other's waiting.
 */
export function makeReservationSweep(options: {
  db: Queryable;
  lane: Pick<Lane, 'submit'>;
  log: Logger;
  max_holds?: number;
}): () => Promise<void> {
  const { db, lane, log, max_holds = MAX_HOLDS_A_SWEEP } = options;
  const origin = { actor: SYSTEM, request_id: null, client_address: null };
  let after: DueHold | null = null;
  return async () => {
    const due: DueHold[] = await listDueHolds(db, after, max_holds);
    after = due.length < max_holds ? null : (due.at(-1) as DueHold);
    const agents = new Map<string, Set<string>>();
    for (const { workspace_id, agent_id } of due) {
      agents.set(workspace_id, (agents.get(workspace_id) ?? new Set()).add(agent_id));
    }
    await Promise.all(
      [...agents].map(async ([workspace_id, agent_ids]) => {
        try {
          await lane.submit(workspace_id, expireReservations, { agent_ids: [...agent_ids] }, origin);
        } catch (error) {
          log.warn(
            { err: error, workspace_id },
            'run-out holds could not be let go; a later sweep tries again',
          );
        }
      }),
    );
  };
}
