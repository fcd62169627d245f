import type { Authority, Purpose } from '@purser/contract/authority';
import type { SpendRequest } from '@purser/contract/decisions';
import { type FeedbackRow, purposeHash } from '@purser/rules/domain/feedback';
import type { Answers } from '@purser/rules/domain/questions';
import { NO_FACTS, type Precedent, type Precedents, type SpendFacts } from '@purser/rules/domain/spend-facts';
import type { Directory } from '@purser/rules/merchants/directory';
import { payeeKey } from '@purser/rules/merchants/keys';
import { vouchingAllowances } from '@purser/rules/policy/allowances';
import { pushTo, valueIn } from '@purser/rules/values/maps';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { AllowanceChain } from '../../engine/commands/allowances/chain.ts';
import { listFeedback } from '../../engine/feedback/stats-rows.ts';
import { listAuthorityVersions, parseAuthority } from '../../engine/storage/authorities.ts';
import { makeBatchLoader } from '../../engine/storage/batch-loader.ts';
import type { Queryable } from '../../engine/storage/database.ts';
import { loadPaidSpends, NOTHING_PAID, type PaidSpends, paidTo } from './paid-spends.ts';
import { purposeChanges, subjectStems } from './purpose-changes.ts';

/** An agent's past: what people and the payment rail said, as far as it counts under its present purpose, and what it paid. */
export interface TrackRecords {
  paid: PaidSpends;
  precedents: Precedents;
}

/** Returns the track record of an agent under an authority's purpose. */
export type TrackRecordOf = (
  workspace_id: string,
  agent_id: string,
  authority: Authority,
) => TrackRecords | Promise<TrackRecords>;

/** An older track record is still used, but read again in the background. */
const FRESH_MS = 500;
/** A still older one is not used: the spend waits until it is read again. */
const USABLE_MS = 1_000;
const MAX_AGENTS = 10_000;
/** Rows of all agents together, about 0.5 KB each. An agent usually has some dozens and at most 5,000. */
const MAX_ROWS = 100_000;
/** Sums of one agent that are read at most. */
const MAX_AGENT_ROWS = 5_000;
/** An agent with more sums is read by itself, so that no other agent waits for them. */
const SHARED_ROWS = 100;
/** Agents that are read in one statement: a hundred documents of each, at worst. */
const AGENTS_AT_ONCE = 50;
const READS_AT_ONCE = 2;
/** The number of versions whose verdicts count. */
const MAX_VERSIONS = 500;
const VERSIONS_AT_ONCE = 100;
const MAX_PURPOSES = 10_000;

interface CachedRecord {
  purpose_hash: string;
  row_count: number;
  read_ms: number;
  records: TrackRecords;
  reading: Promise<TrackRecords> | null;
}

const NOTHING: TrackRecords = {
  paid: NOTHING_PAID,
  precedents: { by_merchant: new Map(), by_payee: new Map() },
};

type Counts = Omit<FeedbackRow, 'agent_id' | 'purpose_hash' | 'merchant' | 'payee_id' | 'word'>;
/** Verdicts on spends with one merchant and payee, over all purposes that count. */
interface FeedbackSum extends Counts {
  merchant: string;
  payee_id: string;
  words: Map<string, { allowed: number; refused: number }>;
}

function addCounts(to: Counts, row: Counts): void {
  for (const name of ['allowed', 'denied', 'aligned', 'misaligned', 'paid'] as const) to[name] += row[name];
  for (const [currency, { low, high }] of Object.entries(row.usual_minor)) {
    const known = to.usual_minor[currency] ?? { low, high };
    to.usual_minor[currency] = { low: Math.min(known.low, low), high: Math.max(known.high, high) };
  }
}

const noCounts = (): Counts => ({
  allowed: 0,
  denied: 0,
  aligned: 0,
  misaligned: 0,
  paid: 0,
  usual_minor: {},
});

/**
 * The sums that count under `now`: those under a purpose of which no change since is about the merchant's name or the words
 * of what was bought there. `purposeOf`: the purposes that the other sums were made under; unknown ones count for nothing.
 */
function countingNow(
  rows: readonly FeedbackRow[],
  now: Purpose,
  purposeOf: ReadonlyMap<string, Purpose>,
): FeedbackRow[] {
  const now_hash = purposeHash(now);
  const groups = new Map<string, FeedbackRow[]>();
  for (const row of rows) {
    const name = `${row.purpose_hash} ${row.payee_id} ${row.merchant}`;
    pushTo(groups, name, row);
  }
  const changes = new Map<string, ReturnType<typeof purposeChanges>>();
  return [...groups.values()]
    .filter(([first, ...rest]) => {
      const { purpose_hash, merchant } = first as FeedbackRow;
      if (purpose_hash === now_hash) return true;
      const then = purposeOf.get(purpose_hash);
      if (then === undefined) return false;
      const isTouched = valueIn(changes, purpose_hash, () => purposeChanges(then, now));
      return !isTouched([
        ...subjectStems(merchant),
        ...[first as FeedbackRow, ...rest].map((row) => row.word),
      ]);
    })
    .flat();
}

/** Facts about a spend from sources other than the agent. */
export function factsAbout(
  { action }: SpendRequest,
  { precedents, paid }: TrackRecords,
  { listed }: Directory,
  answers: Answers,
  chain?: AllowanceChain,
): SpendFacts {
  const spends = paidTo(paid, action);
  return {
    ...NO_FACTS,
    listed,
    precedents,
    answers,
    paid: spends,
    as_of: spends.length === 0 ? null : paid.as_of,
    allowances: vouchingAllowances(chain?.allowances, action),
  };
}

/** Sums in the form of the assessor's input. */
function recordsFromRows(rows: readonly FeedbackRow[], paid: PaidSpends): TrackRecords {
  if (rows.length === 0) return paid === NOTHING_PAID ? NOTHING : { ...NOTHING, paid };
  const said = new Map<string, FeedbackSum>();
  for (const { agent_id, purpose_hash, merchant, payee_id, word, ...counts } of rows) {
    const one = valueIn(said, `${payee_id} ${merchant}`, () => ({
      merchant,
      payee_id,
      words: new Map(),
      ...noCounts(),
    }));
    if (word === '') {
      addCounts(one, counts);
      continue;
    }
    const { allowed, denied, aligned, misaligned } = counts;
    const known = valueIn(one.words, word, () => ({ allowed: 0, refused: 0 }));
    known.allowed += allowed + aligned;
    known.refused += denied + misaligned;
  }
  const by_merchant = new Map<string, Precedent[]>();
  const by_payee = new Map<string, Precedent[]>();
  for (const { merchant, payee_id, words, ...counts } of said.values()) {
    const precedent: Precedent = {
      merchant,
      payee_id: payee_id === '' ? null : payee_id,
      said_by_people: {
        allowed: counts.allowed + counts.aligned,
        refused: counts.denied + counts.misaligned,
      },
      settled_by_rail: counts.paid,
      words,
      usual_minor: new Map(Object.entries(counts.usual_minor)),
    };
    pushTo(by_merchant, merchant, precedent);
    if (payee_id !== '') pushTo(by_payee, payeeKey(payee_id), precedent);
  }
  return { paid, precedents: { by_merchant, by_payee } };
}

/**
 * Makes the look-up of purposes that an agent once had, by hash. What was found is kept; a purpose that is not among the
 * newest `MAX_VERSIONS` is left out.
 */
function makePurposesOf(db: Queryable) {
  const known = new LRUCache<string, { purpose: Purpose | null }>({ max: MAX_PURPOSES });
  return async (workspace_id: string, agent_id: string, hashes: ReadonlySet<string>) => {
    const found = new Map<string, Purpose>();
    const missing = new Set<string>();
    for (const hash of hashes) {
      const kept = known.get(`${agent_id} ${hash}`);
      if (kept === undefined) missing.add(hash);
      else if (kept.purpose !== null) found.set(hash, kept.purpose);
    }
    let before: number | null = null;
    for (let seen = 0; missing.size > 0 && seen < MAX_VERSIONS; ) {
      const page = await listAuthorityVersions(db, workspace_id, agent_id, {
        before,
        limit: VERSIONS_AT_ONCE,
      });
      for (const row of page.rows) {
        const { purpose } = parseAuthority(row);
        const hash = purposeHash(purpose);
        if (!missing.delete(hash)) continue;
        found.set(hash, purpose);
        known.set(`${agent_id} ${hash}`, { purpose });
      }
      before = page.rows.at(-1)?.version ?? null;
      seen += page.rows.length;
      if (!page.has_more) break;
    }
    for (const hash of missing) known.set(`${agent_id} ${hash}`, { purpose: null });
    return found;
  };
}

/** An agent whose past is read. */
interface Wanted {
  workspace_id: string;
  agent_id: string;
}

/** Makes the read of agents' pasts. Those that are asked for in the same moment share two statements. */
function makeReadPast(db: Queryable) {
  const readTogether = makeBatchLoader<Wanted, { rows: FeedbackRow[]; paid: PaidSpends }>({
    keyOf: ({ agent_id }) => agent_id,
    load: async (wanted) => {
      const [said, paid] = await Promise.all([
        listFeedback(db, wanted, SHARED_ROWS + 1),
        loadPaidSpends(db, wanted),
      ]);
      return new Map(
        wanted.map(({ agent_id }) => [
          agent_id,
          { rows: said.get(agent_id) ?? [], paid: paid.get(agent_id) ?? NOTHING_PAID },
        ]),
      );
    },
    max_batch: AGENTS_AT_ONCE,
    max_waiting: MAX_AGENTS,
    max_concurrent: READS_AT_ONCE,
  });
  return async (wanted: Wanted) => {
    const { rows, paid } = (await readTogether(wanted)) ?? { rows: [], paid: NOTHING_PAID };
    if (rows.length <= SHARED_ROWS) return { rows, paid };
    const all = await listFeedback(db, [wanted], MAX_AGENT_ROWS);
    return { rows: all.get(wanted.agent_id) ?? [], paid };
  };
}

/**
 * Makes the cached lookup of track records. Feedback of people reaches the decisions of every node within some seconds,
 * and a decision waits for the database only if its agent has not spent for `USABLE_MS`.
 */
export function makeTrackRecords(options: {
  db: pg.Pool;
  now_ms: () => number;
  max_rows?: number;
}): TrackRecordOf {
  const { db, now_ms } = options;
  const cache = new LRUCache<string, CachedRecord>({
    max: MAX_AGENTS,
    maxSize: options.max_rows ?? MAX_ROWS,
    sizeCalculation: ({ row_count }) => 1 + row_count,
  });
  const readPast = makeReadPast(db);
  const purposesOf = makePurposesOf(db);
  const hashes = new WeakMap<Authority, string>();

  function hashOf(authority: Authority): string {
    const known = hashes.get(authority);
    if (known !== undefined) return known;
    const hash = purposeHash(authority.purpose);
    hashes.set(authority, hash);
    return hash;
  }

  function read(workspace_id: string, agent_id: string, authority: Authority): Promise<TrackRecords> {
    const purpose_hash = hashOf(authority);
    const before = cache.get(agent_id);
    const known =
      before?.purpose_hash === purpose_hash
        ? before
        : { purpose_hash, row_count: 0, read_ms: Number.NEGATIVE_INFINITY, records: NOTHING };
    const reading = readPast({ workspace_id, agent_id }).then(async ({ rows, paid }) => {
      const others = new Set(rows.map((row) => row.purpose_hash));
      others.delete(purpose_hash);
      const purposes = await purposesOf(workspace_id, agent_id, others);
      const counting = countingNow(rows, authority.purpose, purposes);
      const records = recordsFromRows(counting, paid);
      settle({ purpose_hash, row_count: counting.length, read_ms: now_ms(), records });
      return records;
    });
    reading.catch(() => settle(known));
    const entry: CachedRecord = { ...known, reading };
    cache.set(agent_id, entry);
    // Another purpose may have replaced the entry during the read.
    const settle = (read: Omit<CachedRecord, 'reading'>) => {
      if (cache.get(agent_id) === entry) cache.set(agent_id, { ...read, reading: null });
    };
    return reading;
  }

  return (workspace_id, agent_id, authority) => {
    const known = cache.get(agent_id);
    if (known === undefined || known.purpose_hash !== hashOf(authority)) {
      return read(workspace_id, agent_id, authority);
    }
    const age_ms = now_ms() - known.read_ms;
    const reading = known.reading ?? (age_ms > FRESH_MS ? read(workspace_id, agent_id, authority) : null);
    return age_ms <= USABLE_MS || reading === null ? known.records : reading;
  };
}
