import { isDescriptorOf } from '../merchants/descriptors.ts';
import { contradicts, payeeKey } from '../merchants/keys.ts';
import { pushTo } from '../values/maps.ts';
import type { AskedSpend, CoverageSettings, LineSpend } from './spends.ts';
import { isNear } from './spends.ts';

/** Results of comparisons of names that are kept. */
const MAX_COMPARED = 50_000;
/** The rank of each rule: the smaller the better. */
const PAYEE = 0;
const MERCHANT = 1;

/** A decision that fits a spend, and how well. */
export interface Candidate {
  asked: AskedSpend;
  rank: typeof PAYEE | typeof MERCHANT;
  /** How far the amounts are apart, in minor units. */
  apart_minor: number;
}

/** True if the first fits a spend better than the second; both have free decisions. The order is total. */
export function isBetter(one: Candidate, other: Candidate | null): boolean {
  if (other === null) return true;
  if (one.rank !== other.rank) return one.rank < other.rank;
  if (one.apart_minor !== other.apart_minor) return one.apart_minor < other.apart_minor;
  const [a, b] = [one.asked, other.asked];
  // The money of what was refused should not move, so an allowed request is the likelier one.
  if (a.is_refused !== b.is_refused) return b.is_refused;
  return a.created_ms !== b.created_ms ? a.created_ms > b.created_ms : a.decision_id > b.decision_id;
}

/** The first place in ascending numbers that is not before `value`. */
function placeOf<T>(sorted: readonly T[], value: number, numberOf: (each: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberOf(sorted[middle] as T) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Decisions of one expected amount, in the order of their times. */
interface OfAmount {
  expected_minor: number;
  asked: AskedSpend[];
}

/** Decisions of one agent by currency and expected amount, so that a spend is compared with few. */
export class AskedIndex {
  readonly #by_currency = new Map<string, OfAmount[]>();
  readonly #by_reference = new Map<string, AskedSpend[]>();
  readonly #same_names = new Map<string, boolean>();
  readonly #settings: CoverageSettings;

  constructor(asked: readonly AskedSpend[], settings: CoverageSettings) {
    this.#settings = settings;
    const groups = new Map<string, Map<number, AskedSpend[]>>();
    const in_order = [...asked].sort(
      (a, b) => a.created_ms - b.created_ms || (a.decision_id < b.decision_id ? -1 : 1),
    );
    for (const each of in_order) {
      if (each.expected_minor === null) continue;
      const amounts = groups.get(each.currency) ?? new Map<number, AskedSpend[]>();
      groups.set(each.currency, amounts);
      pushTo(amounts, each.expected_minor, each);
      for (const reference of new Set(each.references)) pushTo(this.#by_reference, reference, each);
    }
    for (const [currency, amounts] of groups) {
      const sorted = [...amounts].map(([expected_minor, of_amount]) => ({
        expected_minor,
        asked: of_amount,
      }));
      this.#by_currency.set(
        currency,
        sorted.sort((a, b) => a.expected_minor - b.expected_minor),
      );
    }
  }

  /** The decisions that the rail gave one of these names. */
  withReferences(references: readonly string[]): AskedSpend[] {
    return [...new Set(references.flatMap((each) => this.#by_reference.get(each) ?? []))];
  }

  /**
   * The best free decision for a spend by payee or merchant, made after `after_ms` and at the latest at `until_ms`; null: there is
   * none.
   */
  best(
    spend: LineSpend,
    times: { after_ms: number; until_ms: number },
    isFree: (decision_id: string) => boolean,
  ): Candidate | null {
    let best: Candidate | null = null;
    for (const { currency, amount_minor } of spend.amounts) {
      for (const group of this.#near(currency, amount_minor)) {
        const found = this.#bestOf(group, spend, amount_minor, times, isFree);
        if (found !== null && isBetter(found, best)) best = found;
      }
    }
    return best;
  }

  #near(currency: string, amount_minor: number): OfAmount[] {
    const groups = this.#by_currency.get(currency) ?? [];
    const { tolerance_minor, tolerance_percent } = this.#settings;
    // Bounds that are wide enough; `isNear` is exact.
    const low = Math.min(amount_minor - tolerance_minor, (amount_minor * 100) / (100 + tolerance_percent));
    const high = Math.max(amount_minor + tolerance_minor, (amount_minor * 100) / (100 - tolerance_percent));
    const near: OfAmount[] = [];
    for (let i = placeOf(groups, Math.floor(low) - 1, (each) => each.expected_minor); ; i++) {
      const group = groups[i];
      if (group === undefined || group.expected_minor > high + 1) return near;
      if (isNear(amount_minor, group.expected_minor, this.#settings)) near.push(group);
    }
  }

  #bestOf(
    { expected_minor, asked }: OfAmount,
    spend: LineSpend,
    amount_minor: number,
    { after_ms, until_ms }: { after_ms: number; until_ms: number },
    isFree: (decision_id: string) => boolean,
  ): Candidate | null {
    const apart_minor = Math.abs(amount_minor - expected_minor);
    const least = spend.payee_id === null ? MERCHANT : PAYEE;
    let best: Candidate | null = null;
    for (let i = placeOf(asked, until_ms + 1, (each) => each.created_ms) - 1; i >= 0; i--) {
      const each = asked[i] as AskedSpend;
      if (each.created_ms <= after_ms) break;
      if (!isFree(each.decision_id)) continue;
      const rank = this.#rankOf(spend, each);
      if (rank === null) continue;
      const candidate = { asked: each, rank, apart_minor };
      if (isBetter(candidate, best)) best = candidate;
      // The newest that is allowed and fits as well as any can: nothing older is better.
      if (best?.asked === each && rank === least && !each.is_refused) break;
    }
    return best;
  }

  #rankOf(spend: LineSpend, asked: AskedSpend): Candidate['rank'] | null {
    const { payee_id, instrument, merchant } = spend;
    if (payee_id !== null && asked.payee_id !== null && payeeKey(payee_id) === payeeKey(asked.payee_id))
      return PAYEE;
    if (contradicts(payee_id, asked.payee_id) || contradicts(instrument, asked.payee_id)) return null;
    return this.#isSameName(merchant, asked.merchant) ? MERCHANT : null;
  }

  #isSameName(descriptor: string, merchant: string): boolean {
    if (descriptor === merchant) return true;
    const key = `${descriptor}\n${merchant}`;
    let is_same = this.#same_names.get(key);
    if (is_same === undefined) {
      is_same = isDescriptorOf(descriptor, merchant);
      if (this.#same_names.size >= MAX_COMPARED) this.#same_names.clear();
      this.#same_names.set(key, is_same);
    }
    return is_same;
  }
}
