import { type TSchema, Type } from 'typebox';
import { OneOf } from './schema.ts';
import type { Stage } from './stages.ts';

/** `yes`: after the change the agent may spend more, or on more things. `maybe`: it depends on the meaning of a text. */
export type Widens = 'yes' | 'no' | 'maybe';

/**
 * How two values of a field are compared, which also says what widens:
 * - `limit`: a higher one and none. `allowance`: a higher one; none allows nothing. `window`: a shorter one and none.
 * - `outcome`: a milder one. `attention`: a lower level. `switch`: yes. `demand`: no. `from`: an earlier moment and none. `until`: a later one and none.
 * - `duration`: neither a longer nor a shorter one lets the agent spend more by itself.
 * - `notice`: never; it changes what is notified. `words`: nobody can tell. `velocity`, `hours`, `corrections` and `model_usage` have rules of their own.
 * - A list: an entry more, an entry fewer. `open`: everything is allowed where it is left out.
 */
export type Comparison =
  | 'limit'
  | 'allowance'
  | 'window'
  | 'outcome'
  | 'attention'
  | 'corrections'
  | 'switch'
  | 'demand'
  | 'from'
  | 'until'
  | 'notice'
  | 'duration'
  | 'words'
  | 'velocity'
  | 'hours'
  | 'model_usage'
  | { more: Widens; fewer: Widens; open?: true };

/** A field of the authority. */
export interface FieldRow {
  schema: TSchema;
  /** Its name for people; a reader knows an authority as a policy. */
  label: string;
  /** The stages of a decision that read it. */
  stages: readonly Stage[];
  /** A judge of purpose reads it, so that a draft that changes it needs new assessments. */
  is_assessed: boolean;
  compare: Comparison;
  /** The default. */
  default?: unknown;
  /** The field without which it says nothing. */
  qualifies?: string;
}

/** The schemas of rows by field. */
export type SchemasOf<Rows> = {
  -readonly [Name in keyof Rows]: Rows[Name] extends { schema: infer Schema extends TSchema }
    ? Schema
    : never;
};

/** Takes the schemas out of rows, in their order. */
export function schemasOf<Rows extends Record<string, { schema: TSchema }>>(rows: Rows): SchemasOf<Rows> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { schema }]) => [name, schema]),
  ) as SchemasOf<Rows>;
}

/** The defaults of rows that have one, by field. */
export type DefaultsOf<Rows> = {
  -readonly [Name in keyof Rows as Rows[Name] extends { default: unknown }
    ? Name
    : never]: Rows[Name] extends { default: infer Default } ? Default : never;
};

/** Takes the defaults out of rows. */
export function defaultsOf<Rows extends Record<string, object>>(rows: Rows): DefaultsOf<Rows> {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, row]) => ('default' in row ? [[name, row.default]] : [])),
  ) as DefaultsOf<Rows>;
}

/** A field that decides about some spends. `description` receives the words for the default. */
export function outcome<
  const Values extends readonly ('ALLOW' | 'REVIEW' | 'DENY')[],
  const Default extends Values[number],
>(
  label: string,
  stage: Stage,
  values: Values,
  unset: Default,
  description: (unset: string) => string,
  more: { qualifies?: string } = {},
) {
  return {
    schema: Type.Optional(OneOf(values, { description: description(`defaults to \`${unset}\``) })),
    default: unset,
    label,
    stages: [stage],
    is_assessed: false,
    compare: 'outcome',
    ...more,
  } as const;
}
