import type { Lease, LeaseEnd } from '@purser/adapters/lease';
import { UNITS_IN_MINOR } from '../prices/money.ts';
import { NO_USAGE } from '../prices/price-table.ts';
import type { AskedLease, JournalRecord, PurseName } from './journal.ts';
import type { SettledCall } from './usage-rows.ts';

/** The journal's account of a purse. */
export interface LeftPurse {
  id: string;
  name: PurseName;
  leases: Lease[];
  unreported: LeaseEnd[];
  /** The cost of its settled calls, less what was reported. */
  owed: bigint;
  /** Settled calls since the last report. */
  calls: SettledCall[];
  /** Calls that were not settled, by their numbers. */
  unfinished: Map<number, ReservedCall>;
}

export interface ReservedCall {
  model: string;
  input: number;
  output: number;
  amount: bigint;
}

export interface Recovered {
  /** Null if the journal has no first line. */
  gateway: { id: string; boot_id: string } | null;
  /** The highest numbers of leases and of calls. */
  leases: number;
  calls: number;
  purses: LeftPurse[];
  /** Requests for leases whose answer is not in the journal. Nothing was consumed or drawn from what they leased. */
  asked: AskedLease[];
  is_damaged: boolean;
}

function recordOf(line: string): JournalRecord | null {
  try {
    const record = JSON.parse(line);
    return typeof record?.t === 'string' ? record : null;
  } catch {
    return null;
  }
}

type PurseRecord = Exclude<JournalRecord, { t: 'gateway' | 'purse' | 'ask' | 'refused' }>;

class JournalReader {
  readonly purses = new Map<string, LeftPurse>();
  readonly asked = new Map<string, AskedLease>();
  gateway: Recovered['gateway'] = null;
  leases = 0;
  calls = 0;
  is_damaged = false;

  read(record: JournalRecord): void {
    if (record.t === 'gateway') {
      this.gateway = { id: record.id, boot_id: record.boot_id };
      this.leases = Math.max(this.leases, record.leases);
      this.calls = Math.max(this.calls, record.calls);
      return;
    }
    if (record.t === 'purse') {
      const { t: _, purse, owed, ...name } = record;
      const empty = { leases: [], unreported: [], calls: [], unfinished: new Map() };
      this.purses.set(purse, { id: purse, name, owed: BigInt(owed), ...empty });
      return;
    }
    if (record.t === 'ask') {
      const { t: _, ...asked } = record;
      const key = asked.request.idempotencyKey;
      this.asked.set(key, asked);
      this.#countLease(key);
      return;
    }
    if (record.t === 'refused') {
      this.asked.delete(record.key);
      return;
    }
    const purse = this.purses.get(record.purse);
    if (purse === undefined) this.is_damaged = true;
    else this.#readOf(purse, record);
  }

  #countLease(key: string): void {
    this.leases = Math.max(this.leases, Number(/-(\d+)$/.exec(key)?.[1] ?? 0));
  }

  #readOf(purse: LeftPurse, record: PurseRecord): void {
    switch (record.t) {
      case 'lease': {
        const { t: _, purse: __, ...lease } = record;
        purse.leases.push(lease);
        this.asked.delete(lease.key);
        this.#countLease(lease.key);
        break;
      }
      case 'reserve': {
        const { model, input, output } = record;
        purse.unfinished.set(record.call, { model, input, output, amount: BigInt(record.amount) });
        this.calls = Math.max(this.calls, record.call);
        break;
      }
      case 'settle': {
        const { model, usage, uncertain } = record;
        const amount = BigInt(record.amount);
        purse.unfinished.delete(record.call);
        purse.owed += amount;
        purse.calls.push({ model, usage, uncertain, amount });
        break;
      }
      case 'close': {
        const { t: _, purse: __, ...end } = record;
        purse.leases = purse.leases.filter(({ key }) => key !== end.key);
        purse.unreported.push(end);
        this.asked.delete(end.key);
        purse.owed -= BigInt(end.spent_minor) * UNITS_IN_MINOR;
        purse.calls = [];
        break;
      }
      case 'reported':
        purse.unreported = purse.unreported.filter(({ key }) => key !== record.key);
        break;
      default:
        this.is_damaged = true;
    }
  }
}

/** Reads a journal. Skips lines that it cannot read, and then calls the journal damaged. */
export function readJournal(text: string): Recovered {
  const reader = new JournalReader();
  const lines = text.split('\n');
  // Every record ends with a line break, so text after the last one is a record that was cut off.
  if (lines.pop() !== '') reader.is_damaged = true;
  for (const line of lines) {
    const record = recordOf(line);
    try {
      if (record === null) reader.is_damaged = true;
      else reader.read(record);
    } catch {
      reader.is_damaged = true;
    }
  }
  const { gateway, leases, calls, purses, asked, is_damaged } = reader;
  const lacks_first = gateway === null && text !== '';
  return {
    gateway,
    leases,
    calls,
    purses: [...purses.values()],
    asked: [...asked.values()],
    is_damaged: is_damaged || lacks_first,
  };
}

/**
 * A purse with what it owes once its process is gone: unfinished calls count at their worst case, since nobody knows what they cost.
 * Where lines may be missing, its open leases count as spent whole.
 */
export function finishPurse(purse: LeftPurse, is_incomplete: boolean): LeftPurse {
  let { owed } = purse;
  const calls = [...purse.calls];
  for (const { model, input, output, amount } of purse.unfinished.values()) {
    owed += amount;
    calls.push({
      model,
      usage: { ...NO_USAGE, input, output },
      uncertain: true,
      amount,
    });
  }
  const leased =
    purse.leases.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n) * UNITS_IN_MINOR;
  if (is_incomplete && owed < leased) owed = leased;
  return { ...purse, owed, calls, unfinished: new Map() };
}

/** A few records that describe a purse as fully as all its records in the journal do. */
export function recordsOf({
  id,
  name,
  leases,
  unreported,
  owed,
  calls,
  unfinished,
}: LeftPurse): JournalRecord[] {
  const settled = calls.reduce((sum, { amount }) => sum + amount, 0n);
  const closed = unreported.reduce((sum, { spent_minor }) => sum + BigInt(spent_minor), 0n) * UNITS_IN_MINOR;
  return [
    { t: 'purse', purse: id, owed: String(owed - settled + closed), ...name },
    ...unreported.map(({ usage: _, ...end }): JournalRecord => ({ t: 'close', purse: id, ...end })),
    ...leases.map((lease): JournalRecord => ({ t: 'lease', purse: id, ...lease })),
    ...calls.map(
      ({ amount, ...call }): JournalRecord => ({
        t: 'settle',
        purse: id,
        call: 0,
        ...call,
        amount: String(amount),
      }),
    ),
    ...[...unfinished].map(
      ([call, { amount, ...reserved }]): JournalRecord => ({
        t: 'reserve',
        purse: id,
        call,
        ...reserved,
        amount: String(amount),
      }),
    ),
  ];
}
