import type { Mandate } from '@purser/contract/allowances/mandates';
import type { MANDATE_FORMATS } from '@purser/contract/values/allowances';
import { minorUnits } from '@purser/mcp/money';
import { boundOfPeriod } from '@purser/rules/values/timestamps';
import type { MandateTime, OpenedMandate } from '../engine/commands/allowances/present-mandate.ts';
import { invalidAllowance } from '../service/allowances/signed-allowances.ts';
import { isObject, type Json } from './sd-jwt.ts';

export type MandateFormat = (typeof MANDATE_FORMATS)[number];

type Period = NonNullable<OpenedMandate['period']>;

/** The constraints of a mandate, each at most once. */
export interface MandateBounds {
  /** Each with the constraint that names it. */
  currencies: { name: string; currency: string }[];
  range_max_minor?: number;
  budget_minor?: number;
  merchants?: string[];
  /** How often it may be used: `period` is null where the agent chooses when. */
  recurrence?: { period: Period | null; max_occurrences: number | null };
  starts: MandateTime[];
  ends: MandateTime[];
  shown: Pick<Mandate, 'reference' | 'instruments' | 'pisps'>;
}

interface Constraint {
  type: string;
  fields: Json;
  format: MandateFormat;
}

const MAX_TEXT = 512;
const MAX_SHOWN = 100;

const refuse = (type: string, problem: string) => invalidAllowance(`${type}: ${problem}`);

/** A line of text of a field. Throws `allowance_invalid` that names it. */
function textOf(fields: Json, field: string, type: string): string {
  const value = fields[field];
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT && !/\p{C}/u.test(value))
    return value;
  throw refuse(`${type}.${field}`, `must be a line of text of at most ${MAX_TEXT} characters.`);
}

function wholeOf(fields: Json, field: string, type: string): number {
  const value = fields[field];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw refuse(`${type}.${field}`, 'must be a whole number of at least 1.');
}

/** A minimum of a spend, which an allowance cannot have. */
function checkMinimum({ fields: { min }, type }: Constraint): void {
  if (min === undefined || min === 0 || min === 1) return;
  throw refuse(`${type}.min`, 'must be 0 or 1, because an allowance has no minimum.');
}

/** The disclosed entries of a list, each an object of these fields at most. */
function disclosedOf({ fields, type }: Constraint, known: readonly string[], name = 'allowed'): Json[] {
  const list = fields[name];
  if (!Array.isArray(list)) throw refuse(`${type}.${name}`, 'must be a list.');
  const shown = list.filter((each) => !isObject(each) || !Object.hasOwn(each, '...'));
  if (shown.length === 0) throw refuse(`${type}.${name}`, 'nothing of it is disclosed.');
  if (shown.length > MAX_SHOWN) throw refuse(`${type}.${name}`, `must have at most ${MAX_SHOWN} entries.`);
  return shown.map((each) => {
    if (!isObject(each)) throw refuse(`${type}.${name}`, 'must be a list of objects.');
    checkKnown(each, known, `${type}.${name}`);
    return each;
  });
}

/** Throws `allowance_invalid` that names what is there and not known: nothing may be dropped in silence. */
export function checkKnown(fields: Json, known: readonly string[], name: string): void {
  const other = Object.keys(fields).find((each) => !known.includes(each));
  if (other === '_sd') throw refuse(name, 'a part of it is not disclosed.');
  if (other !== undefined) throw refuse(`${name}.${other.slice(0, 64)}`, 'is not known.');
}

/** The host name of a merchant's website. */
function hostOf(website: string, type: string): string {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(website) ? website : `https://${website}`;
  if (URL.canParse(text)) {
    const { hostname, protocol } = new URL(text);
    const host = hostname.replace(/\.$/, '');
    if (['https:', 'http:'].includes(protocol) && /^[^.]+(\.[^.]+)+$/.test(host)) return host;
  }
  throw refuse(`${type}.allowed.website`, 'must be the address of a website.');
}

/** The names and hosts of merchants, each once. */
function merchantsOf(constraint: Constraint): string[] {
  const { type, fields } = constraint;
  // The first draft of Verifiable Intent has the list under another name.
  const is_of_draft = constraint.format === 'VI' && fields.allowed === undefined;
  const name = is_of_draft ? 'allowed_payees' : 'allowed';
  checkKnown(fields, [name], type);
  const found = disclosedOf(constraint, ['id', 'name', 'website'], name).flatMap((each) => [
    textOf(each, 'name', `${type}.${name}`),
    ...(each.website === undefined ? [] : [hostOf(textOf(each, 'website', `${type}.${name}`), type)]),
  ]);
  return [...new Set(found)];
}

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** A date, a whole day of UTC, or an instant. `as_end`: the moment after that day. */
function timeOf(constraint: Constraint, field: string, as_end = false): MandateTime {
  const name = `${constraint.type}.${field}`;
  const value = constraint.fields[field];
  const text = typeof value === 'string' ? value : '';
  const is_date = DATE.test(text);
  // Date.parse would take 31 February for a day in March, after what the payer signed.
  const is_real = boundOfPeriod(text.slice(0, 10), 'from') !== null;
  const at_ms = is_real && (is_date || INSTANT.test(text)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at_ms))
    throw refuse(name, 'must be a date, or a time with an offset, such as 2026-12-31T00:00:00Z.');
  return { name, at_ms: is_date && as_end ? at_ms + DAY_MS : at_ms };
}

function currencyOf({ fields, type }: Constraint, bounds: MandateBounds): string {
  const currency = textOf(fields, 'currency', type);
  bounds.currencies.push({ name: `${type}.currency`, currency });
  return currency;
}

/**
 * The total in minor units. AP2 has a number of major units, while Verifiable Intent has all its amounts in minor units. A number of
 * more digits than a double keeps is refused.
 */
function budgetOf(constraint: Constraint, currency: string): number {
  const { fields, type, format } = constraint;
  if (format === 'VI') return wholeOf(fields, 'max', type);
  const { max } = fields;
  const text = typeof max === 'number' ? String(max) : '';
  const read = minorUnits(text, currency);
  if ('problem' in read || text.replace('.', '').length > 15 || read.amount_minor < 1)
    throw refuse(`${type}.max`, `must be an amount of ${currency} in major units, exactly.`);
  return read.amount_minor;
}

/** The frequencies that are calendar periods. Verifiable Intent has the codes of ISO 20022, and in its first draft AP2's words. */
const PERIODS = new Map<unknown, Period>([
  ['DAILY', 'DAY'],
  ['WEEKLY', 'WEEK'],
  ['MONTHLY', 'MONTH'],
  ['QUARTERLY', 'QUARTER'],
  ['ANNUALLY', 'YEAR'],
]);
const PERIODS_OF_ISO_20022 = new Map<unknown, Period>([
  ['DAIL', 'DAY'],
  ['WEEK', 'WEEK'],
  ['MNTH', 'MONTH'],
  ['QUTR', 'QUARTER'],
  ['YEAR', 'YEAR'],
]);

/** The period in which the agent may pay once; null: it chooses when. */
function periodOf({ fields: { frequency }, type, format }: Constraint): Period | null {
  if (frequency === 'ON_DEMAND') return null;
  const period =
    PERIODS.get(frequency) ?? (format === 'VI' ? PERIODS_OF_ISO_20022.get(frequency) : undefined);
  if (period !== undefined) return period;
  throw refuse(`${type}.frequency`, `${String(frequency).slice(0, 64)} is no calendar period.`);
}

/** The fields of each constraint beside `type`, and what it says. */
const READERS: Record<
  string,
  { known: readonly string[]; read(constraint: Constraint, bounds: MandateBounds): void }
> = {
  amount_range: {
    known: ['currency', 'max', 'min'],
    read(constraint, bounds) {
      currencyOf(constraint, bounds);
      checkMinimum(constraint);
      bounds.range_max_minor = wholeOf(constraint.fields, 'max', constraint.type);
    },
  },
  budget: {
    known: ['currency', 'max', 'min'],
    read(constraint, bounds) {
      checkMinimum(constraint);
      bounds.budget_minor = budgetOf(constraint, currencyOf(constraint, bounds));
    },
  },
  allowed_payees: {
    known: ['allowed', 'allowed_payees'],
    read(constraint, bounds) {
      bounds.merchants = merchantsOf(constraint);
    },
  },
  agent_recurrence: {
    known: ['frequency', 'max_occurrences', 'start_date', 'end_date'],
    read(constraint, bounds) {
      const { fields, type, format } = constraint;
      if (format === 'AP2') checkKnown(fields, ['frequency', 'max_occurrences'], type);
      const { max_occurrences, start_date, end_date } = fields;
      bounds.recurrence = {
        period: periodOf(constraint),
        max_occurrences: max_occurrences === undefined ? null : wholeOf(fields, 'max_occurrences', type),
      };
      if (start_date !== undefined) bounds.starts.push(timeOf(constraint, 'start_date'));
      if (end_date !== undefined) bounds.ends.push(timeOf(constraint, 'end_date', true));
    },
  },
  execution_date: {
    known: ['not_before', 'not_after'],
    read(constraint, bounds) {
      const { not_before, not_after } = constraint.fields;
      if (not_before !== undefined) bounds.starts.push(timeOf(constraint, 'not_before'));
      if (not_after !== undefined) bounds.ends.push(timeOf(constraint, 'not_after', true));
    },
  },
  reference: {
    known: ['conditional_transaction_id'],
    read({ fields, type }, { shown }) {
      shown.reference = textOf(fields, 'conditional_transaction_id', type);
    },
  },
  allowed_payment_instruments: {
    known: ['allowed'],
    read(constraint, { shown }) {
      const { type } = constraint;
      shown.instruments = disclosedOf(constraint, INSTRUMENT).map((each) =>
        instrumentOf(each, `${type}.allowed`),
      );
    },
  },
  allowed_pisps: {
    known: ['allowed'],
    read(constraint, { shown }) {
      const { type } = constraint;
      shown.pisps = disclosedOf(constraint, PISP).map((each) => pispOf(each, `${type}.allowed`));
    },
  },
};

const INSTRUMENT = ['id', 'type', 'description'];
const PISP = ['legal_name', 'brand_name', 'domain_name'];

function instrumentOf(fields: Json, name: string) {
  return {
    id: textOf(fields, 'id', name),
    type: textOf(fields, 'type', name),
    description: fields.description === undefined ? null : textOf(fields, 'description', name),
  };
}

function pispOf(fields: Json, name: string) {
  return {
    legal_name: textOf(fields, 'legal_name', name),
    brand_name: textOf(fields, 'brand_name', name),
    domain_name: textOf(fields, 'domain_name', name),
  };
}

/** The instrument or provider that a mandate names outside its constraints, in place of a list. */
export function addNamed(bounds: MandateBounds, { payment_instrument, pisp }: Json): void {
  const { shown } = bounds;
  const named = (value: unknown, known: readonly string[], name: string, is_there: boolean) => {
    if (!isObject(value)) throw refuse(name, 'must be an object.');
    if (is_there) throw refuse(name, 'does not go with the constraint that lists them.');
    checkKnown(value, known, name);
    return value;
  };
  if (payment_instrument !== undefined) {
    const found = named(payment_instrument, INSTRUMENT, 'payment_instrument', shown.instruments !== null);
    shown.instruments = [instrumentOf(found, 'payment_instrument')];
  }
  if (pisp !== undefined) shown.pisps = [pispOf(named(pisp, PISP, 'pisp', shown.pisps !== null), 'pisp')];
}

/** Names of the first draft of Verifiable Intent. */
const OF_FIRST_DRAFT: ReadonlyMap<string | undefined, string> = new Map([
  ['amount', 'amount_range'],
  ['allowed_payee', 'allowed_payees'],
]);

/** The name of a constraint in `READERS`; undefined where there is none. */
function readerOf(type: string, format: MandateFormat): string | undefined {
  // Verifiable Intent has these names with and without the prefix, by its draft.
  const prefixed = format === 'VI' ? /^(?:mandate\.)?payment\.(\w+)$/ : /^payment\.(\w+)$/;
  const name = prefixed.exec(type)?.[1];
  const found = format === 'VI' ? (OF_FIRST_DRAFT.get(name) ?? name) : name;
  return found !== undefined && Object.hasOwn(READERS, found) ? found : undefined;
}

/** Reads the constraints of a mandate. Throws ApiError `allowance_invalid` that names the first that cannot be kept. */
export function mandateBounds(constraints: unknown, format: MandateFormat): MandateBounds {
  if (!Array.isArray(constraints) || constraints.length === 0)
    throw invalidAllowance('constraints: must be a list of at least one.');
  const bounds: MandateBounds = {
    currencies: [],
    starts: [],
    ends: [],
    shown: { reference: null, instruments: null, pisps: null },
  };
  const seen = new Set<string>();
  for (const each of constraints) {
    if (!isObject(each) || Object.hasOwn(each, '...'))
      throw invalidAllowance('constraints: one of them is not disclosed.');
    const { type, ...fields } = each;
    if (typeof type !== 'string')
      throw invalidAllowance('constraints: each must have a type that is disclosed.');
    const shown_type = type.slice(0, 64);
    const name = readerOf(type, format);
    const reader = name === undefined ? undefined : READERS[name];
    if (name === undefined || reader === undefined)
      throw refuse(shown_type, 'is a constraint that cannot be kept.');
    if (seen.has(name)) throw refuse(shown_type, 'is there twice.');
    seen.add(name);
    checkKnown(fields, reader.known, type);
    reader.read({ type, fields, format }, bounds);
  }
  return bounds;
}
