import { createHash } from 'node:crypto';
import type { Authority } from '@purser/contract/authority';
import type { Action } from '@purser/contract/decisions';
import type { CountedLimit, LimitStanding } from '@purser/contract/limit-standing';
import type { VelocityLimit } from '@purser/contract/velocity-limits';
import {
  type CountedSlot,
  type CounterKey,
  type CounterUse,
  counterName,
  type NamedCounter,
  useAt,
} from '../counters/counters.ts';
import { type PaceWindow, writtenSlotAt } from '../counters/windows.ts';
import { allowlistKey } from '../merchants/allowlist.ts';
import { blockedBy } from '../merchants/blocklist.ts';
import { merchantKey, payeeKey } from '../merchants/keys.ts';
import { foldCase } from '../merchants/names.ts';
import { POLICY } from '../sentences/policy.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { valueIn } from '../values/maps.ts';

/** A counter that a spend counts in. */
export interface SpendCounter extends NamedCounter {
  window: PaceWindow;
  /** The limit that it is counted for; null: that on duplicates. */
  limit: VelocityLimit | null;
  /** The spend is judged by it, and counts in others only. */
  is_read_only: boolean;
}

/** A counter that a spend counts in, with what is in it. */
export interface LoadedCounter extends SpendCounter {
  slots: readonly CountedSlot[];
}

/** The counters of a spend by what they are counted for: a limit's name, or one of `DUPLICATES`. */
export type CountersOf<Counter extends SpendCounter> = ReadonlyMap<string, Counter>;

/**
 * Counter names for duplicates; no limit can have them. A spend that names its payee has duplicates among those that
 * name the same one or none, a spend that names none has them among all.
 */
export const DUPLICATES = { all: '(duplicates)', own: '(own payee)', unnamed: '(no payee)' } as const;
/** The counters of a spend that counts in none. */
export const NO_COUNTERS: CountersOf<LoadedCounter> = new Map();

/** Over what time a limit counts. */
export function windowOf(authority: Authority, limit: VelocityLimit): PaceWindow {
  const { window } = limit;
  return window === 'ROLLING'
    ? { type: window, window_seconds: limit.window_seconds as number }
    : { type: window, time_zone: authority.time_zone ?? 'UTC' };
}

function duplicateWindow(window_seconds: number): PaceWindow {
  return { type: 'ROLLING', window_seconds };
}

/** Everything of a limit that says what it counts, as text; limits with the same text count the same. */
export function limitDefinition(authority: Authority, limit: VelocityLimit): string {
  const { per = 'AGENT', merchants, action_types } = limit;
  const asSet = (values: readonly string[]) => [...new Set(values)].sort();
  return canonicalJson({
    currency: authority.currency,
    window: { ...windowOf(authority, limit) },
    per,
    ...(merchants === undefined ? {} : { merchants: asSet(merchants.map(allowlistKey)) }),
    ...(action_types === undefined ? {} : { action_types: asSet(action_types.map(foldCase)) }),
  });
}

/** The counters of an agent under an authority, by what they are counted for; the subject is that of all spends together. */
export type AgentCounters = ReadonlyMap<string, SpendCounter>;

/** By agent, since many may have the same authority; so many of each are known. */
const known = new WeakMap<Authority, Map<string, AgentCounters>>();
const MAX_AGENTS_KNOWN = 1_000;

/** The counters that an authority has for an agent. They follow from what is counted; how much is allowed is no part of it. */
export function countersOfAgent(authority: Authority, agent_id: string): AgentCounters {
  const of_authority = valueIn(known, authority, () => new Map<string, AgentCounters>());
  const made = of_authority.get(agent_id);
  if (made !== undefined) return made;
  const idOf = (prefix: string, definition: string) =>
    `${prefix}_${createHash('sha256').update(`${agent_id} ${definition}`).digest('hex').slice(0, 32)}`;
  const counters = new Map<string, SpendCounter>();
  for (const limit of authority.velocity_limits ?? []) {
    const counter_id = idOf('vel', limitDefinition(authority, limit));
    const window = windowOf(authority, limit);
    counters.set(limit.name, withSubject({ counter_id, window, limit }, ''));
  }
  const { duplicate_window_seconds: seconds } = authority;
  if (seconds !== undefined) {
    const counter_id = idOf('dup', `${authority.currency} ${seconds}`);
    counters.set(
      DUPLICATES.all,
      withSubject({ counter_id, window: duplicateWindow(seconds), limit: null }, ''),
    );
  }
  if (of_authority.size >= MAX_AGENTS_KNOWN) of_authority.clear();
  of_authority.set(agent_id, counters);
  return counters;
}

/** The counter of one subject beside others. */
function withSubject(
  { counter_id, window, limit }: Pick<SpendCounter, 'counter_id' | 'window' | 'limit'>,
  subject: string,
  is_read_only = false,
): SpendCounter {
  return { counter_id, subject, name: counterName({ counter_id, subject }), window, limit, is_read_only };
}

/** Why a limit says nothing of a spend; null where it counts the spend. */
export function whyNotCounted(limit: VelocityLimit, action: Action): string | null {
  const { merchants, action_types } = limit;
  // As a blocklist is matched, since the limit restricts.
  if (merchants !== undefined && blockedBy(action.merchant, merchants) === null)
    return POLICY.other_merchants(limit.name);
  if (action_types !== undefined) {
    const type = foldCase(action.type);
    if (!action_types.some((each) => foldCase(each) === type)) return POLICY.other_types(limit.name);
  }
  return null;
}

/** How merchants and payees are named in subjects. */
interface Keys {
  merchant(merchant: string): string;
  payee(payee_id: string): string;
}

/** Widely, since limits restrict: see `merchants/matching.ts`. */
const KEYS: Keys = { merchant: merchantKey, payee: payeeKey };
/** Up to release 0.1 each spelling was counted apart. What was counted then is still read until its windows are over. */
const FORMER_KEYS: Keys = { merchant: allowlistKey, payee: (payee_id) => payee_id };

/** The subject of a limit: all spends, one merchant, or one payee (spends without a payee share one). */
function subjectOf({ per = 'AGENT' }: VelocityLimit, action: Action, keys: Keys): string {
  if (per === 'MERCHANT') return `m:${keys.merchant(action.merchant)}`;
  return per === 'PAYEE' ? `p:${action.payee_id === undefined ? '' : keys.payee(action.payee_id)}` : '';
}

/** Display names of merchants and payees, by subject. The first name of a subject wins. */
export function namesOfSubjects(
  partners: Iterable<{ merchant: string; payee_id?: string | undefined }>,
): Map<string, string> {
  const names = new Map<string, string>();
  const add = (subject: string, name: string) => {
    if (!names.has(subject)) names.set(subject, name);
  };
  for (const { merchant, payee_id } of partners) {
    for (const keys of [KEYS, FORMER_KEYS]) {
      add(`m:${keys.merchant(merchant)}`, merchant);
      if (payee_id !== undefined) add(`p:${keys.payee(payee_id)}`, payee_id);
    }
  }
  return names;
}

/** Spends that are each other's duplicates: whatever payee they name, this one, or with the empty text none. */
function duplicateSubject({ merchant, amount_minor }: Action, keys: Keys, payee_id?: string): string {
  const same = JSON.stringify([keys.merchant(merchant), amount_minor]);
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
  return payee_id === undefined
    ? `d:${hashOf(same)}`
    : `d:${hashOf(same)}:${payee_id && hashOf(keys.payee(payee_id))}`;
}

/** The subjects under which a spend is, or was by an earlier release, counted as what others may repeat. */
export function duplicateSubjects(action: Action): string[] {
  return [KEYS, FORMER_KEYS].flatMap((keys) => [
    duplicateSubject(action, keys),
    duplicateSubject(action, keys, action.payee_id ?? ''),
  ]);
}

/** Before the name of what is counted, in `CountersOf`: what an earlier release counted for it. */
const FORMER = '(former) ';

/** Returns the counters of duplicates among these, with what an earlier release counted for them. */
export function ofDuplicates<Counter extends SpendCounter>(
  counters: CountersOf<Counter>,
): CountersOf<Counter> {
  const names: readonly string[] = Object.values(DUPLICATES).flatMap((name) => [name, `${FORMER}${name}`]);
  return new Map([...counters].filter(([name]) => names.includes(name)));
}

/** True if a name in `CountersOf` is that of what an earlier release counted. */
export const isFormerRelease = (name: string): boolean => name.startsWith(FORMER);

/**
 * The counters that a spend is judged by under an authority. They are in the authority's currency: a spend in another one
 * counts in none of them.
 */
export function countersOf(authority: Authority, agent_id: string, action: Action): CountersOf<SpendCounter> {
  if (!hasCounters(authority)) return NO_COUNTERS;
  const { velocity_limits = [] } = authority;
  const of_agent = countersOfAgent(authority, agent_id);
  const counters = new Map<string, SpendCounter>();
  const add = (
    name: string,
    of_all: SpendCounter,
    subjectBy: (keys: Keys) => string,
    is_read_only = false,
  ) => {
    const subject = subjectBy(KEYS);
    const former = subjectBy(FORMER_KEYS);
    counters.set(name, subject === '' ? of_all : withSubject(of_all, subject, is_read_only));
    if (former !== subject) counters.set(`${FORMER}${name}`, withSubject(of_all, former, true));
  };
  for (const limit of velocity_limits) {
    if (whyNotCounted(limit, action) !== null) continue;
    add(limit.name, of_agent.get(limit.name) as SpendCounter, (keys) => subjectOf(limit, action, keys));
  }
  const duplicates = of_agent.get(DUPLICATES.all);
  if (duplicates !== undefined) {
    const { payee_id = '' } = action;
    add(DUPLICATES.all, duplicates, (keys) => duplicateSubject(action, keys));
    add(DUPLICATES.own, duplicates, (keys) => duplicateSubject(action, keys, payee_id));
    if (payee_id !== '')
      add(DUPLICATES.unnamed, duplicates, (keys) => duplicateSubject(action, keys, ''), true);
  }
  return counters;
}

/** Whether an authority has limits over time, or looks for duplicates. */
export function hasCounters({ velocity_limits = [], duplicate_window_seconds }: Authority): boolean {
  return velocity_limits.length > 0 || duplicate_window_seconds !== undefined;
}

/** Counters with what is in them, what an earlier release counted for them included. */
export function withSlots<Counter extends SpendCounter>(
  counters: CountersOf<Counter>,
  slotsOf: (counter: Counter, name: string) => readonly CountedSlot[],
): CountersOf<LoadedCounter> {
  if (counters.size === 0) return NO_COUNTERS;
  const loaded = new Map<string, LoadedCounter>();
  for (const [name, counter] of counters) {
    const { counter_id, subject, window, limit, is_read_only } = counter;
    const slots = slotsOf(counter, name);
    if (isFormerRelease(name)) {
      const of = name.slice(FORMER.length);
      const present = loaded.get(of) as LoadedCounter;
      if (slots.length > 0) loaded.set(of, { ...present, slots: [...present.slots, ...slots] });
      continue;
    }
    loaded.set(name, { counter_id, subject, name: counter.name, window, limit, is_read_only, slots });
  }
  return loaded;
}

/** How the limits stand that a spend counts in. `own` is what it adds itself: nothing where it was denied. */
export function standingsOf(
  counters: CountersOf<LoadedCounter>,
  now_ms: number,
  own: { count: number; amount_minor: number },
): CountedLimit[] {
  const standings: CountedLimit[] = [];
  for (const { counter_id, subject, window, limit, slots, is_read_only } of counters.values()) {
    if (is_read_only) continue;
    const use = useAt(slots, now_ms);
    use.count += own.count;
    use.amount_minor = Math.min(use.amount_minor + own.amount_minor, Number.MAX_SAFE_INTEGER);
    use.held_minor = Math.min(use.held_minor + own.amount_minor, Number.MAX_SAFE_INTEGER);
    standings.push(standing({ counter_id, subject }, limit, use, writtenSlotAt(window, now_ms)));
  }
  return standings;
}

/** How a limit stands; `limit` null: that on duplicates. */
export function standing(
  { counter_id, subject }: CounterKey,
  limit: VelocityLimit | null,
  use: CounterUse,
  window: LimitStanding['window'],
): CountedLimit {
  const { limit_amount_minor: limit_minor = null, limit_count = null } = limit ?? {};
  return {
    name: limit?.name ?? 'duplicate',
    kind: limit === null ? 'duplicate' : 'velocity',
    subject: subject === '' ? null : subject,
    limit_minor,
    used_minor: use.amount_minor,
    ...(use.held_minor === undefined ? {} : { held_minor: use.held_minor }),
    remaining_minor: limit_minor === null ? null : Math.max(0, limit_minor - use.amount_minor),
    limit_count,
    used_count: use.count,
    counted_since: null,
    window,
    counter_id,
  };
}
