import { isActiveCurrency } from '@purser/rules/values/money';
import { instantMs } from '@purser/rules/values/timestamps';
import { asAmount } from './decimals.ts';
import { refuse, skip } from './read-line.ts';

/** An object of a vendor's JSON. */
export type Json = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
/** The beginning of the times that are taken: before it nothing was paid by an agent. */
const FIRST_MS = 0;

/** True for an object that is no array. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of this name; empty where there is none. */
export function objectAt(of: Json, name: string): Json {
  const value = of[name];
  return isObject(value) ? value : {};
}

/** The objects of a list; empty where there is none. */
export function objectsAt(of: Json, name: string): Json[] {
  const value = of[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The id of something, also where the vendor was asked to expand it. */
export function idAt(of: Json, name: string): string | null {
  const value = of[name];
  const id = isObject(value) ? (value.id ?? value.token) : value;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** An active currency, in whatever case it was written. */
export function currencyOf(value: unknown, column: string): string {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return isActiveCurrency(code) ? code : refuse('CURRENCY', column, 'is no active ISO 4217 code');
}

/** A whole number of minor units. */
export function wholeOf(value: unknown, column: string): number {
  const is_whole = typeof value === 'number' && Number.isSafeInteger(value);
  return is_whole ? value : refuse('AMOUNT', column, 'is no whole number of minor units');
}

/** The amount of a line, above 0. Zero is skipped. */
export function lineAmount(minor: bigint, column: string): number {
  const amount = asAmount(minor < 0n ? -minor : minor);
  if (amount === null) return refuse('AMOUNT', column, 'is too large');
  return amount === 0 ? skip('ZERO_AMOUNT') : amount;
}

/** The time as the service writes it. Refuses what lies over a day ahead of `now_ms`, or before 1970. */
export function timeOf(time_ms: number, now_ms: number, column: string): string {
  if (!(time_ms >= FIRST_MS && time_ms < 253_402_300_800_000))
    return refuse('DATE', column, 'is outside the years 1970 to 9999');
  if (time_ms > now_ms + DAY_MS) return refuse('FUTURE', column, 'is over a day ahead');
  return new Date(time_ms).toISOString();
}

/** Seconds since 1970, or RFC 3339 with an offset, in ms; null for anything else. */
export function momentMs(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.floor(value * 1000);
  if (typeof value !== 'string') return null;
  return /^\d{1,12}$/.test(value) ? Number(value) * 1000 : instantMs(value);
}

/** A moment of a vendor's. */
export function momentOf(value: unknown, now_ms: number, column: string): string {
  const time_ms = momentMs(value);
  return time_ms === null ? refuse('DATE', column, 'is no time') : timeOf(time_ms, now_ms, column);
}

/** 12:00 UTC of a date `YYYY-MM-DD`, in ms; null where it is none. */
export function noonMs(date: string): number | null {
  return /^\d{4}-\d{2}-\d{2}$/.test(date) ? instantMs(`${date}T12:00:00Z`) : null;
}
