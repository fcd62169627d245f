import {
  type TArray,
  type TNull,
  type TObject,
  type TSchema,
  type TString,
  type TUnion,
  type TUnsafe,
  Type,
} from 'typebox';
import { ID_PREFIXES, type IdKind } from './ids.ts';
import { MAX_AMOUNT_MINOR } from './limits.ts';

/**
 * The building blocks of all schemas. Each states the same rule twice: as `x-rule`, which the server checks and from which
 * it makes plain messages, and as ordinary JSON Schema keywords, which the OpenAPI document shows.
 *
 * `Type` is imported by name: a bundler then drops the parts of the schema library that are not used.
 */

/**
 * A rule that JSON Schema cannot express, or cannot report in plain words. It is the value of the keyword `x-rule`. A
 * schema that has one is checked by it alone; its other keywords describe the same rule in the OpenAPI document.
 */
export type Rule =
  | { kind: 'text'; text: 'line' | 'long'; min: number; max: number }
  | { kind: 'pattern'; pattern: string; must: string }
  | { kind: 'currency' }
  | { kind: 'timestamp' }
  | { kind: 'instant' }
  | { kind: 'time_zone' }
  | { kind: 'free_object'; max_bytes: number }
  | { kind: 'ascending'; min: number; max: number; max_items: number }
  | { kind: 'query_integer'; min: number; max: number }
  | { kind: 'query_boolean' }
  | { kind: 'query_bound'; side: 'from' | 'to' }
  | { kind: 'one_of'; values: readonly string[] }
  | { kind: 'query_several'; each: Rule };

/**
 * A rule about several fields of an object, by name. It is the value of the keyword `x-together`, and is checked once each
 * field by itself is right. The server has the rules.
 */
export type Together =
  | 'allowance_issuer'
  | 'authority'
  | 'authority_test_step'
  | 'authority_test_steps'
  | 'review_policy';

/** Documentation that a schema may add. */
export interface Words {
  description?: string;
  examples?: unknown[];
}

function ruled<T>(rule: Rule, schema: Record<string, unknown>, words: Words = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ ...schema, ...words, 'x-rule': rule });
}

/** An object without any other fields than those named. `x-root`: messages name its fields from it, not from the body. */
export function Fields<P extends Record<string, TSchema>>(
  properties: P,
  options: Words & { $id?: string; minProperties?: number; 'x-together'?: Together; 'x-root'?: true } = {},
): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** A line of text. The handler receives it trimmed and in NFC; `min` and `max` count the characters of that form. */
export function Line(limits: { min?: number; max: number }, words?: Words): TUnsafe<string> {
  const min = limits.min ?? 1;
  return ruled(
    { kind: 'text', text: 'line', min, max: limits.max },
    { type: 'string', minLength: min, maxLength: limits.max },
    words,
  );
}

/** Text that may contain newlines and tabs. The handler receives it trimmed and in NFC. */
export function LongText(limits: { min?: number; max: number }, words?: Words): TUnsafe<string> {
  const min = limits.min ?? 0;
  return ruled(
    { kind: 'text', text: 'long', min, max: limits.max },
    { type: 'string', minLength: min, maxLength: limits.max },
    words,
  );
}

/**
 * Text of a given form. `must` completes the sentence "<field>: …". Without its first word it is also the description
 * in the reference if `words` has none.
 */
export function Formed(pattern: string, must: string, words?: Words): TUnsafe<string> {
  const description = `${must.replace(/^must (be )?/, '').replace(/^./, (letter) => letter.toUpperCase())}.`;
  return ruled({ kind: 'pattern', pattern, must }, { type: 'string', pattern, description }, words);
}

/** One of a closed list of strings. */
export function OneOf<const T extends readonly string[]>(values: T, words?: Words): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...words });
}

/** The schema or null. */
export function Nullable<S extends TSchema>(schema: S): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()]);
}

/** A whole number. `12.0` is accepted, `"12"` and `12.5` are not. */
export function WholeNumber(range: { min: number; max: number }, words?: Words): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'integer', minimum: range.min, maximum: range.max, ...words });
}

/** 1 to 5 different whole numbers from 1 to 100, ascending. */
export function AlertPercents(words: Words): TUnsafe<number[]> {
  const items = { type: 'integer', minimum: 1, maximum: 100 };
  return ruled(
    { kind: 'ascending', min: 1, max: 100, max_items: 5 },
    { type: 'array', items, minItems: 1, maxItems: 5 },
    { examples: [[50, 80, 100]], ...words },
  );
}

/** An amount to be paid, in minor units: at least 1. */
export function AmountMinor(words?: Words): TUnsafe<number> {
  return WholeNumber({ min: 1, max: MAX_AMOUNT_MINOR }, words);
}

/** A limit or a total, in minor units: 0 or more. */
export function LimitMinor(words?: Words): TUnsafe<number> {
  return WholeNumber({ min: 0, max: MAX_AMOUNT_MINOR }, words);
}

/** An active ISO 4217 code in upper case. */
export function Currency(words?: Words): TUnsafe<string> {
  return ruled(
    { kind: 'currency' },
    { type: 'string', pattern: '^[A-Z]{3}$', description: 'An active ISO 4217 code.' },
    { examples: ['USD'], ...words },
  );
}

/** A timestamp as the service writes it: `2026-11-21T08:30:00.000Z`. */
export function Timestamp(words?: Words): TString {
  return Type.String({ format: 'date-time', examples: ['2026-11-21T08:30:00.000Z'], ...words });
}

/** A timestamp in a request body: RFC 3339 with an offset. The handler receives it as it was sent. */
export function TimestampIn(words?: Words): TUnsafe<string> {
  return ruled(
    { kind: 'timestamp' },
    { type: 'string', format: 'date-time' },
    { examples: ['2026-11-21T08:30:00Z'], ...words },
  );
}

/** A moment in a request body: RFC 3339 with an offset. The handler receives it as `2026-11-21T08:30:00.000Z`. */
export function InstantIn(words?: Words): TUnsafe<string> {
  return ruled(
    { kind: 'instant' },
    { type: 'string', format: 'date-time' },
    { examples: ['2026-11-21T08:30:00Z'], ...words },
  );
}

/** The name of a time zone. */
export function TimeZone(words?: Words): TUnsafe<string> {
  return ruled({ kind: 'time_zone' }, { type: 'string' }, { examples: ['Europe/Berlin'], ...words });
}

/** An agent's name within its workspace. */
export function Slug(words?: Words): TUnsafe<string> {
  return Formed(
    '^[a-z0-9][a-z0-9_-]{0,63}$',
    'must be 1 to 64 of a-z, 0-9, "_" and "-", and begin with a letter or digit',
    { examples: ['research-bot'], ...words },
  );
}

/** An agent named by its slug or its id. A name that cannot exist is answered with 404, not 400. */
export function AgentRef(words?: Words): TUnsafe<string> {
  return Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
    examples: ['infra-bot'],
    ...words,
  });
}

/** The person to whom the reviews of a key are attributed. */
export function PrincipalId(words?: Words): TUnsafe<string> {
  return Formed(
    '^user:[!-~]{1,128}$',
    'must be "user:<id>", the id being 1 to 128 visible ASCII characters',
    { examples: ['user:ada'], ...words },
  );
}

/** The payee of a spend: a rail, a colon and the rail's own name of the payee. */
export function PayeeId(words?: Words): TUnsafe<string> {
  return Formed(
    '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!-~]{1,200}$',
    'must be "<rail>:<id>", the rail being 1 to 32 letters, digits, ".", "_" or "-", the id 1 to 200 visible ASCII characters',
    { examples: ['stripe:acct_1032D82eZvKYlo2C'], ...words },
  );
}

/** An id as the service writes it. */
export function Id(kind: IdKind, words?: Words): TString {
  const prefix = ID_PREFIXES[kind];
  return Type.String({
    pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`,
    examples: [`${prefix}_01KAJ5F0V8Z3M2Q9X7T4R6N1BD`],
    ...words,
  });
}

/** An id in a request body. Only its prefix is checked here; the handler finds out whether it exists. */
export function IdIn(kind: IdKind, words?: Words): TUnsafe<string> {
  const prefix = ID_PREFIXES[kind];
  return Formed(`^${prefix}_[A-Za-z0-9]{1,64}$`, `must be an id that begins with "${prefix}_"`, {
    examples: [`${prefix}_01KAJ5F0V8Z3M2Q9X7T4R6N1BD`],
    ...words,
  });
}

/** Ids of allowances that are longer or hold other characters cannot exist, so they are answered with 404. */
export const AllowanceRef = (words?: { description?: string }): TUnsafe<string> => IdIn('allowance', words);

/** The caller's own data: any JSON object whose text is at most `max_bytes` long. */
export function FreeObject(limits: { max_bytes: number }, words?: Words): TUnsafe<Record<string, unknown>> {
  return ruled(
    { kind: 'free_object', max_bytes: limits.max_bytes },
    {
      type: 'object',
      additionalProperties: true,
      description: `Any fields, at most ${limits.max_bytes} bytes of JSON.`,
    },
    words,
  );
}

/** A query parameter that is a whole number. The handler receives a number. */
export function QueryInteger(
  range: { min: number; max: number; default?: number },
  words?: Words,
): TUnsafe<number> {
  return ruled(
    { kind: 'query_integer', min: range.min, max: range.max },
    {
      type: 'integer',
      minimum: range.min,
      maximum: range.max,
      ...(range.default === undefined ? {} : { default: range.default }),
    },
    words,
  );
}

/** A query parameter `true` or `false`. The handler receives a boolean. */
export function QueryBoolean(words?: Words): TUnsafe<boolean> {
  return ruled({ kind: 'query_boolean' }, { type: 'boolean' }, words);
}

/**
 * A bound of a period. The handler receives `2026-11-21T00:00:00.000Z`. A date stands for the whole UTC day, so as
 * `to`, which is exclusive, it becomes the beginning of the next day.
 */
export function QueryBound(side: 'from' | 'to', words?: Words): TUnsafe<string> {
  return ruled(
    { kind: 'query_bound', side },
    {
      type: 'string',
      pattern: '^\\d{4}-\\d{2}-\\d{2}([Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2}))?$',
    },
    {
      description:
        side === 'from'
          ? 'At or after this time: RFC 3339 with an offset, or a date, which starts at 00:00 UTC.'
          : 'Before this time: RFC 3339 with an offset, or a date, whose whole UTC day is included.',
      examples: [side === 'from' ? '2026-11-01' : '2026-11-30'],
      ...words,
    },
  );
}

/**
 * A query parameter of one value or several, separated by commas, each of which `of` accepts; the handler sees them as
 * an array, each once, in order. `of` must have a rule or be a closed list.
 */
export function QuerySeveral<T extends string>(of: TUnsafe<T>, words?: Words): TUnsafe<T[]> {
  const { 'x-rule': own, ...items } = of as unknown as { 'x-rule'?: Rule; enum?: string[] };
  const each: Rule = own ?? { kind: 'one_of', values: items.enum ?? [] };
  const schema = { type: 'array', items, description: 'One or several, separated by commas.' };
  return ruled({ kind: 'query_several', each }, schema, words);
}

/** The two parameters of every list. */
const MAX_WAIT_SECONDS = 25;

/** How long a request waits for a change before it answers. */
export const WaitSeconds = (description: string) =>
  QueryInteger({ min: 1, max: MAX_WAIT_SECONDS }, { description });

export const PageQuery = {
  limit: Type.Optional(
    QueryInteger({ min: 1, max: 200, default: 50 }, { description: 'Maximum number of items to return.' }),
  ),
  cursor: Type.Optional(
    Formed('^[A-Za-z0-9_.~-]{1,2048}$', 'must be a next_cursor returned by this list', {
      description: 'The `next_cursor` of the previous page. It works only with the same filters.',
    }),
  ),
};

/** The parameters of a list that can be sorted, besides its page. The first of `by` is its usual order. */
export function SortQuery<By extends string>(by: readonly [By, ...By[]]) {
  return {
    sort: Type.Optional(OneOf(by, { description: `Defaults to \`${by[0]}\`.` })),
    order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Defaults to `desc`.' })),
  };
}

/** One page of a list. */
export function page<S extends TSchema>(
  of: S,
  options: { $id?: string } = {},
): TObject<{ data: TArray<S>; next_cursor: TUnion<[TString, TNull]> }> {
  return Type.Object(
    {
      data: Type.Array(of),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Give it as `cursor` to get the next page; null on the last page.',
        examples: [null],
      }),
    },
    { additionalProperties: false, ...options },
  );
}
