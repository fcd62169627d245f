import type { Authority } from '@purser/contract/authority';
import { allowlistKey } from '../merchants/allowlist.ts';
import { blockedBy } from '../merchants/blocklist.ts';
import { merchantKey } from '../merchants/keys.ts';
import { wallClock } from '../values/calendar.ts';
import { pushTo } from '../values/maps.ts';
import { formatMoney } from '../values/money.ts';
import { nice } from './nice.ts';
import type { ReplayedLine } from './replay-lines.ts';

/** The aims of a proposal. */
export interface Aims {
  /** The share of lines that should stay allowed. */
  keep_share: number;
  reviews_per_week: number;
}

/** Values of an authority with the reason for them and the lines that show it. */
export interface ProposedValue {
  path: string;
  fields: Partial<Authority>;
  why: string;
  line_ids: string[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const MAX_SHOWN_LINES = 20;
const OUTLIER = 5;
const MAX_MERCHANTS = 200;
const MIN_LINES_OF_MERCHANT = 3;
const DUPLICATE_WINDOWS = [86_400, 3_600, 300];
const MAX_REPEATS = 0.005;
const MIN_PACE = 5;
const PACE_SECONDS = 3_600;
/** A counter of an hour counts in steps of a minute. */
const PACE_REACH_MS = (PACE_SECONDS + 60) * 1000;
const NEW_MERCHANT_WEEKS = 8;
const MAX_ACTIVE_HOURS = 12;
const WITHIN_HOURS = 0.995;
const MIN_LINES_FOR_HOURS = 20;
const HOURS = 24;
const EVERY_DAY = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

const timeOf = ({ occurred_at }: ReplayedLine) => Date.parse(occurred_at);
const idsOf = (lines: readonly ReplayedLine[]) =>
  lines.slice(0, MAX_SHOWN_LINES).map(({ line_id }) => line_id);
const many = (count: number) => count.toLocaleString('en');

/** A date in words: "3 March". */
function dayInWords(at: string): string {
  const day = { day: 'numeric', month: 'long', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', day).format(new Date(at));
}

const largestFirst = (lines: readonly ReplayedLine[]) =>
  [...lines].sort((a, b) => b.amount_minor - a.amount_minor);

/** The number of weeks that lines span, at least one. */
export function weeksOf(lines: readonly ReplayedLine[]): number {
  const [first, last] = [lines[0], lines.at(-1)];
  return first === undefined || last === undefined
    ? 1
    : Math.max(1, (timeOf(last) - timeOf(first)) / WEEK_MS);
}

function transactionLimit(lines: readonly ReplayedLine[], currency: string): ProposedValue[] {
  const sorted = largestFirst(lines);
  const p99 = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length / 100))]?.amount_minor ?? 0;
  const outliers = sorted.filter(({ amount_minor }) => amount_minor > OUTLIER * p99);
  const largest = sorted[outliers.length];
  if (largest === undefined) return [];
  const value = nice(1.1 * largest.amount_minor);
  const money = formatMoney(largest.amount_minor, currency);
  const said = `Your largest of ${many(lines.length)} purchases was ${money} (${largest.merchant}, ${dayInWords(largest.occurred_at)}).`;
  const left_out =
    outliers.length === 0
      ? ''
      : ` Left out, over 5 times what 99 % stay under: ${outliers
          .slice(0, 3)
          .map(({ amount_minor, merchant }) => `${formatMoney(amount_minor, currency)} (${merchant})`)
          .join(', ')}${outliers.length > 3 ? ` and ${many(outliers.length - 3)} more` : ''}.`;
  return [
    {
      path: 'per_transaction_limit_minor',
      fields: { per_transaction_limit_minor: value },
      why: said + left_out,
      line_ids: idsOf([largest, ...outliers]),
    },
  ];
}

function reviewThreshold(lines: readonly ReplayedLine[], currency: string, aims: Aims): ProposedValue[] {
  const weeks = weeksOf(lines);
  const most = Math.min(aims.reviews_per_week * weeks, ((1 - aims.keep_share) / 2) * lines.length);
  const sorted = largestFirst(lines);
  const over = (amount: number) => sorted.filter(({ amount_minor }) => amount_minor > amount);
  let value = 1;
  while (over(value).length > most) value = nice(value + 1);
  const above = over(value);
  return [
    {
      path: 'review_threshold_minor',
      fields: { review_threshold_minor: value },
      why: `${many(above.length)} of ${many(lines.length)} purchases in ${many(Math.ceil(weeks))} ${weeks === 1 ? 'week' : 'weeks'} were over ${formatMoney(value, currency)}.`,
      line_ids: idsOf(above),
    },
  ];
}

/** The part of a time with the largest sum. */
function largestSum(lines: readonly ReplayedLine[], length: number) {
  const parts = new Map<string, ReplayedLine[]>();
  for (const line of lines) pushTo(parts, line.occurred_at.slice(0, length), line);
  let best = { part: '', sum: 0, lines: [] as ReplayedLine[] };
  for (const [part, of_part] of parts) {
    const sum = of_part.reduce((total, { amount_minor }) => total + amount_minor, 0);
    if (sum > best.sum) best = { part, sum, lines: of_part };
  }
  return best;
}

function budgets(lines: readonly ReplayedLine[], currency: string): ProposedValue[] {
  const month = largestSum(lines, 7);
  const day = largestSum(lines, 10);
  return [
    {
      path: 'monthly_budget_minor',
      fields: { monthly_budget_minor: nice(1.2 * month.sum) },
      why: `Your largest month was ${month.part}, with ${formatMoney(month.sum, currency)}.`,
      line_ids: idsOf(largestFirst(month.lines)),
    },
    {
      path: 'velocity_limits.day',
      fields: {
        velocity_limits: [{ name: 'day', window: 'DAY', limit_amount_minor: nice(1.5 * day.sum) }],
      },
      why: `Your largest day was ${dayInWords(`${day.part}T12:00:00Z`)}, with ${formatMoney(day.sum, currency)}.`,
      line_ids: idsOf(largestFirst(day.lines)),
    },
  ];
}

function pace(by_second: readonly ReplayedLine[]): ProposedValue[] {
  if (by_second.length === 0) return [];
  let most = { from: 0, to: 0 };
  let from = 0;
  for (let to = 0; to < by_second.length; to++) {
    const line = by_second[to] as ReplayedLine;
    while (timeOf(line) - timeOf(by_second[from] as ReplayedLine) > PACE_REACH_MS) from += 1;
    if (to - from > most.to - most.from) most = { from, to };
  }
  const busiest = by_second.slice(most.from, most.to + 1);
  const [first] = busiest as [ReplayedLine];
  const limit_count = Math.max(MIN_PACE, 2 * busiest.length);
  const times = busiest.length === 1 ? 'purchase' : 'purchases';
  return [
    {
      path: 'velocity_limits.pace',
      fields: {
        velocity_limits: [{ name: 'pace', window: 'ROLLING', window_seconds: PACE_SECONDS, limit_count }],
      },
      why: `Your busiest hour had ${many(busiest.length)} ${times} (${dayInWords(first.occurred_at)}).`,
      line_ids: idsOf(busiest),
    },
  ];
}

function duplicateWindow(lines: readonly ReplayedLine[]): ProposedValue[] {
  const repeats = (seconds: number) => {
    const last = new Map<string, number>();
    return lines.filter((line) => {
      const key = JSON.stringify([merchantKey(line.merchant), line.amount_minor, line.payee_id]);
      const before = last.get(key);
      last.set(key, timeOf(line));
      return before !== undefined && timeOf(line) - before <= seconds * 1000 * (61 / 60);
    });
  };
  for (const seconds of DUPLICATE_WINDOWS) {
    const of_window = seconds < 86_400 ? lines.filter(({ precision }) => precision === 'SECOND') : lines;
    if (of_window.length === 0) continue;
    const found = repeats(seconds);
    if (found.length > MAX_REPEATS * lines.length) continue;
    const span = seconds === 86_400 ? '24 hours' : seconds === 3_600 ? 'an hour' : '5 minutes';
    return [
      {
        path: 'duplicate_window_seconds',
        fields: { duplicate_window_seconds: seconds },
        why: `${many(found.length)} of ${many(lines.length)} purchases repeated an amount at the same merchant within ${span}.`,
        line_ids: idsOf(found),
      },
    ];
  }
  return [];
}

/** The merchants that were paid again and again, most frequent first. */
function regularMerchants(lines: readonly ReplayedLine[], blocked: readonly string[]): ReplayedLine[][] {
  const by_name = new Map<string, ReplayedLine[]>();
  for (const line of lines) pushTo(by_name, allowlistKey(line.merchant), line);
  return [...by_name.values()]
    .filter((of_name) => {
      const days = new Set(of_name.map(({ occurred_at }) => occurred_at.slice(0, 10)));
      const { merchant } = of_name[0] as ReplayedLine;
      return (
        of_name.length >= MIN_LINES_OF_MERCHANT && days.size >= 2 && blockedBy(merchant, blocked) === null
      );
    })
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_MERCHANTS);
}

function merchants(lines: readonly ReplayedLine[], blocked: readonly string[]): ProposedValue[] {
  const regular = regularMerchants(lines, blocked);
  if (regular.length === 0) return [];
  const nameOf = (of_name: readonly ReplayedLine[]) => (of_name.at(-1) as ReplayedLine).merchant;
  const payees = regular.flatMap((of_name) => {
    const ids = new Set(of_name.map(({ payee_id }) => payee_id));
    const [payee_id] = ids;
    return ids.size === 1 && payee_id != null ? [{ merchant: nameOf(of_name), payee_id, of_name }] : [];
  });
  const paid = regular.reduce((sum, { length }) => sum + length, 0);
  const allowed: ProposedValue = {
    path: 'allowed_merchants',
    fields: { allowed_merchants: regular.map(nameOf) },
    why: `${regular.length === 1 ? '1 merchant was' : `${many(regular.length)} merchants were each`} paid at least ${MIN_LINES_OF_MERCHANT} times on at least 2 days: ${many(paid)} of ${many(lines.length)} purchases.`,
    line_ids: idsOf(regular.flat()),
  };
  if (payees.length === 0) return [allowed];
  return [
    allowed,
    {
      path: 'allowed_payees',
      fields: { allowed_payees: payees.map(({ merchant, payee_id }) => ({ merchant, payee_id })) },
      why: `${many(payees.length)} of them ${payees.length === 1 ? 'was' : 'were'} always paid at one account.`,
      line_ids: idsOf(payees.flatMap(({ of_name }) => of_name)),
    },
  ];
}

function newMerchants(lines: readonly ReplayedLine[], currency: string, aims: Aims): ProposedValue[] {
  const sorted = lines.map(({ amount_minor }) => amount_minor).sort((a, b) => a - b);
  const threshold = nice(sorted[Math.floor(sorted.length / 2)] ?? 1);
  const known = new Set<string>();
  const first_payments = lines.filter((line) => {
    const key = allowlistKey(line.merchant);
    const is_new = !known.has(key);
    known.add(key);
    return is_new;
  });
  const since_ms = timeOf(lines.at(-1) as ReplayedLine) - NEW_MERCHANT_WEEKS * WEEK_MS;
  const asked = first_payments.filter((line) => timeOf(line) > since_ms && line.amount_minor > threshold);
  if (asked.length / NEW_MERCHANT_WEEKS > aims.reviews_per_week / 2) return [];
  return [
    {
      path: 'on_new_merchant',
      fields: { on_new_merchant: 'REVIEW', new_merchant_threshold_minor: threshold },
      why: `In the last ${NEW_MERCHANT_WEEKS} weeks ${many(asked.length)} first ${asked.length === 1 ? 'payment to a merchant was' : 'payments to a merchant were'} over ${formatMoney(threshold, currency)}.`,
      line_ids: idsOf(asked),
    },
  ];
}

const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;

function activeHours(by_second: readonly ReplayedLine[], time_zone: string): ProposedValue[] {
  if (by_second.length < MIN_LINES_FOR_HOURS) return [];
  const counts = new Array<number>(HOURS).fill(0);
  for (const line of by_second) {
    const hour = Math.floor(wallClock(time_zone, timeOf(line)).minute / 60);
    counts[hour] = (counts[hour] as number) + 1;
  }
  for (let length = 1; length <= MAX_ACTIVE_HOURS; length++) {
    for (let from = 0; from < HOURS; from++) {
      let inside = 0;
      for (let i = 0; i < length; i++) inside += counts[(from + i) % HOURS] as number;
      if (inside < WITHIN_HOURS * by_second.length) continue;
      const end = from + length;
      const to = end === HOURS ? '24:00' : hourText(end % HOURS);
      return [
        {
          path: 'active_hours',
          fields: { active_hours: [{ days: [...EVERY_DAY], from: hourText(from), to }] },
          why: `${many(inside)} of ${many(by_second.length)} purchases were between ${hourText(from)} and ${to} (${time_zone}).`,
          line_ids: [],
        },
      ];
    }
  }
  return [];
}

/**
 * Values for an authority, each from what lines show, in the order of the rules. `lines`: spends in the currency of `base`, in the
 * order of their times, at least one. `base`: its block list and time zone are kept.
 */
export function proposedValues(lines: readonly ReplayedLine[], base: Authority, aims: Aims): ProposedValue[] {
  const { currency, blocked_merchants = [], time_zone = 'UTC' } = base;
  const by_second = lines.filter(({ precision }) => precision === 'SECOND');
  return [
    ...transactionLimit(lines, currency),
    ...reviewThreshold(lines, currency, aims),
    ...budgets(lines, currency),
    ...pace(by_second),
    ...duplicateWindow(lines),
    ...merchants(lines, blocked_merchants),
    ...newMerchants(lines, currency, aims),
    ...activeHours(by_second, time_zone),
  ];
}
