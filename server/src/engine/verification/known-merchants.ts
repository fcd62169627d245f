import type { PlacedEvent } from '@purser/rules/domain/decision-history';
import type { DecisionCore } from '@purser/rules/domain/decisions';
import {
  isKnownBySameTime,
  type KnownMerchantRow,
  knownMerchantAfter,
} from '@purser/rules/policy/known-merchants';
import type { Queryable } from '../storage/database.ts';
import { loadDecisionEvents } from '../storage/decision-events.ts';
import { loadDecisionCores } from '../storage/decisions.ts';
import { loadKnownMerchants } from '../storage/derived/known-merchants.ts';
import type { Findings } from './findings.ts';

const nameOf = ({ agent_id, key }: Pick<KnownMerchantRow, 'agent_id' | 'key'>) => `${agent_id} ${key}`;

/** Returns true if a row says what the events of its own decision made known. */
async function isTrue(db: Queryable, workspace_id: string, row: KnownMerchantRow): Promise<boolean> {
  const [found] = await loadDecisionCores(db, workspace_id, [row.decision_id]);
  if (found === undefined) return false;
  const events = (await loadDecisionEvents(db, workspace_id, [row.decision_id])).get(row.decision_id) ?? [];
  const known = knownMerchantAfter(
    found.decision,
    events.map(({ event }) => event),
  );
  return known !== null && nameOf(known) === nameOf(row) && known.since === row.since;
}

/**
 * Computes anew what these decisions made known, and reports rows that do not say so, or say that it was known later.
 * `events` are all events of a decision, in the order of the ledger. Returns the number of rows that name one of these
 * decisions. `is_filling`: earlier history was not gone through yet, so that rows may be missing, or name a later decision.
 */
export async function checkKnownMerchants(
  db: Queryable,
  workspace_id: string,
  decisions: readonly { seq: number; decision: DecisionCore; events: readonly PlacedEvent[] }[],
  is_filling: boolean,
  findings: Findings,
): Promise<number> {
  const expected = decisions.flatMap(({ seq, decision, events }) => {
    const known = knownMerchantAfter(
      decision,
      events.map(({ event }) => event),
    );
    return known === null ? [] : [{ seq, known }];
  });
  if (expected.length === 0) return 0;
  const wanted = expected.map(({ known: { agent_id, key } }) => ({ workspace_id, agent_id, key }));
  const rows = new Map((await loadKnownMerchants(db, wanted)).map((row) => [nameOf(row), row]));
  let found = 0;
  for (const { seq, known } of expected) {
    const row = rows.get(nameOf(known));
    const is_own = row?.decision_id === known.decision_id;
    if (is_own) found += 1;
    const is_right =
      row !== undefined &&
      (is_own
        ? row.since === known.since
        : isKnownBySameTime(row, known) &&
          (row.since < known.since || (await isTrue(db, workspace_id, row))));
    if (is_right || (is_filling && !is_own)) continue;
    const detail = `The known merchant recorded for decision ${known.decision_id} differs from its records.`;
    findings.addDerived({ seq, kind: 'ROW_MISMATCH', detail });
  }
  return found;
}
