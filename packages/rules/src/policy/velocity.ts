import type { Authority } from '@purser/contract/authority';
import type { VelocityLimit } from '@purser/contract/velocity-limits';
import { type CounterUse, fitsFrom, useAt } from '../counters/counters.ts';
import { slotAt } from '../counters/windows.ts';
import { localTime } from '../values/calendar.ts';
import { valueIn } from '../values/maps.ts';
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
        ...(amount === undefined ? [] : [judgeOf(limit, amount, judgeAmount, amountWords)]),
        ...(count === undefined ? [] : [judgeOf(limit, count, judgeCount, countWords)]),
      ];
    });
    known.set(authority, judges);
  }
  return judges;
};

/** Texts of a limit that do not depend on its usage, built once. */
interface Words {
  /** Over what time, and of whom: "a day (Europe/Berlin)", "within 10 minutes at this merchant". */
  span: string;
  the_limit: string;
  /** The text for a limit that is not exceeded, without the number. */
  passed: string;
}

type WordsOf = (limit: VelocityLimit, most: number, currency: string, span: string) => Words;

const amountWords: WordsOf = ({ name }, most, currency, span) => {
  const the_limit = `the limit "${name}" of ${formatMoney(most, currency)} ${span}`;
  return { span, the_limit, passed: `Within ${the_limit}: ` };
};

const countWords: WordsOf = ({ name }, most, _currency, span) => {
  const the_limit = `the limit "${name}"`;
  return { span, the_limit, passed: ` of ${most} ${span} by ${the_limit}.` };
};

/** A limit with the counter that it is judged by. */
interface Counted {
  limit: VelocityLimit;
  counter: LoadedCounter;
  words: Words;
  use: CounterUse;
  /** The number that it allows. */
  most: number;
}

type JudgeCounted = (counted: Counted, facts: DecideFacts, amount_minor: number) => Found;

function judgeOf(limit: VelocityLimit, most: number, judge: JudgeCounted, wordsOf: WordsOf): Judge {
  const { name } = limit;
  /** By what is counted apart. */
  const all_words = new Map<string, Words>();
  return named(
    name,
    sameCurrencyOnly(({ currency }, facts, amount_minor) => {
      const counter = facts.counters?.get(name);
      if (counter === undefined) {
        const why = whyNotCounted(limit, facts.request.action);
        if (why !== null) return skipped(why);
        // Nothing may pass because nobody looked how much it was already.
        throw new Error(`the counter of the limit "${name}" was not loaded`);
      }
      // It is counted all the same, so that the limit is right once it denies.
      if (limit.per === 'PAYEE' && limit.on_exceeded === 'REVIEW' && counter.subject === 'p:')
        return skipped('The request names no payee.');
      const use = useAt(counter.slots, facts.now_ms);
      const apart = apartOf(counter);
      const words = valueIn(all_words, apart, () => wordsOf(limit, most, currency, spanOf(counter, apart)));
      return judge({ limit, counter, words, use, most }, facts, amount_minor);
    }),
  );
}

const judgeAmount: JudgeCounted = (
  { limit, counter, words, use, most },
  { request, now_ms },
  amount_minor,
) => {
  const { currency, amount_minor: requested_minor } = request.action;
  const money = (minor: number) => formatMoney(minor, currency);
  const left = Math.max(0, most - use.amount_minor);
  const observed = Math.min(use.amount_minor + amount_minor, Number.MAX_SAFE_INTEGER);
  if (amount_minor <= left) {
    const detail = `${words.passed}${money(left - amount_minor)} remain.`;
    return { outcome: 'PASS', observed, limit: most, detail };
  }
  const requested = `Requested ${money(requested_minor)}`;
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
      detail: `${requested}, capped to the ${money(left)} left of the limit "${limit.name}".`,
      ...ends,
    };
  }
  const again = roomAgain(counter, now_ms, ends.ends_ms);
  return {
    outcome: is_denied ? 'DENY' : 'REVIEW',
    reason_code: 'VELOCITY_LIMIT_EXCEEDED',
    observed,
    limit: most,
    detail: `${requested}, over the ${money(left)} left of ${words.the_limit}${again}`,
    room_minor: left,
    ...ends,
  };
};

const judgeCount: JudgeCounted = ({ limit, counter, words, use, most }, { now_ms }) => {
  const observed = use.count + 1;
  if (observed <= most) {
    const detail = `Spend ${observed}${words.passed}`;
    return { outcome: 'PASS', observed, limit: most, detail };
  }
  const ends = endsOf(fitsFrom(counter.slots, now_ms, (later) => later.count + 1 <= most));
  const again = roomAgain(counter, now_ms, ends.ends_ms);
  return {
    outcome: limit.on_exceeded === 'REVIEW' ? 'REVIEW' : 'DENY',
    reason_code: 'VELOCITY_LIMIT_EXCEEDED',
    observed,
    limit: most,
    detail: `This would be spend ${observed} ${words.span}; ${words.the_limit} is ${most}${again}`,
    ...ends,
  };
};

const CALENDAR_SPANS = { DAY: 'a day', WEEK: 'a week', MONTH: 'a month' } as const;
const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

function apartOf({ subject }: LoadedCounter): string {
  if (subject.startsWith('m:')) return ' at this merchant';
  if (subject === 'p:') return ' without a named payee';
  return subject.startsWith('p:') ? ' to this payee' : '';
}

function spanOf({ window }: LoadedCounter, apart: string): string {
  if (window.type !== 'ROLLING') return `${CALENDAR_SPANS[window.type]} (${window.time_zone})${apart}`;
  const [seconds, unit] = UNITS.find(
    ([each]) => window.window_seconds % each === 0,
  ) as (typeof UNITS)[number];
  const many = window.window_seconds / seconds;
  return `within ${many === 1 ? `1 ${unit}` : `${many} ${unit}s`}${apart}`;
}

const endsOf = (ends_ms: number | null) => (ends_ms === null ? {} : { ends_ms });

/** The end of a sentence that says when there is room again, if there ever is. */
function roomAgain({ window }: LoadedCounter, now_ms: number, at_ms: number | undefined): string {
  if (window.type !== 'ROLLING') {
    return `, until ${localTime(window.time_zone, slotAt(window, now_ms).ends_ms)}.`;
  }
  if (at_ms === undefined) return '.';
  const [now, again] = [now_ms, Math.ceil(at_ms / 1000) * 1000].map((ms) => new Date(ms).toISOString());
  const [day, time] = (again as string).slice(0, 19).split('T') as [string, string];
  return `. The limit has room again at ${now?.startsWith(day) ? time : `${day} ${time}`} UTC.`;
}
