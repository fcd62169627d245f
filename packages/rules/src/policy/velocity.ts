import type { Authority } from '@purser/contract/authority';
import { utcTime } from '@purser/contract/calendar';
import type { VelocityLimit } from '@purser/contract/velocity-limits';
import { type CounterUse, fitsFrom, useAt } from '../counters/counters.ts';
import { slotAt } from '../counters/windows.ts';
import { PHRASES, POLICY } from '../sentences/policy.ts';
import { within } from '../sentences/time.ts';
import { localTime } from '../values/calendar.ts';
import { formatMoney } from '../values/money.ts';
import { type LoadedCounter, whyNotCounted } from './counters.ts';
import {
  type DecideFacts,
  type Found,
  type Judge,
  type JudgesOf,
  leastAccepted,
  NO_JUDGES,
  named,
  sameCurrencyOnly,
  skipped,
} from './stage.ts';

const known = new WeakMap<Authority, readonly Judge[]>();

/** `velocity`: what may be spent, and how often, over time; one judge for each number of each limit. */
export const judgeVelocity: JudgesOf = (authority) => {
  const { velocity_limits = [] } = authority;
  if (velocity_limits.length === 0) return NO_JUDGES;
  let judges = known.get(authority);
  if (judges === undefined) {
    judges = velocity_limits.flatMap((limit) => {
      const { limit_amount_minor: amount, limit_count: count } = limit;
      return [
        ...(amount === undefined ? [] : [judgeOf(limit, amount, judgeAmount)]),
        ...(count === undefined ? [] : [judgeOf(limit, count, judgeCount)]),
      ];
    });
    known.set(authority, judges);
  }
  return judges;
};

/** A limit with the counter that it is judged by. */
interface Counted {
  limit: VelocityLimit;
  counter: LoadedCounter;
  use: CounterUse;
  /** The number that it allows. */
  most: number;
}

type JudgeCounted = (counted: Counted, facts: DecideFacts, amount_minor: number) => Found;

function judgeOf(limit: VelocityLimit, most: number, judge: JudgeCounted): Judge {
  const { name } = limit;
  return named(
    name,
    sameCurrencyOnly((_authority, facts, amount_minor) => {
      const counter = facts.counters?.get(name);
      if (counter === undefined) {
        const why = whyNotCounted(limit, facts.request.action);
        if (why !== null) return skipped(why);
        // Nothing may pass because nobody looked how much it was already.
        throw new Error(`the counter of the limit "${name}" was not loaded`);
      }
      // It is counted all the same, so that the limit is right once it denies.
      if (limit.per === 'PAYEE' && limit.on_exceeded === 'REVIEW' && counter.subject === 'p:')
        return skipped(POLICY.names_no_payee());
      const use = useAt(counter.slots, facts.now_ms);
      return judge({ limit, counter, use, most }, facts, amount_minor);
    }),
  );
}

const judgeAmount: JudgeCounted = ({ limit, counter, use, most }, { request, now_ms }, amount_minor) => {
  const { currency, amount_minor: requested_minor } = request.action;
  const money = (minor: number) => formatMoney(minor, currency);
  const span = spanOf(counter, RATES);
  const left = Math.max(0, most - use.amount_minor);
  const observed = Math.min(use.amount_minor + amount_minor, Number.MAX_SAFE_INTEGER);
  if (amount_minor <= left) {
    const remaining = money(left - amount_minor);
    const detail = POLICY.within_velocity(money(amount_minor), limit.name, remaining, money(most), span);
    return { outcome: 'PASS', observed, limit: most, detail };
  }
  const requested = money(requested_minor);
  const is_denied = limit.on_exceeded !== 'REVIEW';
  const enough = is_denied ? leastAccepted(request) : amount_minor;
  const ends = endsOf(fitsFrom(counter.slots, now_ms, (later) => later.amount_minor + enough <= most));
  if (is_denied && request.limitable === true && left > 0) {
    return {
      outcome: 'LIMIT',
      reason_code: 'AMOUNT_LIMITED',
      capped_minor: left,
      observed,
      limit: most,
      detail: POLICY.reduced_to_velocity(requested, money(left), limit.name),
      ...ends,
    };
  }
  const found =
    left === 0
      ? POLICY.velocity_used_up(requested, limit.name, money(most), span)
      : POLICY.over_velocity(requested, money(left), limit.name, money(most), span);
  return {
    outcome: is_denied ? 'DENY' : 'REVIEW',
    reason_code: 'VELOCITY_LIMIT_EXCEEDED',
    observed,
    limit: most,
    detail: [found, ...roomAgain(counter, now_ms, ends.ends_ms)].join(' '),
    room_minor: left,
    ...ends,
  };
};

const judgeCount: JudgeCounted = ({ limit, counter, use, most }, { now_ms }) => {
  const observed = use.count + 1;
  const span = spanOf(counter, NOW);
  if (observed <= most) {
    const detail = POLICY.within_count(observed, most, span, limit.name);
    return { outcome: 'PASS', observed, limit: most, detail };
  }
  const ends = endsOf(fitsFrom(counter.slots, now_ms, (later) => later.count + 1 <= most));
  const found = POLICY.over_count(observed, span, limit.name, most);
  return {
    outcome: limit.on_exceeded === 'REVIEW' ? 'REVIEW' : 'DENY',
    reason_code: 'VELOCITY_LIMIT_EXCEEDED',
    observed,
    limit: most,
    detail: [found, ...roomAgain(counter, now_ms, ends.ends_ms)].join(' '),
    ...ends,
  };
};

const RATES = { DAY: 'a_day', WEEK: 'a_week', MONTH: 'a_month' } as const;
const NOW = { DAY: 'today', WEEK: 'this_week', MONTH: 'this_month' } as const;

/** The window of a counter, with the merchant or payee that it counts separately. */
function spanOf({ window, subject }: LoadedCounter, spans: typeof RATES | typeof NOW): string {
  const span = window.type === 'ROLLING' ? within(window.window_seconds) : PHRASES[spans[window.type]]();
  if (subject.startsWith('m:')) return PHRASES.to_this_merchant(span);
  if (subject === 'p:') return PHRASES.without_payee(span);
  return subject.startsWith('p:') ? PHRASES.to_this_payee(span) : span;
}

const endsOf = (ends_ms: number | null) => (ends_ms === null ? {} : { ends_ms });

/** A sentence about when there is room again, if there ever is. */
function roomAgain({ window }: LoadedCounter, now_ms: number, at_ms: number | undefined): string[] {
  if (window.type !== 'ROLLING') {
    const { time_zone } = window;
    const { ends_ms } = slotAt(window, now_ms);
    const is_utc = time_zone === 'UTC';
    const ends = is_utc ? utcTime(ends_ms) : PHRASES.in_zone(localTime(time_zone, ends_ms), time_zone);
    return [POLICY.resets(ends)];
  }
  return at_ms === undefined ? [] : [POLICY.room_again(utcTime(at_ms))];
}
