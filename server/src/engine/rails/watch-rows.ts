import type { Decision } from '@purser/contract/decisions';
import type { RailKind } from '@purser/contract/values/history';
import {
  ASKED_AFTER_MS,
  ASKED_BEFORE_MS,
  type PaidByCard,
  TOLERANCE_PERCENT,
} from '@purser/rules/cards/asked-first';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { firstIdAt } from '@purser/rules/values/ids';
import type { Queryable } from '../storage/database.ts';

/** The requests of an agent that are compared with one payment. */
const MAX_ASKED = 200;

/** An authorization as it is known before the lane is asked. */
export interface FoundWatch {
  /** The decision that watches it; null: none yet. */
  decision_id: string | null;
  /** Whose the card is at the time of the payment; null: nobody's. */
  agent_id: string | null;
  mode: string | null;
  /** The newest assignment of the card; 0: it was never assigned. */
  assignment_version: number;
  /** The end of the chain, and the newest decision, when it was looked up. */
  after_seq: number;
  newest_decision_id: string;
}

/** Looks an authorization up, and whose its card is. */
export async function findWatch(
  db: Queryable,
  workspace_id: string,
  of: { kind: RailKind; authorization: string; instrument: string | null; at: string },
): Promise<FoundWatch> {
  const result = await db.query<FoundWatch & { workspace_id: string }>({
    name: 'find_watch',
    text: `select h.seq as after_seq,
        (select decision_id from rail_authorizations r where r.workspace_id = $1 and r.kind = $2
          and r.authorization_id = $3 and r.fact = 'DECISION') as decision_id,
        g.agent_id, g.mode,
        coalesce((select max(version) from instrument_assignments where workspace_id = $1 and instrument = $4), 0)
          as assignment_version,
        coalesce((select max(decision_id) from decisions d where d.workspace_id = $1), '') as newest_decision_id
      from ledger_heads h
      left join lateral (select agent_id from instrument_assignments n where n.workspace_id = $1
        and n.instrument = $4 and n.from_at <= $5::timestamptz order by version desc limit 1) as n on true
      left join agents g on g.workspace_id = $1 and g.agent_id = n.agent_id
      where h.workspace_id = $1`,
    values: [workspace_id, of.kind, of.authorization, of.instrument, of.at],
  });
  return result.rows[0] as FoundWatch;
}

/** Returns requests of an agent that a payment may be of and that no authorization has taken, newest first. */
export async function findAsked(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { amount_minor, currency, occurred_at }: PaidByCard,
): Promise<Decision[]> {
  const at_ms = Date.parse(occurred_at);
  const result = await db.query<{ document: string }>({
    name: 'find_asked',
    text: `select d.document from decisions d
      where d.workspace_id = $1 and d.agent_id = $2 and d.agent_id <> '' and d.decision_id >= $3 and d.decision_id <= $4
        and d.currency = $5 and (d.requested_amount_minor between $6 and $7 or 'AMOUNT_LIMITED' = any(d.reason_codes))
        and not exists (select 1 from rail_authorizations r where r.workspace_id = $1 and r.decision_id = d.decision_id)
      order by d.decision_id desc limit ${MAX_ASKED}`,
    values: [
      workspace_id,
      agent_id,
      // Ids may be ahead of the time that a decision counts by.
      firstIdAt('decision', at_ms - ASKED_BEFORE_MS),
      firstIdAt('decision', at_ms + 2 * ASKED_AFTER_MS),
      currency,
      Math.floor((amount_minor * 100) / (100 + TOLERANCE_PERCENT)),
      Math.ceil((amount_minor * 100) / (100 - TOLERANCE_PERCENT)),
    ],
  });
  return result.rows.map(({ document }) => decodeDecision(document));
}
