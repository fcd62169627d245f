import { randomBytes } from 'node:crypto';
import type { PurseRemains } from '@purser/adapters/lease';
import type { Upstream } from '../config.ts';
import type { Provider } from '../prices/price-table.ts';
import { AgentPurse, type PurseParts } from './agent-purse.ts';
import type { Caller } from './callers.ts';
import { type AskedLease, Journal, type JournalRecord, type PurseName } from './journal.ts';
import { finishPurse, type LeftPurse, readJournal, recordsOf } from './recovery.ts';

export interface PursesOptions extends Omit<PurseParts, 'journal' | 'nextLease' | 'nextCall' | 'settings'> {
  directory: string;
  boot_id: string;
  settings: Omit<PurseParts['settings'], 'gateway_id'>;
  idle_ms: number;
  merchants: Partial<Record<Provider, Upstream>>;
}

/** A journal that is longer is replaced by what is open. */
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;
const TICK_MS = 500;
/** A purse that was reported and is not used for this long is forgotten, with its paid fraction of a minor unit. */
const FORGET_MS = 60 * 60_000;

const sameName = (a: Omit<PurseName, 'number'>, b: Omit<PurseName, 'number'>) =>
  a.agent_id === b.agent_id &&
  a.key_id === b.key_id &&
  a.provider === b.provider &&
  a.authority === b.authority &&
  a.mode === b.mode &&
  a.currency === b.currency;

/** All purses of a gateway, those of an earlier process among them until they are reported. */
export class Purses {
  readonly #options: PursesOptions;
  readonly #journal: Journal;
  readonly #parts: PurseParts;
  readonly #purses = new Set<AgentPurse>();
  readonly #closing = new Set<AgentPurse>();
  /** Those of an earlier process, which are only reported. */
  readonly #left = new Set<AgentPurse>();
  /** Leases that an earlier process requested without having an answer: only the agent's key finds out. */
  #asked: readonly AskedLease[];
  readonly gateway_id: string;
  #leases: number;
  #calls: number;
  #opened: number;
  #shorten_at = MAX_JOURNAL_BYTES;
  readonly #timer: ReturnType<typeof setInterval>;

  /** Reads the journal and settles what an earlier process left. Throws if the journal cannot be read or written. */
  constructor(options: PursesOptions) {
    this.#options = options;
    this.#journal = new Journal(options.directory);
    const found = readJournal(this.#journal.read());
    // If the machine has restarted, the journal may lack records that were not on the disk yet.
    const is_incomplete =
      found.is_damaged || (found.gateway !== null && found.gateway.boot_id !== options.boot_id);
    // Where lines are missing, some names of leases may be used already. A new id makes all names new.
    this.gateway_id = (is_incomplete ? null : found.gateway?.id) ?? `gw_${randomBytes(12).toString('hex')}`;
    this.#leases = found.leases;
    this.#calls = found.calls;
    this.#opened = Math.max(0, ...found.purses.map(({ name }) => name.number));
    // Where lines are missing, what was asked for may have been drawn on.
    this.#asked = is_incomplete ? [] : found.asked;
    const left = found.purses.map((purse) => finishPurse(purse, is_incomplete)).filter(isLeft);
    this.#parts = {
      settings: { ...options.settings, gateway_id: this.gateway_id },
      adapter: options.adapter,
      prices: options.prices,
      log: options.log,
      journal: this.#journal,
      nextLease: () => `${this.gateway_id}-${++this.#leases}`,
      nextCall: () => ++this.#calls,
    };
    this.#journal.replace([this.#firstRecord(), ...left.flatMap(recordsOf), ...this.#asked.map(askOf)]);
    for (const each of left) this.#reopen(each, is_incomplete);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** The purse for the next call of a key at a provider. A new authority, mode or currency has a purse of its own. */
  purseOf(caller: Caller, upstream: Upstream, currency: string): AgentPurse {
    const { agent, key_id, purser } = caller;
    const wanted = {
      agent_id: agent.id,
      key_id,
      provider: upstream.provider,
      authority: agent.authority?.hash ?? null,
      mode: agent.mode,
      currency,
    };
    for (const purse of this.#purses)
      if (sameName(purse.name, wanted) && !this.#isTooOld(purse) && !this.#left.has(purse)) return purse;
    const name: PurseName = { ...wanted, number: ++this.#opened };
    const id = `${agent.id}/${upstream.provider}/${name.number}`;
    this.#journal.append({ t: 'purse', purse: id, owed: '0', ...name });
    const owner = { purser, upstream, authority: agent.authority };
    const purse = new AgentPurse(id, name, this.#parts, owner, {
      ...NOTHING,
      doubtful: this.#takeAsked(key_id),
    });
    this.#purses.add(purse);
    return purse;
  }

  /** The unanswered requests of a key, for its first purse to cancel what they leased. */
  #takeAsked(key_id: string): AskedLease['request'][] {
    const taken = this.#asked.filter((each) => each.key_id === key_id);
    this.#asked = this.#asked.filter((each) => each.key_id !== key_id);
    return taken.map(({ request }) => request);
  }

  /** Reports a purse that has no calls now, so that its limits say how much is used and not what it holds. */
  settle(purse: AgentPurse): void {
    if (purse.calls === 0 && purse.purse.isOpen && !this.#closing.has(purse)) this.#close(purse);
  }

  /** The number of open leases in all purses. */
  get open_leases(): number {
    let leases = 0;
    for (const { purse } of this.#purses) leases += purse.leases.length;
    return leases;
  }

  /** Reports everything that can be reported. Resolves to true once nothing is open; at the latest at this time. */
  async stop(until_ms: number): Promise<boolean> {
    clearInterval(this.#timer);
    const all = [...this.#purses].map((purse) => purse.purse.close());
    const timeout = new Promise<false>((resolve) =>
      setTimeout(() => resolve(false), until_ms - Date.now()).unref(),
    );
    await Promise.race([Promise.all(all), timeout]);
    this.#journal.close();
    return [...this.#purses].every((purse) => !purse.purse.isOpen);
  }

  #isTooOld(purse: AgentPurse): boolean {
    return Date.now() - purse.opened_ms >= this.#options.settings.lease_ms;
  }

  #firstRecord(): JournalRecord {
    const { boot_id } = this.#options;
    return { t: 'gateway', id: this.gateway_id, boot_id, leases: this.#leases, calls: this.#calls };
  }

  #reopen({ id, name, leases, unreported, owed, calls }: LeftPurse, is_incomplete: boolean): void {
    const { log, merchants } = this.#options;
    const provider = name.provider as Provider;
    // Nothing is drawn from it, so it needs no key of the agent.
    const owner = {
      purser: this.#parts.adapter,
      upstream: merchants[provider] ?? { provider, name: provider },
      authority: null,
    };
    const purse = new AgentPurse(id, name, this.#parts, owner, { leases, unreported, owed });
    for (const call of calls) purse.addCall(call);
    this.#purses.add(purse);
    this.#left.add(purse);
    log(is_incomplete ? 'warn' : 'info', 'Leases of an earlier run are reported', {
      purse: id,
      leases: leases.length,
      spent_whole: is_incomplete,
    });
    this.#close(purse);
  }

  #tick(): void {
    const now_ms = Date.now();
    for (const purse of this.#purses) {
      if (this.#closing.has(purse) || purse.calls > 0) continue;
      const idle_ms = now_ms - purse.used_ms;
      const is_due = this.#left.has(purse) || idle_ms >= this.#options.idle_ms || this.#isTooOld(purse);
      if (purse.purse.isOpen) {
        if (is_due) this.#close(purse);
      } else if (idle_ms >= FORGET_MS) this.#purses.delete(purse);
    }
    if (this.#journal.bytes > this.#shorten_at) this.#shorten();
  }

  /** Reports a purse. One that takes no more calls is forgotten once it is reported, else it is used again. */
  #close(purse: AgentPurse): void {
    this.#closing.add(purse);
    purse.purse
      .close()
      .catch((error: unknown) => {
        this.#options.log('error', 'A purse could not be reported', {
          purse: purse.id,
          error: String(error),
        });
        return false;
      })
      .then((is_done) => {
        this.#closing.delete(purse);
        if (!is_done || purse.purse.isOpen || purse.calls > 0) return;
        const has_follower = [...this.#purses].some(
          (each) => each !== purse && sameName(each.name, purse.name),
        );
        if (!this.#left.delete(purse) && !has_follower) return;
        this.#purses.delete(purse);
      });
  }

  /** Replaces the journal by what is open. */
  #shorten(): void {
    if (this.#journal.is_syncing || this.#closing.size > 0) return;
    const live = new Set([...this.#purses].map(({ id }) => id));
    const { purses, asked } = readJournal(this.#journal.read());
    this.#journal.replace([
      this.#firstRecord(),
      ...purses.filter(({ id }) => live.has(id)).flatMap(recordsOf),
      ...asked.map(askOf),
    ]);
    this.#shorten_at = this.#journal.bytes + MAX_JOURNAL_BYTES;
  }
}

const NOTHING: PurseRemains = { leases: [], unreported: [], owed: 0n };
const askOf = (asked: AskedLease): JournalRecord => ({ t: 'ask', ...asked });
const isLeft = ({ leases, unreported, owed }: LeftPurse) =>
  leases.length > 0 || unreported.length > 0 || owed > 0n;
