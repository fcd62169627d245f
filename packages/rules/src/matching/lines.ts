import type { LineState } from '@purser/contract/values/coverage';
import type { LineRow } from '../history/lines.ts';
import { pushTo } from '../values/maps.ts';
import { addMinor } from '../values/money.ts';
import { matchSpends } from './match-spends.ts';
import {
  type AskedSpend,
  type CoverageSettings,
  endOfSpend,
  type LineResolution,
  type LineSpend,
  type MatchStep,
  type SpendMatch,
  stateOfMatch,
} from './spends.ts';

/** A line of a spend with whose it is, and what a person said of it last. */
export interface CoverageLine
  extends Pick<
    LineRow,
    | 'line_id'
    | 'import_id'
    | 'feed'
    | 'identity'
    | 'merchant'
    | 'payee_id'
    | 'instrument'
    | 'amount_minor'
    | 'currency'
    | 'merchant_amount_minor'
    | 'merchant_currency'
    | 'occurred_at'
    | 'precision'
    | 'external_reference'
    | 'authorization_id'
  > {
  agent_id: string | null;
  agent_created_at: string | null;
  resolution: LineResolution | null;
}

/** The coverage of a line, as it is stored. It follows from lines, decisions and resolutions. */
export interface LineMatchRow {
  line_id: string;
  import_id: string | null;
  feed: string;
  agent_id: string | null;
  /** Equal for the lines of one authorization. */
  spend_key: string;
  /** The time of the spend's first line. */
  starts_at: string;
  occurred_at: string;
  /** The line's time, or the end of its day. */
  ends_at: string;
  currency: string;
  amount_minor: number;
  /** As it is once its grace is over. */
  state: LineState;
  rule: SpendMatch['rule'];
  decision_id: string | null;
  step: MatchStep | null;
  resolution_id: string | null;
}

/** The lines of one spend, in their order. */
export interface SpendLines {
  key: string;
  first: CoverageLine;
  lines: readonly CoverageLine[];
  /** The newest of its lines. */
  resolution: LineResolution | null;
}

/** The name of the spend that a line belongs to: its authorization, or itself. */
export function spendKeyOf({
  feed,
  identity,
  authorization_id,
}: Pick<CoverageLine, 'feed' | 'identity' | 'authorization_id'>): string {
  return authorization_id === null ? `${feed} ${identity}` : `${feed} of ${authorization_id}`;
}

const byTime = (a: CoverageLine, b: CoverageLine) =>
  a.occurred_at !== b.occurred_at
    ? a.occurred_at < b.occurred_at
      ? -1
      : 1
    : a.identity < b.identity
      ? -1
      : 1;

/** Groups lines of kind SPEND into spends. Every spend must be whole. */
export function groupSpends(lines: readonly CoverageLine[]): SpendLines[] {
  const groups = new Map<string, CoverageLine[]>();
  for (const line of lines) pushTo(groups, spendKeyOf(line), line);
  return [...groups].map(([key, of_spend]) => {
    const sorted = of_spend.sort(byTime);
    let resolution: LineResolution | null = null;
    for (const line of sorted) {
      if (line.resolution === null) continue;
      if (resolution === null || line.resolution.resolution_id > resolution.resolution_id)
        resolution = line.resolution;
    }
    return { key, first: sorted[0] as CoverageLine, lines: sorted, resolution };
  });
}

/** The state of a spend that is compared with no decision; null: it is compared. A person's word comes first. */
function stateWithoutMatching({ first, resolution }: SpendLines): LineState | null {
  if (resolution?.action === 'EXCLUDE') return 'EXCLUDED';
  if (first.agent_id === null) return 'UNASSIGNED';
  if (resolution?.action === 'MATCH') return null;
  const is_before = first.agent_created_at !== null && first.occurred_at < first.agent_created_at;
  return is_before ? 'HISTORY' : null;
}

/** True if a spend is compared with decisions. */
export const isCompared = (spend: SpendLines): boolean => stateWithoutMatching(spend) === null;

/** The rows of a spend's lines, in their order. `match`: its decision; null: none was found, or it is not compared. */
export function matchRows(spend: SpendLines, match: SpendMatch | null): LineMatchRow[] {
  const { key, first, lines, resolution } = spend;
  const state = stateWithoutMatching(spend) ?? stateOfMatch(match, resolution);
  return lines.map(({ line_id, import_id, feed, occurred_at, precision, currency, amount_minor }) => ({
    line_id,
    import_id,
    feed,
    agent_id: first.agent_id,
    spend_key: key,
    starts_at: first.occurred_at,
    occurred_at,
    ends_at: new Date(
      endOfSpend({ starts_ms: Date.parse(occurred_at), is_day: precision === 'DAY' }),
    ).toISOString(),
    currency,
    amount_minor,
    state,
    rule: match?.rule ?? null,
    decision_id: match?.decision_id ?? null,
    step: match?.step ?? null,
    resolution_id: resolution?.resolution_id ?? null,
  }));
}

/** The sum of what the lines of a spend say in one currency; null where a line does not say it. */
function sumIn(
  lines: readonly CoverageLine[],
  said: (line: CoverageLine) => { currency: string | null; amount_minor: number | null },
): { currency: string; amount_minor: number } | null {
  const { currency } = said(lines[0] as CoverageLine);
  if (currency === null) return null;
  let sum = 0;
  for (const line of lines) {
    const each = said(line);
    if (each.currency !== currency || each.amount_minor === null) return null;
    sum = addMinor(sum, each.amount_minor);
  }
  return { currency, amount_minor: sum };
}

/** A spend as it is compared with decisions. */
export function paidSpend({ key, first, lines, resolution }: SpendLines): LineSpend {
  const paid = sumIn(lines, ({ currency, amount_minor }) => ({ currency, amount_minor }));
  const at_merchant = sumIn(lines, ({ merchant_currency, merchant_amount_minor }) => ({
    currency: merchant_currency,
    amount_minor: merchant_amount_minor,
  }));
  const amounts = [paid, at_merchant?.currency === paid?.currency ? null : at_merchant];
  return {
    key,
    starts_ms: Date.parse(first.occurred_at),
    is_day: first.precision === 'DAY',
    merchant: first.merchant,
    payee_id: first.payee_id,
    instrument: first.instrument,
    amounts: amounts.flatMap((each) => each ?? []),
    references: [
      ...new Set(
        lines.flatMap(({ external_reference, authorization_id }) =>
          [external_reference, authorization_id].flatMap((each) => each ?? []),
        ),
      ),
    ],
    resolution,
  };
}

/**
 * Finds for each of these lines whether it was asked for: the rows of all of them. Lines must be of kind SPEND, spends whole. It depends on
 * nothing but its arguments, and not on their order.
 */
export function coverageOf(
  lines: readonly CoverageLine[],
  asked: ReadonlyMap<string, readonly AskedSpend[]>,
  settings: CoverageSettings,
): LineMatchRow[] {
  const spends = groupSpends(lines);
  const by_agent = new Map<string, SpendLines[]>();
  for (const spend of spends) if (isCompared(spend)) pushTo(by_agent, spend.first.agent_id as string, spend);
  const matches = new Map<string, SpendMatch>();
  for (const [agent_id, of_agent] of by_agent) {
    const found = matchSpends(of_agent.map(paidSpend), asked.get(agent_id) ?? [], settings);
    for (const [key, match] of found) matches.set(key, match);
  }
  return spends.flatMap((spend) => matchRows(spend, matches.get(spend.key) ?? null));
}
