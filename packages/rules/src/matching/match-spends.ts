import { AskedIndex, type Candidate, isBetter } from './asked-index.ts';
import {
  type AskedSpend,
  askingTimes,
  type CoverageSettings,
  type LineSpend,
  type MatchStep,
  type SpendMatch,
} from './spends.ts';

/**
 * The steps by content: requests in time whose best has the very amount, so that a payment nobody asked for takes none that fits
 * another exactly; then those with a near amount; then late ones.
 */
const BY_CONTENT = ['EXACT', 'NEAR', 'LATE'] as const;

/** A decision that a spend outside of those at hand has taken, before or after them in time. */
export interface HeldDecision {
  decision_id: string;
  step: MatchStep;
  is_earlier: boolean;
}

/** Spends in the order in which they take decisions. */
export function inOrder(spends: readonly LineSpend[]): LineSpend[] {
  return [...spends].sort(
    (a, b) => a.starts_ms - b.starts_ms || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  );
}

/** One run of matching: which decisions are taken, and by what. */
class Matching {
  readonly matches = new Map<string, SpendMatch>();
  readonly #taken = new Set<string>();
  readonly #settings: CoverageSettings;
  readonly #index: AskedIndex;
  readonly #by_id: ReadonlyMap<string, AskedSpend>;

  constructor(asked: readonly AskedSpend[], settings: CoverageSettings) {
    this.#settings = settings;
    this.#index = new AskedIndex(asked, settings);
    this.#by_id = new Map(asked.map((each) => [each.decision_id, each]));
  }

  hold(decision_ids: Iterable<string>): void {
    for (const id of decision_ids) this.#taken.add(id);
  }

  /** People's resolutions. A decision that a person named for two spends is the earlier one's. */
  resolve(spends: readonly LineSpend[]): void {
    for (const spend of spends) {
      const { resolution } = spend;
      if (resolution?.action !== 'MATCH') continue;
      const asked = this.#by_id.get(resolution.decision_id ?? '');
      if (asked !== undefined && !this.#taken.has(asked.decision_id)) this.#take(spend, asked, null, 'NAMED');
    }
  }

  /** Takes the requests that the rail itself named, whatever the amount. */
  byReference(spends: readonly LineSpend[]): void {
    for (const spend of spends) {
      const times = askingTimes(spend, this.#settings);
      let best: Candidate | null = null;
      for (const asked of this.#index.withReferences(spend.references)) {
        const { created_ms, decision_id, currency, expected_minor } = asked;
        const paid = spend.amounts.find((each) => each.currency === currency);
        const is_in_reach = created_ms >= times.since_ms && created_ms <= times.late_until_ms;
        if (expected_minor === null || paid === undefined || !is_in_reach || this.#taken.has(decision_id))
          continue;
        const apart_minor = Math.abs(paid.amount_minor - expected_minor);
        const candidate: Candidate = { asked, rank: 0, apart_minor };
        if (isBetter(candidate, best)) best = candidate;
      }
      if (best !== null) this.#take(spend, best.asked, 'RAIL', 'NAMED');
    }
  }

  /** The best free request of each spend, by payee or merchant. */
  byContent(spends: readonly LineSpend[], step: (typeof BY_CONTENT)[number]): void {
    const isFree = (decision_id: string) => !this.#taken.has(decision_id);
    for (const spend of spends) {
      if (this.matches.has(spend.key)) continue;
      const { since_ms, until_ms, late_until_ms } = askingTimes(spend, this.#settings);
      const times =
        step === 'LATE'
          ? { after_ms: until_ms, until_ms: late_until_ms }
          : { after_ms: since_ms - 1, until_ms };
      const best = this.#index.best(spend, times, isFree);
      if (best === null || (step === 'EXACT' && best.apart_minor > 0)) continue;
      this.#take(spend, best.asked, best.rank === 0 ? 'PAYEE' : 'MERCHANT', step);
    }
  }

  #take(spend: LineSpend, asked: AskedSpend, rule: SpendMatch['rule'], step: MatchStep): void {
    const { decision_id, is_refused, created_ms } = asked;
    this.#taken.add(decision_id);
    const is_late = created_ms > askingTimes(spend, this.#settings).until_ms;
    this.matches.set(spend.key, { decision_id, rule, step, is_late, is_refused });
  }
}

/**
 * Finds the decision of each spend of an agent, by the keys of the spends; those without one are left out. A decision is for one
 * spend, and a spend has one decision. The result depends on neither the order of the arguments nor on when anything arrived.
 * `held`: what spends outside of `spends` have taken; then the result is that of all spends together, as long as what later ones
 * hold by time does not change.
 */
export function matchSpends(
  spends: readonly LineSpend[],
  asked: readonly AskedSpend[],
  settings: CoverageSettings,
  held: readonly HeldDecision[] = [],
): Map<string, SpendMatch> {
  const matching = new Matching(asked, settings);
  const holdOf = (step: MatchStep, earlier_only: boolean) =>
    matching.hold(
      held
        .filter((each) => each.step === step && (each.is_earlier || !earlier_only))
        .map(({ decision_id }) => decision_id),
    );
  const in_order = inOrder(spends);
  const free = in_order.filter(({ resolution }) => !isSettledByPeople(resolution));
  holdOf('NAMED', false);
  matching.resolve(in_order);
  matching.byReference(free);
  for (const step of BY_CONTENT) {
    // Earlier spends have taken theirs; later ones take what is left.
    holdOf(step, true);
    matching.byContent(free, step);
    holdOf(step, false);
  }
  return matching.matches;
}

/** True if a person said what a spend is, so that nothing is looked for. */
function isSettledByPeople(resolution: LineSpend['resolution']): boolean {
  return resolution !== null && resolution.action !== 'INCLUDE';
}
