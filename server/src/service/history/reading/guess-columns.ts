import type { ImportMapping } from '@purser/contract/history/imports';
import { type ColumnField, DELIMITERS, type ENCODINGS } from '@purser/contract/values/history';
import { isActiveCurrency } from '@purser/rules/values/money';
import { amountInCell } from './cell-amounts.ts';
import { CsvReader } from './csv-reader.ts';
import { makeTimeReader } from './date-formats.ts';

/** Rows of a CSV file, the header first. */
export interface SampledRows {
  delimiter: (typeof DELIMITERS)[number];
  header_line: number;
  /** The header as it is written. */
  header_text: string;
  header: string[];
  rows: string[][];
}

const MAX_LINE = 65_536;
/** How far down a header is looked for. */
const MAX_HEADER_LINE = 30;

/** Names of columns in their usual languages, the surest first. Each is compared with the whole name. */
const NAMES: Readonly<Record<ColumnField, readonly RegExp[]>> = {
  occurred_at: [
    /^(transaction|purchase|authorization|posted|posting|cleared|settled) (date )?time$/,
    /^(created|posted|cleared|transaction date|date) ?(\(utc\)|utc|at)$/,
    /^(transaction|purchase|booking|posting|posted|value|completed|started|approved|approval|payment|trans) ?date$/,
    /^(date|datum|buchungstag|buchungsdatum|valutadatum|valuta|fecha|data|created|date op[ée]ration|time|timestamp)$/,
  ],
  amount: [
    /^(amount|betrag|umsatz|montant|importe|importo|bedrag|transaction amount|net amount|total|gross|net|value)( \([a-z]{3}\)| eur| usd| gbp)?$/,
  ],
  debit: [
    /^(debit|debit amount|soll|withdrawal|withdrawals|paid out|money out|d[ée]bit|cargo|belastung|ausgang)$/,
  ],
  credit: [
    /^(credit|credit amount|haben|deposit|deposits|paid in|money in|cr[ée]dit|abono|gutschrift|eingang)$/,
  ],
  currency: [/^(currency|currency code|w[äa]hrung|devise|moneda|valuta|ccy|transaction currency)$/],
  merchant: [
    /^(merchant name|merchant|vendor|vendor name|supplier|counterparty|counterparty name|payee|payee name|beneficiary|beneficiary name)$/,
    /^(empf[äa]nger|auftraggeber ?\/ ?empf[äa]nger|beg[üu]nstigter ?\/ ?zahlungspflichtiger|name zahlungsbeteiligter|zahlungsempf[äa]nger|tegenpartij|contrepartie|beneficiario)$/,
    /^(name|merchant descriptor|merchant description|description|narrative|details|transaction description)$/,
  ],
  payee_id: [
    /^(iban|counterparty iban|payee iban|payee account|kontonummer\/iban|iban zahlungsbeteiligter|account number of payee)$/,
  ],
  instrument: [
    /^(card last 4|last 4|card|card number|card ending|card no\.?|kartennummer|card name|account|card last four|card id)$/,
  ],
  external_reference: [
    /^(external id|transaction id|id|reference|reference number|transaction reference|external reference|ref|confirmation number|payment id)$/,
  ],
  description: [
    /^(memo|description|verwendungszweck|note|notes|purpose|remarks|comment)$/,
    /^(merchant description|narrative|buchungstext|details|libell[ée]|concepto)$/,
  ],
  category: [
    /^(category|ramp category|kategorie|accounting category|mcc|merchant category|merchant category code|categor[ií]a|cat[ée]gorie)$/,
  ],
  status: [/^(status|state|transaction status|payment status|zustand)$/],
};

/** The names by which a status says that a transaction is final. */
const FINAL = /^(cleared|posted|settled|completed|complete|succeeded|paid|booked|gebucht|captured|final)$/i;

const FORMATS = [
  'RFC3339',
  'YYYY-MM-DD HH:mm:ss',
  'YYYY-MM-DDTHH:mm:ss',
  'YYYY-MM-DD HH:mm',
  'YYYY-MM-DD',
  'YYYY/MM/DD',
  'YYYYMMDD',
  'DD.MM.YYYY HH:mm:ss',
  'DD.MM.YYYY HH:mm',
  'DD.MM.YYYY',
  'DD.MM.YY',
  'DD/MM/YYYY HH:mm:ss',
  'MM/DD/YYYY HH:mm:ss',
  'DD/MM/YYYY HH:mm',
  'MM/DD/YYYY HH:mm',
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'DD/MM/YY',
  'MM/DD/YY',
  'DD-MM-YYYY',
  'MM-DD-YYYY',
  'UNIX',
] as const;

/** Reads the beginning of a CSV file: what parts its cells, and where its header is. Null: it has no columns. */
export function sampleRows(text: string, is_whole: boolean): SampledRows | null {
  const tried = DELIMITERS.map((delimiter) => {
    const reader = new CsvReader(delimiter, MAX_LINE);
    const read = [...reader.push(text), ...(is_whole ? reader.end() : [])];
    const rows = read.flatMap((row) => ('cells' in row ? [row] : []));
    const widths = new Map<number, number>();
    for (const { cells } of rows) widths.set(cells.length, (widths.get(cells.length) ?? 0) + 1);
    const [width = 1, count = 0] = [...widths].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0] ?? [];
    return { delimiter, rows, width, fit: width > 1 ? count * Math.log2(width) : 0 };
  });
  const best = tried.sort((a, b) => b.fit - a.fit)[0];
  if (best === undefined || best.fit === 0) return null;
  const at = best.rows.findIndex(
    ({ cells, place }) =>
      place <= MAX_HEADER_LINE &&
      cells.length === best.width &&
      cells.filter((cell) => /\p{L}/u.test(cell)).length >= Math.max(2, cells.length / 2),
  );
  const header = best.rows[at];
  if (header === undefined) return null;
  const rows = best.rows.slice(at + 1).flatMap(({ cells }) => (cells.length === best.width ? [cells] : []));
  return {
    delimiter: best.delimiter,
    header_line: header.place,
    header_text: header.text,
    header: header.cells.map((cell) => cell.trim().normalize('NFC')),
    rows,
  };
}

/** The cells of a column that are not empty. */
const columnOf = (rows: readonly string[][], at: number) =>
  rows.map((cells) => (cells[at] ?? '').trim()).filter((cell) => cell !== '');

/** The columns by the fields that their names say, each at most once. */
function namedColumns(header: readonly string[]): Map<ColumnField, number> {
  const found = new Map<ColumnField, number>();
  const names = header.map((name) => name.toLowerCase().replaceAll('_', ' '));
  for (const [field, patterns] of Object.entries(NAMES) as [ColumnField, readonly RegExp[]][]) {
    for (const pattern of patterns) {
      const at = names.findIndex((name, i) => pattern.test(name) && ![...found.values()].includes(i));
      if (at < 0) continue;
      found.set(field, at);
      break;
    }
  }
  return found;
}

/** The cells that can be read in some way; none where most cannot. The others are bad lines, and leave nothing open. */
function readable(cells: readonly string[], canRead: (cell: string) => boolean): string[] {
  const found = cells.filter(canRead);
  return found.length * 2 > cells.length ? found : [];
}

/** The one way in which all readable cells are times; null where there are none, or several that say different times. */
function timeFormat(column: readonly string[]): string | null {
  const readers = FORMATS.map((format) => makeTimeReader(format, 'UTC'));
  const cells = readable(column, (cell) => readers.some((reader) => reader?.read(cell) != null));
  const fits = FORMATS.filter(
    (_, i) => cells.length > 0 && cells.every((cell) => readers[i]?.read(cell) != null),
  );
  const [first] = fits;
  if (first === undefined) return null;
  const timesIn = (format: string) => cells.map((cell) => makeTimeReader(format, 'UTC')?.read(cell)).join();
  return fits.every((format) => timesIn(format) === timesIn(first)) ? first : null;
}

/** True if a cell is an amount where `sign` parts its cents. No currency has more than 3 places: a longer end is none. */
function isAmountBy(cell: string, sign: '.' | ','): boolean {
  const found = amountInCell(cell, sign, null);
  return found !== null && found.scale <= 3;
}

/** The sign that parts the cents of all readable cells, where only one sign can; null where both or neither can. */
function decimalSign(column: readonly string[]): '.' | ',' | null {
  const signs = ['.', ','] as const;
  const cells = readable(column, (cell) => signs.some((sign) => isAmountBy(cell, sign)));
  const fits = signs.filter((sign) => cells.every((cell) => isAmountBy(cell, sign)));
  if (cells.length === 0 || fits.length === 0) return null;
  if (fits.length === 1) return fits[0] as '.' | ',';
  const numbersBy = (sign: '.' | ',') =>
    cells.map((cell) => {
      const found = amountInCell(cell, sign, null);
      return found === null ? '' : `${found.digits}/${found.scale}`;
    });
  return numbersBy('.').join() === numbersBy(',').join() ? '.' : null;
}

/** A guess of how a CSV file is read, and what its sample leaves open. */
export interface Guess {
  mapping: ImportMapping;
  needs: string[];
}

/** Guesses the mapping of a CSV file. What the sample leaves open is null, and named. */
export function guessMapping(sample: SampledRows, encoding: (typeof ENCODINGS)[number]): Guess {
  const { header, rows, delimiter, header_line } = sample;
  const named = namedColumns(header);
  const cellsOf = (field: ColumnField) => {
    const at = named.get(field);
    return at === undefined ? [] : columnOf(rows, at);
  };
  if (named.has('amount')) {
    named.delete('debit');
    named.delete('credit');
  }
  const money = named.has('amount') ? cellsOf('amount') : [...cellsOf('debit'), ...cellsOf('credit')];
  const decimal = decimalSign(money);
  const signs = new Set(
    money.map((cell) => Math.sign(Number(amountInCell(cell, decimal ?? '.', null)?.digits ?? 0n))),
  );
  signs.delete(0);
  const sides = named.has('debit') || named.has('credit');
  const spend_sign = sides || signs.size !== 1 ? null : signs.has(1) ? 'POSITIVE' : 'NEGATIVE';
  const currencies = cellsOf('currency');
  if (!currencies.every((cell) => isActiveCurrency(cell.toUpperCase()))) named.delete('currency');
  const date_format = timeFormat(cellsOf('occurred_at'));
  const has_zone = date_format === null ? false : (makeTimeReader(date_format, 'UTC')?.has_time ?? false);
  const statuses = [...new Set(cellsOf('status'))].filter((status) => FINAL.test(status));
  const final_status = statuses.length === 1 ? (statuses[0] as string) : null;
  if (final_status === null) named.delete('status');
  const needs = [
    ...(date_format === null ? ['date_format'] : []),
    ...(decimal === null ? ['decimal'] : []),
    ...(spend_sign === null && !sides ? ['spend_sign'] : []),
    ...(named.has('currency') ? [] : ['currency']),
    ...(named.has('occurred_at') ? [] : ['columns.occurred_at']),
    ...(named.has('merchant') ? [] : ['columns.merchant']),
    ...(named.has('amount') || sides ? [] : ['columns.amount']),
  ];
  const columns = Object.fromEntries([...named].map(([field, at]) => [field, header[at]]));
  const mapping: ImportMapping = {
    delimiter,
    encoding,
    header_line,
    date_format,
    decimal,
    time_zone: has_zone && date_format !== 'RFC3339' && date_format !== 'UNIX' ? 'UTC' : null,
    spend_sign: sides ? null : spend_sign,
    currency: null,
    final_status,
    columns,
  };
  return { mapping, needs };
}
