import { inMinorUnits, parseDecimal } from '@purser/rail-events/decimals';
import { currencyOf, lineAmount, noonMs, timeOf } from '@purser/rail-events/fields';
import { type ReadItem, type ReadLine, readItem, refuse } from '@purser/rail-events/read-line';
import { merchantName, onRail, reference, words } from '@purser/rail-events/texts';
import { currencyExponent } from '@purser/rules/values/money';
import { SaxesParser } from 'saxes';

/** An entry of a statement, or a transaction of one: texts by their paths in it, several joined by a blank. */
type Texts = Map<string, string>;

/** The file is no statement that can be read. */
export class BrokenXml extends Error {
  override name = 'BrokenXml';
  readonly code: 'unreadable' | 'doctype_refused';
  readonly line_number: number;

  constructor(code: 'unreadable' | 'doctype_refused', line_number: number, message: string) {
    super(message);
    this.code = code;
    this.line_number = line_number;
  }
}

/** Entries of a file with their places. */
export interface ReadEntry {
  place: number;
  item: ReadItem;
}

const MAX_DEPTH = 64;
const MAX_TEXT = 4_096;
/** The most texts of one entry or transaction, and of the account. */
const MAX_TEXTS = 500;
/** The most transactions of one entry. */
const MAX_TRANSACTIONS = 200_000;

const firstOf = (texts: Texts, ...paths: string[]): string | undefined => {
  for (const path of paths) {
    const found = texts.get(path)?.trim();
    if (found !== undefined && found !== '') return found;
  }
  return undefined;
};

/** The name of an account: by its IBAN, or by another number. */
function accountOf(texts: Texts, path: string): string | null {
  const iban = firstOf(texts, `${path}/Id/IBAN`);
  if (iban !== undefined) return onRail('iban', iban.replaceAll(' ', ''));
  return onRail('account', firstOf(texts, `${path}/Id/Othr/Id`) ?? null);
}

function moneyOf(texts: Texts, ...paths: string[]): { minor: bigint; currency: string } | null {
  const path = paths.find((each) => firstOf(texts, each) !== undefined);
  if (path === undefined) return null;
  const currency = currencyOf(texts.get(`${path}@Ccy`), 'Amt@Ccy');
  const value = parseDecimal(firstOf(texts, path) ?? '') ?? refuse('AMOUNT', 'Amt', 'is no amount');
  const { minor, is_exact } = inMinorUnits(value, currencyExponent(currency));
  // The indicator alone says which way the money went.
  if (minor < 0n) return refuse('AMOUNT', 'Amt', 'is below 0');
  return is_exact ? { minor, currency } : refuse('PRECISION', 'Amt', `has more places than ${currency}`);
}

/** Which way the money went; null: it is no spend of the account. */
function kindOf(entry: Texts, transaction: Texts | null): 'SPEND' | 'REFUND' | null {
  const side = (transaction && firstOf(transaction, 'CdtDbtInd')) ?? firstOf(entry, 'CdtDbtInd');
  const reversed = firstOf(entry, 'RvslInd');
  const is_reversed = reversed === 'true' || reversed === '1';
  if (side === 'DBIT') return is_reversed ? null : 'SPEND';
  return side === 'CRDT' && is_reversed ? 'REFUND' : null;
}

const PARTY = (party: string) => [
  `RltdPties/${party}/Nm`,
  `RltdPties/${party}/Pty/Nm`,
  `RltdPties/Ultmt${party}/Nm`,
  `RltdPties/Ultmt${party}/Pty/Nm`,
];

const NOT_PROVIDED = /^NOTPROVIDED$/i;

interface Part {
  entry: Texts;
  transaction: Texts | null;
  /** The place of the transaction in its entry; null where there is one or none. */
  number: number | null;
}

/** Reads one transaction, or an entry without any. */
function readPart({ entry, transaction, number }: Part, account: string | null, now_ms: number): ReadItem {
  const status = firstOf(entry, 'Sts', 'Sts/Cd');
  if (status !== 'BOOK') return { skipped: 'NOT_FINAL' };
  const kind = kindOf(entry, transaction);
  if (kind === null) return { skipped: 'NOT_A_SPEND' };
  return readItem(() => {
    const texts: Texts = transaction ?? new Map();
    const own = moneyOf(texts, 'Amt', 'AmtDtls/TxAmt/Amt');
    const whole = moneyOf(entry, 'Amt');
    const money = (number === null ? whole : own) ?? refuse('AMOUNT', 'Amt', 'is missing');
    const instructed = moneyOf(texts, 'AmtDtls/InstdAmt/Amt');
    const is_foreign = instructed !== null && instructed.currency !== money.currency && instructed.minor > 0n;
    const date = firstOf(entry, 'BookgDt/Dt', 'BookgDt/DtTm')?.slice(0, 10) ?? '';
    const noon_ms = noonMs(date) ?? refuse('DATE', 'BookgDt', 'is no date');
    const remittance = firstOf(texts, 'RmtInf/Ustrd', 'AddtlTxInf') ?? firstOf(entry, 'AddtlNtryInf');
    const name = firstOf(texts, ...PARTY('Cdtr'), ...(kind === 'REFUND' ? PARTY('Dbtr') : [])) ?? remittance;
    const of_bank = firstOf(texts, 'Refs/AcctSvcrRef');
    const of_entry = firstOf(entry, 'AcctSvcrRef');
    const end_to_end = firstOf(texts, 'Refs/EndToEndId');
    const own_reference = end_to_end !== undefined && !NOT_PROVIDED.test(end_to_end) ? end_to_end : undefined;
    const key = of_bank ?? (of_entry === undefined || number === null ? of_entry : `${of_entry} ${number}`);
    const line: ReadLine = {
      kind,
      merchant: merchantName(name, 'RltdPties/Cdtr/Nm'),
      payee_id: accountOf(texts, 'RltdPties/CdtrAcct'),
      instrument: account,
      amount_minor: lineAmount(money.minor, 'Amt'),
      currency: money.currency,
      merchant_amount_minor: is_foreign ? lineAmount(instructed.minor, 'InstdAmt') : null,
      merchant_currency: is_foreign ? instructed.currency : null,
      occurred_at: timeOf(noon_ms, now_ms, 'BookgDt'),
      precision: 'DAY',
      external_reference: reference(own_reference ?? key ?? null),
      authorization: null,
      description: words(remittance),
      category: null,
    };
    return { line, key: key === undefined ? null : `${account ?? ''} ${key}` };
  });
}

/**
 * Reads a camt.053 statement of any version as it arrives. No DOCTYPE, and no entity but the five of XML; nesting and the texts of
 * an entry are bounded. Throws BrokenXml.
 */
export class Camt053Reader {
  readonly #parser = new SaxesParser();
  readonly #now_ms: number;
  readonly #path: string[] = [];
  #texts: Texts = new Map();
  #account: Texts = new Map();
  #entry: Texts | null = null;
  #transaction: Texts | null = null;
  #transactions: Texts[] = [];
  #place = 0;
  #found: ReadEntry[] = [];
  #is_statement = false;

  constructor(now_ms: number) {
    this.#now_ms = now_ms;
    const parser = this.#parser;
    parser.on('doctype', () =>
      this.#fail('doctype_refused', 'The file has a DOCTYPE, which is never needed.'),
    );
    parser.on('error', (error) =>
      this.#fail('unreadable', `The file is no well-formed XML: ${error.message}`),
    );
    parser.on('opentag', ({ name, attributes }) => this.#open(name, attributes as Record<string, string>));
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#text(text));
    parser.on('closetag', () => this.#close());
  }

  /** Takes the next part of the text and returns what ends in it. */
  push(chunk: string): ReadEntry[] {
    this.#parser.write(chunk);
    return this.#found.splice(0);
  }

  /** Ends the file. Throws BrokenXml if it was cut off, or is no statement. */
  end(): ReadEntry[] {
    this.#parser.close();
    if (!this.#is_statement) this.#fail('unreadable', 'The file is no camt.053 statement.');
    return this.#found.splice(0);
  }

  #fail(code: BrokenXml['code'], message: string): never {
    throw new BrokenXml(code, this.#parser.line, message.slice(0, 300));
  }

  #open(name: string, attributes: Record<string, string>): void {
    const local = name.slice(name.indexOf(':') + 1);
    if (this.#path.length >= MAX_DEPTH)
      this.#fail('unreadable', `It is nested deeper than ${MAX_DEPTH} levels.`);
    this.#path.push(local);
    if (local === 'BkToCstmrStmt') this.#is_statement = true;
    else if (local === 'Stmt') this.#account = new Map();
    else if (local === 'Ntry' && this.#entry === null) {
      this.#entry = new Map();
      this.#transactions = [];
      this.#place += 1;
    } else if (local === 'TxDtls' && this.#entry !== null) this.#transaction = new Map();
    this.#texts = this.#transaction ?? this.#entry ?? this.#account;
    const currency = attributes.Ccy;
    if (currency !== undefined) this.#put(`${this.#pathWithin()}@Ccy`, currency);
  }

  /** The path within the transaction, the entry or the statement that is open. */
  #pathWithin(): string {
    const outer = this.#transaction !== null ? 'TxDtls' : this.#entry !== null ? 'Ntry' : 'Stmt';
    return this.#path.slice(this.#path.lastIndexOf(outer) + 1).join('/');
  }

  #text(text: string): void {
    if (this.#entry === null && !this.#path.includes('Acct')) return;
    if (text.trim() !== '') this.#put(this.#pathWithin(), text);
  }

  #put(path: string, text: string): void {
    const before = this.#texts.get(path);
    if (before === undefined && this.#texts.size >= MAX_TEXTS) return;
    const joined = before === undefined ? text : `${before} ${text}`;
    this.#texts.set(path, joined.slice(0, MAX_TEXT));
  }

  #close(): void {
    const name = this.#path.pop();
    if (name === 'TxDtls' && this.#transaction !== null) {
      if (this.#transactions.length < MAX_TRANSACTIONS) this.#transactions.push(this.#transaction);
      this.#transaction = null;
    } else if (name === 'Ntry' && this.#entry !== null) {
      this.#finish(this.#entry);
      this.#entry = null;
    }
    this.#texts = this.#transaction ?? this.#entry ?? this.#account;
  }

  #finish(entry: Texts): void {
    const account = accountOf(this.#account, 'Acct');
    const several = this.#transactions.length > 1;
    const parts: Part[] =
      this.#transactions.length === 0
        ? [{ entry, transaction: null, number: null }]
        : this.#transactions.map((transaction, i) => ({
            entry,
            transaction,
            number: several ? i + 1 : null,
          }));
    const items = parts.map((part) => readPart(part, account, this.#now_ms));
    // An entry that is left out is one line, however many transactions it has.
    const [first] = items;
    const is_left_out = first !== undefined && 'skipped' in first && items.every((item) => 'skipped' in item);
    for (const item of is_left_out ? [first] : items) this.#found.push({ place: this.#place, item });
    this.#transactions = [];
  }
}
