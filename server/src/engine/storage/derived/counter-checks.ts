import type { CounterRow } from '@purser/rules/counters/counters';
import type { Queryable } from '../database.ts';

/** Weighted sums over many slots. */
export interface CounterSum {
  count: bigint;
  held: bigint;
  committed: bigint;
}

const timestampText = (column: string) =>
  `coalesce(to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), ${column}::text)`;
/** The hash of a slot's key. */
const HASH_OF_KEY = `sha256(convert_to(counter_id || ' ' || ${timestampText('slot')} || ' ' || ${timestampText('until')}
  || ' ' || subject, 'UTF8'))`;
/** One of 4,096. */
const SUM_OF_HASH = '(get_byte(hash, 0) << 4) | (get_byte(hash, 1) >> 4)';
/** The four bytes from the third one on, without a sign. */
const WEIGHT_OF_HASH = `((get_byte(hash, 2)::bigint << 24) | (get_byte(hash, 3) << 16) | (get_byte(hash, 4) << 8)
  | get_byte(hash, 5))::numeric`;

/** Returns the sums over all slots of a workspace that still count at `until`. */
export async function sumCounters(
  db: Queryable,
  workspace_id: string,
  until: string,
): Promise<Map<number, CounterSum>> {
  const result = await db.query<{ sum: number; count: string; held: string; committed: string }>({
    text: `select sum, sum(weight * count)::text as count, sum(weight * held_minor)::text as held,
        sum(weight * committed_minor)::text as committed
      from (select ${SUM_OF_HASH} as sum, ${WEIGHT_OF_HASH} as weight, count, held_minor, committed_minor
        from (select ${HASH_OF_KEY} as hash, count, held_minor, committed_minor from counters
          where workspace_id = $1 and until > $2) as hashed) as placed
      group by sum`,
    values: [workspace_id, until],
  });
  return new Map(
    result.rows.map(({ sum, count, held, committed }) => [
      sum,
      { count: BigInt(count), held: BigInt(held), committed: BigInt(committed) },
    ]),
  );
}

const ROW_COLUMNS = 'counter_id, subject, slot, until, count, held_minor, committed_minor, decision_id';

/** Returns the slots of these sums that still count at `until`. */
export async function listCountersOfSums(
  db: Queryable,
  workspace_id: string,
  until: string,
  sums: readonly number[],
): Promise<CounterRow[]> {
  const result = await db.query<CounterRow & { workspace_id: string }>({
    text: `select ${ROW_COLUMNS} from (
        select ${ROW_COLUMNS}, ${HASH_OF_KEY} as hash from counters where workspace_id = $1 and until > $2) as hashed
      where ${SUM_OF_HASH} = any($3)`,
    values: [workspace_id, until, sums],
  });
  return result.rows;
}

const ROWS_AT_ONCE = 500;

/** Returns slots that name as the last decision one of which `isRight` says that it is not; a page at a time. */
export async function findLastCounted(
  db: Queryable,
  workspace_id: string,
  until: string,
  isRight: (rows: readonly CounterRow[]) => Promise<boolean[]>,
): Promise<CounterRow[]> {
  const wrong: CounterRow[] = [];
  let after: Pick<CounterRow, 'counter_id' | 'subject' | 'slot'> = {
    counter_id: '',
    subject: '',
    slot: '-infinity',
  };
  for (;;) {
    const result = await db.query<CounterRow & { workspace_id: string }>({
      text: `select ${ROW_COLUMNS} from counters where workspace_id = $1 and until > $2
          and (counter_id, subject, slot) > ($3, $4, $5) and (decision_id is not null or counter_id like 'dup\\_%')
        order by counter_id, subject, slot limit $6`,
      values: [workspace_id, until, after.counter_id, after.subject, after.slot, ROWS_AT_ONCE],
    });
    const right = await isRight(result.rows);
    wrong.push(...result.rows.filter((_, i) => right[i] !== true).slice(0, ROWS_AT_ONCE - wrong.length));
    const last = result.rows.at(-1);
    if (last === undefined || result.rows.length < ROWS_AT_ONCE || wrong.length >= ROWS_AT_ONCE) return wrong;
    after = last;
  }
}

/**
 * Returns the ids of decisions after `after` that may count in limits over time, in the order of their making: those made under
 * limits, and all of these agents.
 */
export async function listDecisionsWithLimits(
  db: Queryable,
  workspace_id: string,
  agent_ids: readonly string[],
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const result = await db.query<{ decision_id: string }>({
    text: `select decision_id from decisions where workspace_id = $1 and decision_id > $2
        and (agent_id = any($4) or strpos(document, ',"limits":[') > 0) order by decision_id limit $3`,
    values: [workspace_id, after, limit, agent_ids],
  });
  return result.rows.map((row) => row.decision_id);
}

/** Returns the places in the chain at which these decisions were made. */
export async function loadSeqOfDecisions(
  db: Queryable,
  workspace_id: string,
  decision_ids: readonly string[],
): Promise<Map<string, number>> {
  if (decision_ids.length === 0) return new Map();
  const result = await db.query<{ subject_id: string; seq: number }>({
    text: `select subject_id, seq from ledger_events where workspace_id = $1 and type = 'decision.created'
        and subject_id = any($2)`,
    values: [workspace_id, decision_ids],
  });
  return new Map(result.rows.map(({ subject_id, seq }) => [subject_id, seq]));
}

/** Returns what new limits were given of the past, as the audit records seal it. */
export async function listPrimed(
  db: Queryable,
  workspace_id: string,
): Promise<{ seq: number; rows: CounterRow[] }[]> {
  const result = await db.query<{ seq: number; state: string }>({
    text: `select seq, state from audit_records where workspace_id = $1 and action = 'authority.created'
        and strpos(state, '"primed":') > 0 order by seq`,
    values: [workspace_id],
  });
  return result.rows.map(({ seq, state }) => ({ seq, rows: primedRows(state) }));
}

/** Returns the states that seal limits which joined with an authority, in the order of the chain. */
export async function listJoinings(db: Queryable, workspace_id: string): Promise<{ state: string }[]> {
  const result = await db.query<{ seq: number; state: string }>({
    text: `select seq, state from audit_records where workspace_id = $1 and action = 'authority.created'
        and strpos(state, '"joined":"') > 0 order by seq`,
    values: [workspace_id],
  });
  return result.rows;
}

/** The slots that an audit record says were primed. Throws SyntaxError where the text is not JSON. */
export function primedRows(state: string): CounterRow[] {
  if (!state.includes('"primed":')) return [];
  const { primed } = JSON.parse(state) as { primed?: { counters: CounterRow[] } };
  return primed?.counters ?? [];
}
