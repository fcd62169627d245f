import type { Mandate } from '@purser/contract/allowances/mandates';
import type { ReasonCode } from '@purser/contract/reasons';
import type { ALLOWANCE_SOURCES, ALLOWANCE_STATUSES } from '@purser/contract/values/allowances';
import type { CountedSlot, NamedCounter } from './counters.ts';
import { counterName, useAt } from './counters.ts';
import { budgetWindow, type SharedBudget } from './shared-budgets.ts';
import type { CounterWindow } from './windows.ts';

export type AllowanceStatus = (typeof ALLOWANCE_STATUSES)[number];

/** The bounds and words of an allowance, which never change once it is open. */
export interface AllowanceTerms {
  merchants?: readonly string[];
  payee_ids?: readonly string[];
  action_types?: readonly string[];
  purpose?: string;
  expected_items?: readonly string[];
  answers: readonly ReasonCode[];
  /** Its own and those of all above it. */
  labels: Readonly<Record<string, string>>;
  /** The part of its mandate that nobody here can check. */
  mandate?: Mandate;
  /** The part of it that every spend must be made under, or below. Without it a spend may name the allowance itself. */
  through?: string;
}

/** A cap on spends, as it is stored. Its counter has the same id. */
export interface Allowance {
  allowance_id: string;
  /** Null: any agent may use it. */
  agent_id: string | null;
  budget_id: string | null;
  parent_id: string | null;
  /** Its own id and those of all above it, the nearest first. */
  path: readonly string[];
  /** ISO 4217. */
  currency: string;
  /** Minor units of `currency`, as all amounts here. */
  amount_minor: number;
  period: SharedBudget['period'];
  time_zone: string;
  per_spend_limit_minor: number | null;
  max_count: number | null;
  /** Exclusive, ISO UTC. */
  expires_at: string;
  /** As last recorded; `allowanceStatusAt` judges whether it has expired or is used up since. */
  status: Extract<AllowanceStatus, 'REQUESTED' | 'OPEN' | 'DENIED' | 'REVOKED'>;
  /** JSON of `AllowanceTerms`. */
  terms: string;
  /** True if an administrator, a person who granted it or an issuer stands for its words; never of what an agent made. */
  vouches: boolean;
  automatic: boolean;
  name: string | null;
  external_id: string | null;
  /** SHA-256 of the body that made it, hex; null without `external_id`. */
  body_hash: string | null;
  source: (typeof ALLOWANCE_SOURCES)[number];
  created_at: string;
  created_by_key_id: string | null;
  created_by_principal_id: string | null;
  made_by_agent: boolean;
  issuer_id: string | null;
  /** Until when a request has to be decided, ISO UTC; null where nobody requested it. */
  decide_by: string | null;
  /** JSON of what was asked for, of the decision on it, and of the revocation. */
  request: string | null;
  decided: string | null;
  revoked: string | null;
  /** The start of the period (ISO UTC) whose usage was last alerted of, and the percentage. */
  told_period: string | null;
  told_percent: number | null;
}

/** An allowance with what is in its counter: of its period, and in all periods together. */
export interface LoadedAllowance extends Allowance {
  slots: readonly CountedSlot[];
  total_slots: readonly CountedSlot[];
}

/** The subject of what an allowance counts in all its periods together. */
export const ALL_PERIODS = 'all';
/** All time: the window of those. */
export const ALL_TIME_WINDOW: CounterWindow = budgetWindow({ period: 'TOTAL', time_zone: 'UTC' });

const known_terms = new WeakMap<Pick<Allowance, 'terms'>, AllowanceTerms>();

/** The bounds and words of an allowance. The same object for the same row; it must not be changed. */
export function termsOf(allowance: Pick<Allowance, 'terms'>): AllowanceTerms {
  const known = known_terms.get(allowance);
  if (known !== undefined) return known;
  const terms = JSON.parse(allowance.terms) as AllowanceTerms;
  known_terms.set(allowance, terms);
  return terms;
}

/** The counters of an allowance: that of its period, and unless this is all time that of all periods. */
export function countersOfAllowance({
  allowance_id: counter_id,
  period,
  time_zone,
}: Pick<Allowance, 'allowance_id' | 'period' | 'time_zone'>): (NamedCounter & { window: CounterWindow })[] {
  const named = (subject: string, window: CounterWindow) => ({
    counter_id,
    subject,
    name: counterName({ counter_id, subject }),
    window,
  });
  const of_period = named('', budgetWindow({ period, time_zone }));
  return period === 'TOTAL' ? [of_period] : [of_period, named(ALL_PERIODS, ALL_TIME_WINDOW)];
}

/** The usage of an allowance in all periods together. */
export function totalUse({ period, slots, total_slots }: LoadedAllowance, now_ms: number) {
  return useAt(period === 'TOTAL' ? slots : total_slots, now_ms);
}

/** The status at a moment. Only an allowance for all time is used up for good, until money comes back. */
export function allowanceStatusAt(allowance: LoadedAllowance, now_ms: number): AllowanceStatus {
  const { status, period, amount_minor, max_count, slots } = allowance;
  if (status === 'DENIED' || status === 'REVOKED') return status;
  if (endsMs(allowance) <= now_ms) return 'EXPIRED';
  if (status === 'REQUESTED' || period !== 'TOTAL') return status;
  const use = useAt(slots, now_ms);
  const is_used_up = use.amount_minor >= amount_minor || (max_count !== null && use.count >= max_count);
  return is_used_up ? 'EXHAUSTED' : 'OPEN';
}

/** When it ends by itself: a request where nobody decides it in time. Milliseconds since 1970 UTC. */
export function endsMs({
  status,
  decide_by,
  expires_at,
}: Pick<Allowance, 'status' | 'decide_by' | 'expires_at'>): number {
  return Date.parse(status === 'REQUESTED' ? (decide_by ?? expires_at) : expires_at);
}

/** The earliest expiry of a chain (ISO UTC); undefined for none. */
export function earliestExpiry(chain: readonly Pick<Allowance, 'expires_at'>[]): string | undefined {
  return chain.map(({ expires_at }) => expires_at).sort()[0];
}
