import { SYSTEM } from '@purser/rules/domain/audit';
import type { Logger } from 'pino';
import { expireReservations } from '../../engine/commands/expire-reservations.ts';
import type { Lane } from '../../engine/lane/lane.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { type DueHold, listDueHolds } from '../../engine/storage/decision-states.ts';

/** The most holds of one sweep. Each workspace among them is a command, and the lane must have room for requests. */
const MAX_HOLDS_A_SWEEP = 500;

/**
 * Returns a sweep, to be called periodically, which releases expired holds through the lane. Reads and decisions check
 * expiry themselves; the sweep records it in the ledger also for agents without any traffic. Each sweep continues where
 * the one before ended and starts again after the last due hold, so that a workspace whose holds cannot be released does
 * not block the others.
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
            'expired holds could not be released; a later sweep retries',
          );
        }
      }),
    );
  };
}
