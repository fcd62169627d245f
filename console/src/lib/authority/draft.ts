import {
  AUTHORITY_DEFAULTS,
  AUTHORITY_FIELD_NAMES,
  authorityRow,
  type Authority as ContractAuthority,
  withDefaults,
} from '@purser/contract/authority';
import { payeeInWords } from '@purser/contract/authority-words';
import type { AllowedPayee, Authority } from '@purser/sdk';
import { currencyOf, formatMoney, fromInput, toInput } from '../money.ts';
import { percentsFromInput, percentsToInput } from '../percents.ts';
import type { Corrections } from './corrections.ts';
import { type HoursDraft, hoursOf } from './hours.ts';
import { linesOf, listOf } from './lines.ts';
import { type ModelUsageDraft, modelUsageDraft, modelUsageOf } from './model-usage.ts';
import { limitDrafts, limitsOf, secondsOf, spanDraft, type VelocityDraft } from './velocity.ts';
import { fromLocal, isTimeZone, toLocal } from './zones.ts';

type AuthorityField = keyof ContractAuthority;
type AmountField = Extract<AuthorityField, `${string}_minor`>;
type DraftName<Name> = Name extends `${infer Amount}_minor` ? Amount : Name;
type ChoiceField = Extract<AuthorityField, `on_${string}`>;
/** Lists of text, but for those with a control of their own. */
type LinesField = {
  [Name in AuthorityField]-?: ContractAuthority[Name] extends string[] | undefined ? Name : never;
}[AuthorityField] &
  Exclude<AuthorityField, 'budgets'>;

const draftName = (field: string) => field.replace(/_minor$/, '');
const AMOUNTS = AUTHORITY_FIELD_NAMES.filter((name) => name.endsWith('_minor')) as AmountField[];
const CHOICES = AUTHORITY_FIELD_NAMES.filter((name) => name.startsWith('on_')) as ChoiceField[];
const LINES = AUTHORITY_FIELD_NAMES.filter(
  (name) => typeof authorityRow(name).compare === 'object' && !['budgets', 'allowed_payees'].includes(name),
) as LinesField[];

/** The form's copy of an authority: texts, amounts in major units, lists with one line per entry. */
export interface Draft
  extends Record<DraftName<AmountField> | ChoiceField | LinesField, string>,
    ModelUsageDraft {
  objective: string;
  success_criteria: string;
  constraints: string;
  context: string;
  attention: string;
  /** Empty: as the installation sets it. */
  ask_model: string;
  /** `true` or empty. */
  require_description: string;
  /** Corrections of the reading; null: none. */
  reading: Corrections | null;
  currency: string;
  /** One line per entry: the payee, then optionally a space and the merchant. */
  allowed_payees: string;
  time_zone: string;
  /** Local time in `time_zone`. */
  valid_from: string;
  valid_until: string;
  active_hours: readonly HoursDraft[];
  velocity_limits: readonly VelocityDraft[];
  /** Slugs. */
  budgets: readonly string[];
  /** Such as `50, 80, 100`. */
  alert_percents: string;
  /** A number of `duplicate_unit`s. */
  duplicate_window: string;
  duplicate_unit: string;
  /** A number of `review_ttl_unit`s. */
  review_ttl: string;
  review_ttl_unit: string;
}

/** Drafts of the fields that need nothing but their kind: amounts, choices, lists of text. */
function plainDrafts(
  authority: Partial<Authority>,
): Record<DraftName<AmountField> | ChoiceField | LinesField, string> {
  return Object.fromEntries([
    ...AMOUNTS.map((name) => [draftName(name), toInput(authority[name], authority.currency ?? '')]),
    ...CHOICES.map((name) => [name, withDefaults(authority)[name]]),
    ...LINES.map((name) => [name, linesOf(authority[name])]),
  ]);
}

/** The level of an authority that names none. */
const DEFAULT_ATTENTION = 'NORMAL';

export const EMPTY_DRAFT: Draft = {
  ...plainDrafts({}),
  ...modelUsageDraft(undefined),
  objective: '',
  success_criteria: '',
  constraints: '',
  context: '',
  attention: DEFAULT_ATTENTION,
  ask_model: '',
  require_description: '',
  reading: null,
  currency: 'EUR',
  allowed_payees: '',
  time_zone: '',
  valid_from: '',
  valid_until: '',
  active_hours: [],
  velocity_limits: [],
  budgets: [],
  alert_percents: '',
  duplicate_window: '',
  duplicate_unit: 'minutes',
  review_ttl: '',
  review_ttl_unit: 'minutes',
};

/** The authority's time zone, or UTC if the browser does not know it. */
const knownZone = (time_zone: string | undefined) =>
  time_zone !== undefined && isTimeZone(time_zone) ? time_zone : 'UTC';

export function draftOf(authority: Authority): Draft {
  const { purpose, currency } = authority;
  const zone = knownZone(authority.time_zone);
  const duplicate = spanDraft(authority.duplicate_window_seconds);
  const review_ttl = spanDraft(authority.review_ttl_seconds);
  return {
    ...plainDrafts(authority),
    ...modelUsageDraft(authority.model_usage),
    objective: purpose.objective,
    success_criteria: linesOf(purpose.success_criteria),
    constraints: linesOf(purpose.constraints),
    context: purpose.context ?? '',
    attention: purpose.attention ?? DEFAULT_ATTENTION,
    ask_model: purpose.ask_model ?? '',
    require_description: authority.require_description === true ? 'true' : '',
    reading: purpose.reading ?? null,
    currency,
    allowed_payees: linesOf(authority.allowed_payees?.map(payeeInWords)),
    time_zone: authority.time_zone ?? '',
    valid_from: toLocal(authority.valid_from, zone),
    valid_until: toLocal(authority.valid_until, zone),
    active_hours: authority.active_hours ?? [],
    velocity_limits: limitDrafts(authority.velocity_limits, currency),
    budgets: authority.budgets ?? [],
    alert_percents: percentsToInput(authority.alert_percents),
    duplicate_window: duplicate.length,
    duplicate_unit: duplicate.unit,
    review_ttl: review_ttl.length,
    review_ttl_unit: review_ttl.unit,
  };
}

/** Problems by field; in rows by path, such as `active_hours[1].to`. */
export type Problems = Readonly<Record<string, string>>;

/**
 * Reads the form. Returns the authority or the problems by field. Fields that the form does not have are copied from
 * `base`, so that saving loses none of them.
 */
export function authorityOf(
  draft: Draft,
  base: Authority | null,
): { authority: Authority; problems: null } | { authority: null; problems: Problems } {
  const problems: Record<string, string> = {};
  const currency = currencyOf(draft.currency);
  if (draft.objective.trim() === '') problems.objective = 'must say what the agent is for';
  if (!/^[A-Z]{3}$/.test(currency)) problems.currency = 'must be a currency such as EUR';
  const amounts = AMOUNTS.map((field) => {
    const name = draftName(field) as DraftName<AmountField>;
    const read = fromInput(draft[name], currency);
    if ('problem' in read) problems[name] = read.problem;
    return [field, 'problem' in read ? null : read.amount_minor] as const;
  });
  const time_zone = draft.time_zone.trim();
  if (time_zone !== '' && !isTimeZone(time_zone) && time_zone !== base?.time_zone)
    problems.time_zone = 'must be a time zone such as Europe/Berlin';
  const zone = knownZone(time_zone);
  const momentOf = (name: 'valid_from' | 'valid_until') => {
    const text = draft[name];
    if (text === '') return null;
    // An unchanged field keeps its milliseconds.
    if (text === toLocal(base?.[name], zone)) return base?.[name] ?? null;
    const at = fromLocal(text, zone);
    if (at === null) problems[name] = 'must be a date and time';
    return at;
  };
  const valid_from = momentOf('valid_from');
  const valid_until = momentOf('valid_until');
  if (valid_from !== null && valid_until !== null && Date.parse(valid_until) <= Date.parse(valid_from))
    problems.valid_until = 'must be later than “Valid from”';
  const active_hours = hoursOf(draft.active_hours, problems);
  const velocity_limits = limitsOf(draft.velocity_limits, currency, problems);
  const secondsFrom = (name: 'duplicate_window' | 'review_ttl', unit: string) => {
    const length = draft[name];
    const seconds = length.trim() === '' ? null : secondsOf({ length, unit });
    if (length.trim() !== '' && seconds === null) problems[name] = 'must be a whole number';
    return seconds;
  };
  const duplicate_window_seconds = secondsFrom('duplicate_window', draft.duplicate_unit);
  const review_ttl_seconds = secondsFrom('review_ttl', draft.review_ttl_unit);
  const allowed_payees = payeesOf(draft.allowed_payees, problems);
  const alerts = percentsFromInput(draft.alert_percents);
  if ('problem' in alerts) problems.alert_percents = alerts.problem;
  if (Object.keys(problems).length > 0) return { authority: null, problems };
  const purpose = purposeOf(draft, base);
  const authority: Record<string, unknown> = { ...base, purpose, currency };
  for (const [name, amount_minor] of amounts) put(authority, name, amount_minor);
  for (const name of LINES) put(authority, name, listOf(draft[name]));
  const requires = draft.require_description === 'true';
  put(authority, 'require_description', requires || base?.require_description === false ? requires : null);
  put(authority, 'allowed_payees', allowed_payees);
  put(authority, 'time_zone', time_zone);
  put(authority, 'valid_from', valid_from);
  put(authority, 'valid_until', valid_until);
  put(authority, 'active_hours', active_hours);
  put(authority, 'velocity_limits', velocity_limits);
  put(authority, 'budgets', draft.budgets);
  put(authority, 'model_usage', modelUsageOf(draft, base?.model_usage));
  put(authority, 'alert_percents', 'problem' in alerts ? null : alerts.percents);
  put(authority, 'duplicate_window_seconds', duplicate_window_seconds);
  put(authority, 'review_ttl_seconds', review_ttl_seconds);
  for (const name of CHOICES) {
    // An omitted choice stays omitted, so that the authority keeps its hash.
    const is_explicit = draft[name] !== AUTHORITY_DEFAULTS[name] || authority[name] !== undefined;
    put(authority, name, is_explicit ? draft[name] : null);
  }
  for (const name of AUTHORITY_FIELD_NAMES) {
    const { qualifies } = authorityRow(name);
    if (qualifies !== undefined && authority[qualifies] === undefined) delete authority[name];
  }
  return { authority: authority as unknown as Authority, problems: null };
}

/** Reads the purpose from the form, with what `base` has besides. */
function purposeOf(draft: Draft, base: Authority | null): Record<string, unknown> {
  const purpose: Record<string, unknown> = { ...base?.purpose };
  put(purpose, 'objective', draft.objective.trim());
  put(purpose, 'success_criteria', listOf(draft.success_criteria));
  put(purpose, 'constraints', listOf(draft.constraints));
  put(purpose, 'context', draft.context.trim());
  const is_attention_explicit = draft.attention !== DEFAULT_ATTENTION || purpose.attention !== undefined;
  put(purpose, 'ask_model', draft.ask_model);
  put(purpose, 'attention', is_attention_explicit ? draft.attention : null);
  put(purpose, 'reading', draft.reading);
  return purpose;
}

function payeesOf(text: string, problems: Record<string, string>): AllowedPayee[] {
  return listOf(text).map((line, i) => {
    const [payee_id = '', ...words] = line.split(/\s+/);
    if (!/^[A-Za-z0-9][\w.-]{0,31}:[!-~]+$/.test(payee_id))
      problems.allowed_payees ??= `line ${i + 1} must begin with a payee such as iban:DE44500105175407324931`;
    return words.length === 0 ? { payee_id } : { payee_id, merchant: words.join(' ') };
  });
}

/** Sets a field, or removes it if `value` is empty. A list that was already empty stays. */
function put(of: Record<string, unknown>, name: string, value: unknown): void {
  const had_empty = Array.isArray(of[name]) && (of[name] as unknown[]).length === 0;
  const is_empty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (!is_empty || (had_empty && Array.isArray(value))) of[name] = value;
  else delete of[name];
}

/** Rows with fields of their own, each of which shows its own error. */
const ROWS = /^(active_hours|velocity_limits)\b/;

/**
 * Maps a field that the API refuses, such as `purpose.constraints[2]`, to the form's field and, in a list, its line.
 * Undefined if the form has no such field.
 */
export function fieldOf(name = ''): { field: string; line: number | null } | undefined {
  if (ROWS.test(name)) return { field: name.replace(/(\.\w+)\[\d+\]$/, '$1'), line: null };
  const [, path = '', entry] = /^([\w.]*)(?:\[(\d+)\].*)?$/.exec(name) ?? [];
  const field = path.replace(/^(purpose|model_usage)\./, '').replace(/_(minor|seconds)$/, '');
  if (!Object.hasOwn(EMPTY_DRAFT, field)) return undefined;
  return { field, line: entry === undefined ? null : Number(entry) + 1 };
}

/** The hint below an amount's field: the amount as it is shown everywhere else. Undefined while it is none. */
export function amountHint(text: string, currency: string): string | undefined {
  const read = fromInput(text, currency);
  return 'problem' in read || read.amount_minor === null
    ? undefined
    : formatMoney(read.amount_minor, currency);
}
