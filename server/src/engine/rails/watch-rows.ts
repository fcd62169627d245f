import type { RailKind } from '@purser/contract/values/history';
import { amountsOf, type PaidByCard } from '@purser/rules/cards/asked-first';
import { askedSpend } from '@purser/rules/matching/asked-spend';
import type { AskedSpend, CoverageSettings } from '@purser/rules/matching/spends';
import { firstIdAt } from '@purser/rules/values/ids';
import { makeAskedRows } from '../matching/asked-rows.ts';
import type { Queryable } from '../storage/database.ts';

/** The requests of an agent that are compared with one payment. */
const MAX_ASKED = 200;
/** The newest requests in which reports and consumptions are looked up. */
const MAX_REPORTED = 5_000;
const DAY_MS = 86_400_000;
/** Ids may be ahead of the time that a decision counts by. */
const AHEAD_MS = 120_000;
/** After every place in a ledger. */
const END = '~';

/** An authorization as it is known before the lane is asked. */
export interface FoundWatch {
  /** The decision that watches it; null: none yet. */
  decision_id: string | null;
  /** Whose the card is at the time of the payment; null: nobody's. */
  agent_id: string | null;
  mode: string | null;
  /** The newest assignment of the card; 0: it was never assigned. */
  assignment_version: number;
  /** JSON: how the workspace compares lines; null: by default. */
  coverage: string | null;
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
    text: `select h.seq as after_seq, (select coverage from workspaces where workspace_id = $1) as coverage,
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

/**
 * Returns requests of an agent that a payment may be of and that no authorization has taken: those of a near amount in one of its currencies, and of the newest
 * those whose reports have a near amount or the rail's name of the payment.
 */
export async function findAsked(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  paid: PaidByCard,
  settings: CoverageSettings,
): Promise<AskedSpend[]> {
  const found = await Promise.all(
    amountsOf(paid).map((amount) =>
      findAskedIn(db, workspace_id, agent_id, { ...paid, ...amount }, settings),
    ),
  );
  // Each request is in one currency.
  return (await makeAskedRows(db, workspace_id, found.flat(), END)).map(askedSpend);
}

async function findAskedIn(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  { authorization, amount_minor, currency, occurred_at }: PaidByCard,
  { window_days, tolerance_percent, tolerance_minor }: CoverageSettings,
): Promise<string[]> {
  const at_ms = Date.parse(occurred_at);
  const result = await db.query<{ decision_id: string }>({
    name: 'find_asked',
    text: `with asked as (select d.decision_id, d.requested_amount_minor, d.reason_codes from decisions d
        where d.workspace_id = $1 and d.agent_id = $2 and d.agent_id <> '' and d.decision_id between $3 and $4
          and d.currency = $5 and not exists (
            select from rail_authorizations r where r.workspace_id = $1 and r.decision_id = d.decision_id)),
      newest as (select decision_id from asked order by decision_id desc limit ${MAX_REPORTED}),
      reported as (select n.decision_id from newest n where
        exists (select from consumptions c where c.workspace_id = $1
          and c.capability_id = 'cap_' || substr(n.decision_id, 5) and c.external_reference = $8)
        or exists (select from outcomes o where o.workspace_id = $1 and o.decision_id = n.decision_id and o.decision_id <> ''
          and (o.amount_minor between $6 and $7 or (o.source = 'PAYMENT_RAIL' and o.external_reference = $8)))
        order by n.decision_id desc limit ${MAX_ASKED}),
      near as (select decision_id from asked
        where requested_amount_minor between $6 and $7 or 'AMOUNT_LIMITED' = any(reason_codes)
        order by decision_id desc limit ${MAX_ASKED})
      select decision_id from reported union select decision_id from near`,
    values: [
      workspace_id,
      agent_id,
      firstIdAt('decision', at_ms - window_days * DAY_MS),
      firstIdAt('decision', at_ms + AHEAD_MS),
      currency,
      Math.floor(Math.min(amount_minor - tolerance_minor, (amount_minor * 100) / (100 + tolerance_percent))),
      Math.ceil(Math.max(amount_minor + tolerance_minor, (amount_minor * 100) / (100 - tolerance_percent))),
      authorization,
    ],
  });
  return result.rows.map(({ decision_id }) => decision_id);
}
