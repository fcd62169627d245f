import type { LineKind, LinePrecision } from '@purser/contract/values/history';
import { type LedgerEvent, recordHash, sha256 } from '../domain/ledger.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** The content of a line: one movement of money as a rail reports it. Unknown is null. */
export interface LineContent {
  kind: LineKind;
  merchant: string;
  payee_id: string | null;
  /** The payer: a card, an account, a project. */
  instrument: string | null;
  /** Minor units of ISO 4217. */
  amount_minor: number;
  currency: string;
  merchant_amount_minor: number | null;
  merchant_currency: string | null;
  occurred_at: string;
  precision: LinePrecision;
  external_reference: string | null;
  authorization_id: string | null;
  description: string | null;
  category: string | null;
}

/** A line as it is stored. Lines are added and, with their import, removed; never changed. */
export interface LineRow extends LineContent {
  line_id: string;
  /** The event that seals its page. */
  seq: number;
  import_id: string | null;
  rail_id: string | null;
  /** Its place in the file. */
  line_number: number | null;
  feed: string;
  /** The name that its feed knows it by, as a hash: no feed has two lines of the same. */
  identity: string;
  recorded_at: string;
}

/** A line that is to be recorded. */
export interface NewLine extends LineContent {
  feed: string;
  identity: string;
  line_number: number | null;
}

const CONTENT = [
  'kind',
  'merchant',
  'payee_id',
  'instrument',
  'amount_minor',
  'currency',
  'merchant_amount_minor',
  'merchant_currency',
  'occurred_at',
  'precision',
  'external_reference',
  'authorization_id',
  'description',
  'category',
] as const satisfies readonly (keyof LineContent)[];

/** True if two lines say the same. */
export function isSameContent(one: LineContent, other: LineContent): boolean {
  return CONTENT.every((field) => one[field] === other[field]);
}

/** The identity of a line that its vendor names: the hash of the name. */
export function identityOfKey(key: string): string {
  return sha256(`id ${key}`).toString('hex');
}

/**
 * The identity of a line without a name: the hash of what it says, and of `ordinal`, its number among the lines of its file that
 * say the same. So overlapping files give their union, and two equal purchases stay two.
 */
export function identityOfContent(line: LineContent, ordinal: number): string {
  const { kind, occurred_at, amount_minor, currency, merchant, description, instrument } = line;
  const said = [kind, occurred_at, amount_minor, currency, merchant, description, instrument];
  return sha256(`row ${canonicalJson([...said, ordinal])}`).toString('hex');
}

/** The content that the event of a page seals: its lines in the order of their ids, without the place that is the event's own. */
export function sealedPage(rows: readonly LineRow[]): { lines: Omit<LineRow, 'seq'>[] } {
  return { lines: rows.map(({ seq, ...row }) => row) };
}

/** The `data_hash` of the event of a page. */
export function pageDataHash(rows: readonly LineRow[]): Buffer {
  return recordHash(sealedPage(rows));
}

/** True for the event of a page of lines. */
export const isPage = ({ type }: Pick<LedgerEvent, 'type'>): boolean => type === 'lines.recorded';
