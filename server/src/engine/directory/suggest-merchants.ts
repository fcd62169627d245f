import type { Authority } from '@purser/contract/authority';
import {
  MAX_EXAMPLES,
  MAX_LOOKED_AT,
  MAX_PAYEES,
  SUGGESTION_DAYS,
  SUGGESTIONS,
} from '@purser/contract/values/merchants';
import { effectiveDecision } from '@purser/rules/domain/decisions';
import { allowedBy } from '@purser/rules/merchants/allowlist';
import { blockedBy } from '@purser/rules/merchants/blocklist';
import type { Directory } from '@purser/rules/merchants/directory';
import { normaliseMerchant } from '@purser/rules/merchants/names';
import { firstIdAt } from '@purser/rules/values/ids';
import { addMinor } from '@purser/rules/values/money';
import type { Queryable } from '../storage/database.ts';
import { listSuggestionFacts, type SuggestionFacts } from './suggestion-rows.ts';

export { MAX_EXAMPLES, MAX_LOOKED_AT, MAX_PAYEES, SUGGESTION_DAYS, SUGGESTIONS };

const READ_AT_ONCE = 500;
const DAY_MS = 86_400_000;

/** A merchant that an agent pays and that is not listed, and what is known of it. Amounts are minor units. */
export interface Suggestion {
  merchant: string;
  /** At most `MAX_PAYEES`, sorted. */
  payee_ids: string[];
  count: number;
  amounts: { currency: string; amount_minor: number }[];
  first_at: string;
  last_at: string;
  assessments: { ALIGNED: number; UNCLEAR: number; MISALIGNED: number };
  /** Current labels. */
  labels: { ALIGNED: number; UNCLEAR: number; MISALIGNED: number };
  reviews: { allowed: number; denied: number };
  outcomes: { executed: number; failed: number };
  /** Spends that were in force and that the payment rail settled. */
  settled: number;
  /** Descriptions, the newest first. */
  examples: string[];
  suggestion: (typeof SUGGESTIONS)[number];
  /** One sentence. */
  why: string;
}

type Judgement = keyof Suggestion['labels'];
type Known = Omit<Suggestion, 'payee_ids' | 'amounts' | 'suggestion' | 'why'> & {
  payees: Set<string>;
  sums: Map<string, number>;
};

const EXECUTED = new Set(['EXECUTED', 'PARTIALLY_REFUNDED', 'REFUNDED']);
const FAILED = new Set(['FAILED', 'CANCELLED']);

const noCounts = () => ({ ALIGNED: 0, UNCLEAR: 0, MISALIGNED: 0 });

function begin({ merchant, created_at }: SuggestionFacts): Known {
  return {
    merchant,
    payees: new Set(),
    count: 0,
    sums: new Map(),
    first_at: created_at,
    last_at: created_at,
    assessments: noCounts(),
    labels: noCounts(),
    reviews: { allowed: 0, denied: 0 },
    outcomes: { executed: 0, failed: 0 },
    settled: 0,
    examples: [],
  };
}

/** Adds a decision, which is older than those before it. */
function add(known: Known, one: SuggestionFacts): void {
  known.count += 1;
  known.first_at = one.created_at;
  known.sums.set(one.currency, addMinor(known.sums.get(one.currency) ?? 0, one.amount_minor));
  if (one.payee_id !== null && known.payees.size < MAX_PAYEES) known.payees.add(one.payee_id);
  if (one.description !== null && known.examples.length < MAX_EXAMPLES) {
    if (!known.examples.includes(one.description)) known.examples.push(one.description);
  }
  if (one.assessment !== null) known.assessments[one.assessment.slice('PURPOSE_'.length) as Judgement] += 1;
  if (one.label !== null) known.labels[one.label.slice('PURPOSE_'.length) as Judgement] += 1;
  if (one.review_state === 'ALLOWED') known.reviews.allowed += 1;
  if (one.review_state === 'DENIED') known.reviews.denied += 1;
  if (EXECUTED.has(one.outcome_state)) known.outcomes.executed += 1;
  if (FAILED.has(one.outcome_state)) known.outcomes.failed += 1;
  // That a spend went through in SHADOW, where nothing is stopped, is nobody's approval.
  const was_in_force = effectiveDecision('ENFORCE', one.decision, one.review_state) === 'ALLOW';
  if (one.verified && was_in_force && EXECUTED.has(one.outcome_state) && one.outcome_state !== 'REFUNDED') {
    known.settled += 1;
  }
}

const often = (count: number) => (count === 1 ? 'once' : `${count} times`);
const times = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * The suggestion for a merchant, and its reason. ALLOW needs confirmation by a person or the rail; an agent's report
 * does not count.
 */
function suggestionOf({ count, labels, reviews, settled }: Known): Pick<Suggestion, 'suggestion' | 'why'> {
  const right = labels.ALIGNED + reviews.allowed;
  const wrong = labels.MISALIGNED + reviews.denied;
  const said = (n: number, what: string) => `people judged spends there ${what} ${often(n)}`;
  if (right > 0 && wrong > 0) {
    return {
      suggestion: 'ASK',
      why: `${sentence(said(right, 'right'))}, and wrong ${often(wrong)}.`,
    };
  }
  if (wrong > 0) return { suggestion: 'BLOCK', why: `${sentence(said(wrong, 'wrong'))}, and never right.` };
  const by_rail = `the payment rail settled ${times(settled, 'spend')} that ${settled === 1 ? 'was' : 'were'} allowed`;
  if (right > 0) {
    return {
      suggestion: 'ALLOW',
      why: `${sentence(said(right, 'right'))}${settled > 0 ? `, and ${by_rail}` : ''}.`,
    };
  }
  if (settled > 0) return { suggestion: 'ALLOW', why: `${sentence(by_rail)}.` };
  return {
    suggestion: 'ASK',
    why: `Nobody has judged its ${times(count, 'spend')} yet.`,
  };
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/** Makes the test whether the authority or the directory says something of a merchant, whichever payee it is about. */
export function makeIsListed(
  directory: Directory,
  authority: Authority | null,
): (merchant: string) => boolean {
  const allowed = [...directory.entries.values()]
    .filter((entry) => entry.verdict === 'ALLOWED')
    .map((entry) => entry.merchant);
  const { allowed_merchants = [], blocked_merchants = [] } = authority ?? {};
  return (merchant) =>
    [allowed, allowed_merchants].some((names) => allowedBy(merchant, names) !== null) ||
    [directory.blocked, blocked_merchants].some((names) => blockedBy(merchant, names) !== null);
}

/** Where a page of suggestions ended. */
export interface SuggestionPlace {
  count: number;
  key: string;
}

/** A suggestion with its place in the list. */
export type PlacedSuggestion = SuggestionPlace & { row: Suggestion };

/**
 * The merchants of an agent's newest decisions of the last `SUGGESTION_DAYS`, at most `MAX_LOOKED_AT` of them, listed or
 * not: the most frequent first, then by name.
 */
export async function gatherMerchants(
  db: Queryable,
  workspace_id: string,
  agent_id: string,
  now_ms: number,
): Promise<PlacedSuggestion[]> {
  const known = new Map<string, Known>();
  const from = firstIdAt('decision', now_ms - SUGGESTION_DAYS * DAY_MS);
  let before = 'dec~';
  for (let looked_at = 0; looked_at < MAX_LOOKED_AT; looked_at += READ_AT_ONCE) {
    const page = await listSuggestionFacts(db, workspace_id, agent_id, { before, from, limit: READ_AT_ONCE });
    for (const one of page) {
      const key = normaliseMerchant(one.merchant);
      const merchant = known.get(key) ?? begin(one);
      add(merchant, one);
      known.set(key, merchant);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < READ_AT_ONCE) break;
    before = last.decision_id;
  }
  return [...known]
    .sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .map(([key, merchant]) => {
      const { payees, sums, ...rest } = merchant;
      const amounts = [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        count: merchant.count,
        key,
        row: {
          ...rest,
          payee_ids: [...payees].sort(),
          amounts: amounts.map(([currency, amount_minor]) => ({ currency, amount_minor })),
          ...suggestionOf(merchant),
        },
      };
    });
}
