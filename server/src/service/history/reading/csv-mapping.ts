import type { ImportMapping } from '@purser/contract/history/imports';
import { COLUMN_FIELDS, type ColumnField } from '@purser/contract/values/history';
import { type Decimal, inMinorUnits } from '@purser/rail-events/decimals';
import { currencyOf, lineAmount, timeOf } from '@purser/rail-events/fields';
import { type ReadItem, type ReadLine, readItem, refuse, skip } from '@purser/rail-events/read-line';
import { merchantName, namedOnRail, onRail, reference, words } from '@purser/rail-events/texts';
import { isTimeZone } from '@purser/rules/values/calendar';
import { currencyExponent } from '@purser/rules/values/money';
import { amountInCell } from './cell-amounts.ts';
import { makeTimeReader, type TimeReader } from './date-formats.ts';

/** A field of a mapping that is missing or wrong, and why. */
export interface MappingProblem {
  field: string;
  problem: string;
}

/** The time zone of a mapping. */
export const zoneOf = ({ time_zone }: Pick<ImportMapping, 'time_zone'>): string => time_zone ?? 'UTC';

/** Returns the first thing that keeps a mapping from reading a file; null: it can. */
export function mappingProblem(mapping: ImportMapping): MappingProblem | null {
  const wrong = (field: string, problem: string) => ({ field: `mapping.${field}`, problem });
  const { columns, date_format, decimal, time_zone, spend_sign, currency } = mapping;
  if (date_format === null)
    return wrong('date_format', 'is open: say how times are written, such as DD/MM/YYYY');
  if (time_zone !== null && time_zone !== 'UTC' && !isTimeZone(time_zone))
    return wrong('time_zone', 'must be a time zone of the IANA database, such as Europe/Berlin');
  if (makeTimeReader(date_format, zoneOf(mapping)) === null)
    return wrong('date_format', 'must be of YYYY or YY, MM, DD, and HH, mm, ss; or RFC3339; or UNIX');
  if (columns.occurred_at == null)
    return wrong('columns.occurred_at', 'is open: name the column of the time');
  if (columns.merchant == null) return wrong('columns.merchant', 'is open: name the column of the merchant');
  const has_amount = columns.amount != null;
  const has_sides = columns.debit != null || columns.credit != null;
  if (has_amount === has_sides)
    return wrong('columns.amount', 'name either the column of the amount, or those of debit and credit');
  if (decimal === null) return wrong('decimal', 'is open: say what parts the cents');
  if (has_amount && spend_sign === null)
    return wrong('spend_sign', 'is open: say which sign a spend has in the column of the amount');
  if (columns.currency == null && currency == null)
    return wrong('currency', 'is open: name the currency, or the column of it');
  if (mapping.final_status != null && columns.status == null)
    return wrong('columns.status', 'is open: name the column that final_status speaks of');
  return null;
}

/** The places of the mapped columns in a header, or the name of one that it does not have or has more than once. */
export function placesOf(
  mapping: Pick<ImportMapping, 'columns'>,
  header: readonly string[],
): { places: ReadonlyMap<ColumnField, number> } | { missing: string } | { repeated: string } {
  const names = header.map((name) => name.trim().normalize('NFC'));
  const places = new Map<ColumnField, number>();
  for (const field of COLUMN_FIELDS) {
    const column = mapping.columns[field];
    if (column == null) continue;
    const place = names.indexOf(column);
    if (place < 0) return { missing: column };
    if (names.indexOf(column, place + 1) >= 0) return { repeated: column };
    places.set(field, place);
  }
  return { places };
}

/** Reads the rows of a CSV file by a mapping in which nothing is open. */
export class RowReader {
  readonly #mapping: ImportMapping;
  readonly #places: ReadonlyMap<ColumnField, number>;
  readonly #width: number;
  readonly #feed: string;
  readonly #times: TimeReader;

  constructor(
    mapping: ImportMapping,
    header: { places: ReadonlyMap<ColumnField, number>; width: number },
    feed: string,
  ) {
    const times = makeTimeReader(mapping.date_format ?? '', zoneOf(mapping));
    if (times === null) throw new Error('the mapping was not checked');
    this.#mapping = mapping;
    this.#places = header.places;
    this.#width = header.width;
    this.#feed = feed;
    this.#times = times;
  }

  /** Reads one row. */
  read(cells: readonly string[], now_ms: number): ReadItem {
    return readItem(() => {
      if (cells.length !== this.#width)
        return refuse('COLUMNS', null, `has ${cells.length} cells where the header has ${this.#width}`);
      this.#checkStatus(cells);
      const currency = this.#currency(cells);
      const external_reference = reference(this.#cell(cells, 'external_reference'));
      const line: ReadLine = {
        ...this.#money(cells, currency),
        merchant: merchantName(this.#cell(cells, 'merchant'), this.#name('merchant')),
        payee_id: namedOnRail(this.#feed, this.#cell(cells, 'payee_id')),
        instrument: onRail(this.#feed, this.#cell(cells, 'instrument')),
        currency,
        merchant_amount_minor: null,
        merchant_currency: null,
        ...this.#time(cells, now_ms),
        external_reference,
        authorization: null,
        description: words(this.#cell(cells, 'description')),
        category: words(this.#cell(cells, 'category')),
      };
      return { line, key: external_reference };
    });
  }

  #cell(cells: readonly string[], field: ColumnField): string {
    const place = this.#places.get(field);
    // Spreadsheets, and this service's own tables, mark what must not be a formula.
    return place === undefined ? '' : (cells[place] as string).replace(/^'(?=[=+\-@])/, '');
  }

  #name(field: ColumnField): string {
    return this.#mapping.columns[field] ?? field;
  }

  #checkStatus(cells: readonly string[]): void {
    const { final_status } = this.#mapping;
    if (final_status == null) return;
    const status = this.#cell(cells, 'status').trim();
    if (status.toLowerCase() !== final_status.toLowerCase()) skip('NOT_FINAL');
  }

  #currency(cells: readonly string[]): string {
    const { columns, currency } = this.#mapping;
    const cell = columns.currency == null ? '' : this.#cell(cells, 'currency');
    return currencyOf(cell.trim() === '' ? currency : cell, this.#name('currency'));
  }

  #time(cells: readonly string[], now_ms: number): Pick<ReadLine, 'occurred_at' | 'precision'> {
    const name = this.#name('occurred_at');
    const time_ms = this.#times.read(this.#cell(cells, 'occurred_at').trim());
    if (time_ms === null) return refuse('DATE', name, `is not written as ${this.#mapping.date_format}`);
    return { occurred_at: timeOf(time_ms, now_ms, name), precision: this.#times.has_time ? 'SECOND' : 'DAY' };
  }

  #number(cells: readonly string[], field: ColumnField, currency: string): bigint | null {
    const cell = this.#cell(cells, field).trim();
    if (cell === '') return null;
    const name = this.#name(field);
    const found: Decimal | null = amountInCell(cell, this.#mapping.decimal ?? '.', currency);
    if (found === null) return refuse('AMOUNT', name, 'is no amount');
    const { minor, is_exact } = inMinorUnits(found, currencyExponent(currency));
    return is_exact ? minor : refuse('PRECISION', name, `has more places than ${currency}`);
  }

  #money(cells: readonly string[], currency: string): Pick<ReadLine, 'kind' | 'amount_minor'> {
    const { columns, spend_sign } = this.#mapping;
    if (columns.amount != null) {
      const minor = this.#number(cells, 'amount', currency);
      if (minor === null) return refuse('AMOUNT', this.#name('amount'), 'is empty');
      const is_spend = minor > 0n === (spend_sign === 'POSITIVE');
      return { kind: is_spend ? 'SPEND' : 'REFUND', amount_minor: lineAmount(minor, this.#name('amount')) };
    }
    const debit = this.#number(cells, 'debit', currency) ?? 0n;
    const credit = this.#number(cells, 'credit', currency) ?? 0n;
    if (debit !== 0n && credit !== 0n)
      return refuse('AMOUNT', this.#name('debit'), 'and the credit are both filled in');
    const kind = credit === 0n ? 'SPEND' : 'REFUND';
    return { kind, amount_minor: lineAmount(debit === 0n ? credit : debit, this.#name('debit')) };
  }
}
