import { ANOMALY_KINDS } from '@purser/contract/values/history';
import { merchantKey, payeeKey } from '../merchants/keys.ts';
import { pushTo } from '../values/maps.ts';
import { formatMoney } from '../values/money.ts';
import type { ReplayedLine } from './replay-lines.ts';

export type AnomalyKind = (typeof ANOMALY_KINDS)[number];

/** Lines that stand out. */
export interface Anomaly {
  kind: AnomalyKind;
  line_ids: string[];
  merchant: string;
  amount_minor: number;
  currency: string;
  at: string;
  why: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_OF_A_KIND = 200;
const DUPLICATE_MS = 72 * HOUR_MS;
/** More equal payments than this are a habit. */
const MAX_DUPLICATES = 4;
const MAX_CLUSTERS = 2;
const MAX_PARTS = 10;
const MIN_TO_ONE_PAYEE = 3;
const STEADY = 4;
const STEADY_WITHIN = 0.05;
const JUMP = 1.2;
const MIN_BEFORE_SLEEP = 3;
const DORMANT_MS = 90 * DAY_MS;

const timeOf = ({ occurred_at }: ReplayedLine) => Date.parse(occurred_at);
const dayOf = ({ occurred_at }: ReplayedLine) => occurred_at.slice(0, 10);
const money = ({ amount_minor, currency }: ReplayedLine) => formatMoney(amount_minor, currency);

function anomaly(
  kind: AnomalyKind,
  lines: readonly ReplayedLine[],
  amount_minor: number,
  why: string,
): Anomaly {
  const last = lines.at(-1) as ReplayedLine;
  return {
    kind,
    line_ids: lines.map(({ line_id }) => line_id),
    merchant: last.merchant,
    amount_minor,
    currency: last.currency,
    at: last.occurred_at,
    why,
  };
}

const sum = (lines: readonly ReplayedLine[]) => lines.reduce((total, line) => total + line.amount_minor, 0);

/** Groups lines in the order of time whose neighbours lie no further apart. */
function clustersOf(lines: readonly ReplayedLine[], apart_ms: number): ReplayedLine[][] {
  const clusters: ReplayedLine[][] = [];
  for (const line of lines) {
    const open = clusters.at(-1);
    const last = open?.at(-1);
    if (open !== undefined && last !== undefined && timeOf(line) - timeOf(last) <= apart_ms) open.push(line);
    else clusters.push([line]);
  }
  return clusters;
}

/** The same amount by the same instrument to the same merchant within 72 hours, where that is no habit. */
function duplicates(lines: readonly ReplayedLine[]): Anomaly[] {
  const same = new Map<string, ReplayedLine[]>();
  for (const line of lines) {
    const { merchant, amount_minor, currency, instrument } = line;
    pushTo(same, JSON.stringify([merchantKey(merchant), amount_minor, currency, instrument]), line);
  }
  return [...same.values()].flatMap((each) => {
    if (each.length < 2) return [];
    const clusters = clustersOf(each, DUPLICATE_MS).filter(({ length }) => length > 1);
    if (clusters.length > MAX_CLUSTERS) return [];
    return clusters
      .filter(({ length }) => length <= MAX_DUPLICATES)
      .map((cluster) => {
        const [first] = cluster as [ReplayedLine];
        const why = `${cluster.length} payments of ${money(first)} to ${first.merchant} within 72 hours, from ${dayOf(first)}.`;
        return anomaly('DUPLICATE', cluster, sum(cluster), why);
      });
  });
}

/** Payments to one merchant within a day that each stay under a threshold, and together exceed it. */
function splits(of_merchant: readonly ReplayedLine[], threshold_minor: number): Anomaly[] {
  const near = of_merchant.filter(
    ({ amount_minor }) => amount_minor * 2 >= threshold_minor && amount_minor <= threshold_minor,
  );
  const found: Anomaly[] = [];
  for (let at = 0; at < near.length; ) {
    const first = near[at] as ReplayedLine;
    let end = at + 1;
    while (end < near.length && timeOf(near[end] as ReplayedLine) - timeOf(first) <= DAY_MS) end += 1;
    const parts = near.slice(at, end);
    const total = sum(parts);
    if (parts.length >= 2 && parts.length <= MAX_PARTS && total > threshold_minor) {
      const amounts = `${formatMoney(total, first.currency)} in ${parts.length} payments`;
      const why = `${amounts} to ${first.merchant} within 24 hours, each up to ${formatMoney(threshold_minor, first.currency)}.`;
      found.push(anomaly('SPLIT', parts, total, why));
    }
    at = parts.length >= 2 ? end : at + 1;
  }
  return found;
}

/** A payment to another account than the last ones of the same merchant. */
function payeeChanges(of_merchant: readonly ReplayedLine[]): Anomaly[] {
  const found: Anomaly[] = [];
  let payee = '';
  let count = 0;
  for (const line of of_merchant) {
    if (line.payee_id === null) continue;
    const key = payeeKey(line.payee_id);
    if (key === payee) count += 1;
    else {
      if (count >= MIN_TO_ONE_PAYEE) {
        const why = `${line.merchant} was paid at another account than the ${count} times before: ${line.payee_id}.`;
        found.push(anomaly('PAYEE_CHANGED', [line], line.amount_minor, why));
      }
      payee = key;
      count = 1;
    }
  }
  return found;
}

function medianOf(amounts: readonly number[]): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

/** A payment well over the last ones of the same merchant, which were alike. */
function priceJumps(of_merchant: readonly ReplayedLine[]): Anomaly[] {
  const found: Anomaly[] = [];
  for (let i = STEADY; i < of_merchant.length; i++) {
    const line = of_merchant[i] as ReplayedLine;
    const before = of_merchant.slice(i - STEADY, i).map(({ amount_minor }) => amount_minor);
    const median = medianOf(before);
    const is_steady = before.every((amount) => Math.abs(amount - median) <= median * STEADY_WITHIN);
    if (!is_steady || line.amount_minor < median * JUMP) continue;
    const usual = formatMoney(Math.round(median), line.currency);
    const why = `${money(line)} to ${line.merchant}, after ${STEADY} payments of about ${usual}.`;
    found.push(anomaly('PRICE_JUMP', [line], line.amount_minor, why));
  }
  return found;
}

/** A payment to a merchant that was paid before, and then not for a long time. */
function awakenings(of_merchant: readonly ReplayedLine[]): Anomaly[] {
  const found: Anomaly[] = [];
  for (let i = MIN_BEFORE_SLEEP; i < of_merchant.length; i++) {
    const [last, line] = [of_merchant[i - 1] as ReplayedLine, of_merchant[i] as ReplayedLine];
    const apart_ms = timeOf(line) - timeOf(last);
    if (apart_ms < DORMANT_MS) continue;
    const days = Math.floor(apart_ms / DAY_MS);
    const why = `The first payment to ${line.merchant} in ${days} days; the one before was on ${dayOf(last)}.`;
    found.push(anomaly('DORMANT', [line], line.amount_minor, why));
  }
  return found;
}

/**
 * The spends among lines that stand out, newest first; `threshold_minor`: what payments may have been split to stay under; null:
 * unknown. Lines must come in the order of their times.
 */
export function findAnomalies(lines: readonly ReplayedLine[], threshold_minor: number | null): Anomaly[] {
  const spends = lines.filter(({ kind }) => kind === 'SPEND');
  const by_merchant = new Map<string, ReplayedLine[]>();
  for (const line of spends) pushTo(by_merchant, `${line.currency} ${merchantKey(line.merchant)}`, line);
  const found = duplicates(spends);
  for (const of_merchant of by_merchant.values()) {
    if (threshold_minor !== null) found.push(...splits(of_merchant, threshold_minor));
    found.push(...payeeChanges(of_merchant), ...priceJumps(of_merchant), ...awakenings(of_merchant));
  }
  found.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return ANOMALY_KINDS.flatMap((kind) => found.filter((each) => each.kind === kind).slice(0, MAX_OF_A_KIND));
}
