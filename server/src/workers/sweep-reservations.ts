import type { Logger } from 'pino';
import { expireReservations } from '../commands/expire-reservations.ts';
import { SYSTEM } from '../domain/audit.ts';
import type { Lane } from '../lane/lane.ts';
import type { Queryable } from '../storage/database.ts';
import { findAgentsWithHoldsToLetGo } from '../storage/decision-states.ts';

const AGENTS_A_SWEEP = 200;

/**
 * Lets go the holds that have run out, through the lane. Reads and decisions judge expiry by themselves; the
 * sweep makes it a fact of the history also where nobody looks.
 */
export async function sweepReservations(options: { db: Queryable; lane: Lane; log: Logger }): Promise<void> {
  const found = await findAgentsWithHoldsToLetGo(options.db, AGENTS_A_SWEEP);
  const by_workspace = new Map<string, string[]>();
  for (const { workspace_id, agent_id } of found) {
    by_workspace.set(workspace_id, [...(by_workspace.get(workspace_id) ?? []), agent_id]);
  }
  const origin = { actor: SYSTEM, request_id: null, client_address: null };
  await Promise.all(
    [...by_workspace].map(async ([workspace_id, agent_ids]) => {
      try {
        await options.lane.submit(workspace_id, expireReservations, { agent_ids }, origin);
      } catch (error) {
        options.log.warn(
          { err: error, workspace_id },
          'run-out holds could not be let go; the next sweep tries again',
        );
      }
    }),
  );
}
