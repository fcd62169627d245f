import type { Authority } from '@purser/contract/authority';
import type { Action, Assessment } from '@purser/contract/decisions';
import type { ReasonCode } from '@purser/contract/reasons';
import type { REPLAY_SKIPS } from '@purser/contract/values/history';
import type { Assess } from '../domain/assessment.ts';
import type { SpendFacts } from '../domain/spend-facts.ts';
import type { Directory } from '../merchants/directory.ts';
import { countersOf, withSlots } from '../policy/counters.ts';
import { decide } from '../policy/decide.ts';
import { knownMerchantKey } from '../policy/known-merchants.ts';
import { addMinor } from '../values/money.ts';
import { LineCounters } from './line-counters.ts';
import type { LineRow } from './lines.ts';

/** The fields of a line that are replayed. */
export type ReplayedLine = Pick<
  LineRow,
  | 'line_id'
  | 'kind'
  | 'merchant'
  | 'payee_id'
  | 'instrument'
  | 'amount_minor'
  | 'currency'
  | 'occurred_at'
  | 'precision'
  | 'description'
  | 'category'
>;

/** A line that the draft would have stopped. */
export interface StoppedLine {
  line_id: string;
  occurred_at: string;
  merchant: string;
  amount_minor: number;
  decision: 'REVIEW' | 'DENY';
  reason_code: ReasonCode;
  explanation: string;
}

/** Numbers of decisions by kind. */
interface Kinds {
  allow: number;
  review: number;
  deny: number;
}

/** The decisions of a draft about lines. */
export interface LineReplayResult {
  evaluated: number;
  skipped: { reason: (typeof REPLAY_SKIPS)[number]; count: number }[];
  draft: Kinds & { authorized_minor: number };
  /** The share of the evaluated lines that were allowed, from 0 to 1; 1 without any. */
  allow_share: number;
  reviews_per_week: number;
  by_reason: { reason_code: ReasonCode; count: number }[];
  by_day: ({ day: string } & Kinds)[];
  /** The newest of them, newest first. */
  stopped: StoppedLine[];
}

/** Inputs of a replay besides the lines. */
export interface LineReplayOptions {
  draft: Authority;
  assess: Assess;
  facts: SpendFacts;
  directory: Directory;
}

const MAX_STOPPED = 100;
const DAY_SECONDS = 86_400;
const WEEK_MS = 7 * 86_400_000;
/** Names the counters of a replay, which nobody else sees. */
const AGENT = 'agt_replayed';

/** The draft as it judges lines: what others spend of shared budgets is unknown, and lines lie before any validity. */
function forLines({ budgets, valid_from, valid_until, ...draft }: Authority): Authority {
  return draft;
}

/** The draft as it judges lines with a day and no time: without hours, and without windows under a day. */
function forDays(draft: Authority): Authority {
  const { active_hours, on_outside_hours, velocity_limits, duplicate_window_seconds, on_duplicate, ...rest } =
    draft;
  const limits = velocity_limits?.filter(({ window_seconds = DAY_SECONDS }) => window_seconds >= DAY_SECONDS);
  const has_duplicates = (duplicate_window_seconds ?? 0) >= DAY_SECONDS;
  return {
    ...rest,
    ...(limits === undefined || limits.length === 0 ? {} : { velocity_limits: limits }),
    ...(has_duplicates
      ? { duplicate_window_seconds, ...(on_duplicate === undefined ? {} : { on_duplicate }) }
      : {}),
  } as Authority;
}

/** The spend that a line was. */
export function actionOf({
  merchant,
  amount_minor,
  currency,
  payee_id,
  description,
  category,
}: ReplayedLine): Action {
  return {
    type: 'purchase',
    merchant,
    amount_minor,
    currency,
    ...(payee_id === null ? {} : { payee_id }),
    ...(description === null ? {} : { description }),
    ...(category === null ? {} : { category }),
  };
}

/**
 * Decides about lines by a draft of an authority, in their order, with its own month, limits over time, duplicates
 * and known merchants: as if each line had been asked for. What needs a review counts as allowed later. The purpose is assessed
 * once for each merchant, payee, category and description. Nothing is saved.
 */
export class LineReplay {
  readonly #options: LineReplayOptions;
  readonly #by_second: Authority;
  readonly #by_day: Authority;
  readonly #counters = new LineCounters();
  readonly #assessed = new Map<string, Assessment>();
  readonly #known = new Set<string>();
  readonly #months = new Map<string, number>();
  readonly #skipped = new Map<(typeof REPLAY_SKIPS)[number], number>();
  readonly #reasons = new Map<ReasonCode, number>();
  readonly #days = new Map<string, Kinds>();
  readonly #stopped: StoppedLine[] = [];
  readonly #draft = { allow: 0, review: 0, deny: 0, authorized_minor: 0 };
  #first_ms = Number.POSITIVE_INFINITY;
  #last_ms = Number.NEGATIVE_INFINITY;

  constructor(options: LineReplayOptions) {
    this.#options = options;
    this.#by_second = forLines(options.draft);
    this.#by_day = forDays(this.#by_second);
  }

  /** Takes the next line; `counts` false: it only prepares those after it. Lines must come in the order of their times. */
  take(line: ReplayedLine, counts = true): void {
    const { draft, directory } = this.#options;
    const skip =
      line.kind !== 'SPEND' ? 'REFUND' : line.currency !== draft.currency ? 'CURRENCY_DIFFERS' : null;
    if (skip !== null) {
      if (counts) this.#skipped.set(skip, (this.#skipped.get(skip) ?? 0) + 1);
      return;
    }
    const authority = line.precision === 'DAY' ? this.#by_day : this.#by_second;
    const now_ms = Date.parse(line.occurred_at);
    const action = actionOf(line);
    const counters = countersOf(authority, AGENT, action);
    const month = line.occurred_at.slice(0, 7);
    const spent_minor = this.#months.get(month) ?? 0;
    const known = knownMerchantKey(action);
    const verdict = decide({
      authority,
      request: { action },
      directory,
      budget: { held_minor: 0, committed_minor: spent_minor },
      counters: withSlots(counters, (counter) => this.#counters.slots(counter, now_ms)),
      assessment: this.#assessment(line, authority, action),
      is_known_merchant: this.#known.has(known),
      now_ms,
    });
    if (verdict.decision !== 'DENY') {
      this.#known.add(known);
      this.#months.set(month, addMinor(spent_minor, verdict.held_amount_minor));
      this.#counters.add(counters, verdict.held_amount_minor, now_ms);
    }
    if (counts) this.#count(line, verdict, now_ms);
  }

  result(): LineReplayResult {
    const { allow, review, deny } = this.#draft;
    const evaluated = allow + review + deny;
    const weeks = Math.max(1, (this.#last_ms - this.#first_ms) / WEEK_MS);
    return {
      evaluated,
      skipped: [...this.#skipped].map(([reason, count]) => ({ reason, count })),
      draft: this.#draft,
      allow_share: evaluated === 0 ? 1 : allow / evaluated,
      reviews_per_week: evaluated === 0 ? 0 : review / weeks,
      by_reason: [...this.#reasons]
        .map(([reason_code, count]) => ({ reason_code, count }))
        .sort((a, b) => b.count - a.count || (a.reason_code < b.reason_code ? -1 : 1)),
      by_day: [...this.#days]
        .map(([day, kinds]) => ({ day, ...kinds }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),
      stopped: [...this.#stopped].reverse(),
    };
  }

  #assessment(line: ReplayedLine, authority: Authority, action: Action): Assessment {
    const { merchant, payee_id, category, description } = line;
    const key = JSON.stringify([merchant, payee_id, category, description]);
    const known = this.#assessed.get(key);
    if (known !== undefined) return known;
    const made = this.#options.assess(authority, { action }, this.#options.facts);
    this.#assessed.set(key, made);
    return made;
  }

  #count(line: ReplayedLine, verdict: ReturnType<typeof decide>, now_ms: number): void {
    const { decision, reason_code, explanation, authorized_amount_minor } = verdict;
    const kind = decision === 'ALLOW' ? 'allow' : decision === 'REVIEW' ? 'review' : 'deny';
    this.#draft[kind] += 1;
    this.#draft.authorized_minor = addMinor(this.#draft.authorized_minor, authorized_amount_minor);
    this.#reasons.set(reason_code, (this.#reasons.get(reason_code) ?? 0) + 1);
    const day = line.occurred_at.slice(0, 10);
    const kinds = this.#days.get(day) ?? { allow: 0, review: 0, deny: 0 };
    kinds[kind] += 1;
    this.#days.set(day, kinds);
    this.#first_ms = Math.min(this.#first_ms, now_ms);
    this.#last_ms = Math.max(this.#last_ms, now_ms);
    if (decision === 'ALLOW') return;
    const { line_id, occurred_at, merchant, amount_minor } = line;
    this.#stopped.push({ line_id, occurred_at, merchant, amount_minor, decision, reason_code, explanation });
    if (this.#stopped.length > MAX_STOPPED) this.#stopped.shift();
  }
}
