import { MAX_SPARED_MERCHANTS } from '@purser/contract/values/reports';
import type { Agent } from '@purser/rules/domain/agents';
import { normaliseMerchant } from '@purser/rules/merchants/names';
import { firstIdAt } from '@purser/rules/values/ids';
import { pushTo } from '@purser/rules/values/maps';
import { loadAuthoritiesOf } from '../storage/authorities.ts';
import type { Queryable } from '../storage/database.ts';
import { loadDirectory } from '../storage/merchant-entries.ts';
import { makeIsListed } from './suggest-merchants.ts';

export { MAX_SPARED_MERCHANTS };

/** The newest reviews of a period that are looked at. */
const MAX_REVIEWS = 10_000;
const MAX_AGENTS = 20;

/** The reviews that listing some merchants of an agent would save. */
export interface SparedReviews {
  /** The agent's slug. */
  agent: string;
  /** Those that spare most first. */
  merchants: string[];
  /** Reviews there that nothing asked for but an unclear purpose, of spends that nobody found wrong. */
  spared: number;
  /** All of the agent's in the period. */
  reviews: number;
  /** One sentence. */
  message: string;
}

interface ReviewRow {
  agent_id: string;
  merchant: string;
  reviews: number;
  unclear: number;
  is_refused: boolean;
}

/** Counts the reviews of a period that were made in SHADOW, by agent and merchant. */
async function countReviews(
  db: Queryable,
  workspace_id: string,
  { agent_id, from, to }: { agent_id: string | null; from: string; to: string },
): Promise<ReviewRow[]> {
  const result = await db.query<ReviewRow & { workspace_id: string }>({
    name: 'count_reviews_by_merchant',
    text: `select d.agent_id, d.merchant, count(*)::int as reviews,
        (count(*) filter (where d.reason_codes = '{PURPOSE_UNCLEAR}'))::int as unclear,
        coalesce(bool_or(s.review_state = 'DENIED' or l.label = 'PURPOSE_MISALIGNED'), false) as is_refused
      from (
        select decision_id, agent_id, merchant, reason_codes, mode from decisions
        where workspace_id = $1 and decision = 'REVIEW' and decision_id >= $2 and decision_id < $3
          and ($4::text is null or agent_id = $4) order by decision_id desc limit ${MAX_REVIEWS}) as d
      left join lateral (
        select * from decision_states s where s.workspace_id = $1 and s.decision_id = d.decision_id limit 1) as s on true
      left join lateral (
        select label from labels l where l.workspace_id = $1 and l.label_id = s.label_id limit 1) as l on true
      where d.mode = 'SHADOW' group by d.agent_id, d.merchant`,
    values: [
      workspace_id,
      firstIdAt('decision', Date.parse(from)),
      firstIdAt('decision', Date.parse(to)),
      agent_id,
    ],
  });
  return result.rows;
}

/**
 * By agent: the merchants whose listing would spare most of the reviews of a period, of which the newest `MAX_REVIEWS` are
 * looked at. Merchants that are listed already, or where people found a spend wrong, are left out. `agents`: those of the
 * workspace that may occur.
 */
export async function countSparedReviews(
  db: Queryable,
  workspace_id: string,
  period: { agent_id: string | null; from: string; to: string },
  agents: ReadonlyMap<string, Agent>,
): Promise<SparedReviews[]> {
  const by_agent = new Map<string, ReviewRow[]>();
  for (const row of await countReviews(db, workspace_id, period)) {
    pushTo(by_agent, row.agent_id, row);
  }
  const found: SparedReviews[] = [];
  const busiest = [...by_agent].sort(([, a], [, b]) => b.length - a.length).slice(0, MAX_AGENTS);
  for (const [agent_id, rows] of busiest) {
    const agent = agents.get(agent_id);
    if (agent === undefined) continue;
    const directory = await loadDirectory(db, workspace_id, agent_id);
    const authority = (await loadAuthoritiesOf(db, workspace_id, [agent])).get(agent_id) ?? null;
    const isListed = makeIsListed(directory, authority);
    const merchants = new Map<string, { merchant: string; unclear: number; is_refused: boolean }>();
    for (const { merchant, unclear, is_refused } of rows) {
      const key = normaliseMerchant(merchant);
      const known = merchants.get(key) ?? { merchant, unclear: 0, is_refused: false };
      merchants.set(key, {
        merchant: known.merchant,
        unclear: known.unclear + unclear,
        is_refused: known.is_refused || is_refused,
      });
    }
    const listable = [...merchants.values()]
      .filter((one) => one.unclear > 0 && !one.is_refused && !isListed(one.merchant))
      .sort((a, b) => b.unclear - a.unclear || (a.merchant < b.merchant ? -1 : 1))
      .slice(0, MAX_SPARED_MERCHANTS);
    if (listable.length === 0) continue;
    const spared = listable.reduce((sum, one) => sum + one.unclear, 0);
    const reviews = rows.reduce((sum, row) => sum + row.reviews, 0);
    const which = listable.length === 1 ? 'this merchant' : `these ${listable.length} merchants`;
    found.push({
      agent: agent.slug,
      merchants: listable.map((one) => one.merchant),
      spared,
      reviews,
      message: `Confirming ${which} would save ${spared} of ${reviews} reviews.`,
    });
  }
  return found.sort((a, b) => b.spared - a.spared || (a.agent < b.agent ? -1 : 1));
}
