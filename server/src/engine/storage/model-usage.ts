import type { Queryable } from './database.ts';

/** A workspace's usage of the purpose model in a day. */
export interface ModelUsageRow {
  workspace_id: string;
  /** `2026-11-22` */
  day: string;
  calls: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  /** Empty where no prices were set. */
  currency: string;
  /** Millionths of a unit of the currency. */
  cost_micros: number;
}

const COUNTS = ['calls', 'input_tokens', 'cached_tokens', 'output_tokens', 'cost_micros'] as const;

/** Adds to what is kept, in one statement, and returns the sums by workspace and day. No two rows may have the same key. */
export async function addModelUsage(db: Queryable, rows: readonly ModelUsageRow[]): Promise<ModelUsageRow[]> {
  // In one order everywhere, so that two nodes never wait for each other.
  const sorted = [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const result = await db.query<ModelUsageRow>({
    name: 'add_model_usage',
    text: `insert into model_usage as kept (workspace_id, day, currency, ${COUNTS.join(', ')})
      select r.workspace_id, r.day, r.currency, ${COUNTS.map((name) => `r.${name}`).join(', ')}
      from unnest($1::text[], $2::date[], $3::text[], ${COUNTS.map((_, i) => `$${i + 4}::bigint[]`).join(', ')})
        as r(workspace_id, day, currency, ${COUNTS.join(', ')})
      on conflict (workspace_id, day, currency) do update set
        ${COUNTS.map((name) => `${name} = kept.${name} + excluded.${name}`).join(', ')}
      returning workspace_id, day::text, currency, ${COUNTS.join(', ')}`,
    values: [
      sorted.map((row) => row.workspace_id),
      sorted.map((row) => row.day),
      sorted.map((row) => row.currency),
      ...COUNTS.map((name) => sorted.map((row) => row[name])),
    ],
  });
  return result.rows;
}

const keyOf = ({ workspace_id, day, currency }: ModelUsageRow) => `${workspace_id} ${day} ${currency}`;

/** Lists a workspace's usage in these days, both inclusive (`2026-11-22`), oldest first. */
export async function listModelUsage(
  db: Queryable,
  workspace_id: string,
  { from, to }: { from: string; to: string },
): Promise<ModelUsageRow[]> {
  const result = await db.query<ModelUsageRow>({
    name: 'list_model_usage',
    text: `select workspace_id, day::text, currency, ${COUNTS.join(', ')} from model_usage
      where workspace_id = $1 and day between $2::date and $3::date order by day, currency`,
    values: [workspace_id, from, to],
  });
  return result.rows;
}
