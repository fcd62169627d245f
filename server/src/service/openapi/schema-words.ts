import { exampleOf as exampleIn } from '@purser/contract/values/example';
import type { JsonSchema, OpenApi } from './document-types.ts';

/** One line of a table of fields. */
export interface FieldRow {
  /** `action.amount_minor`, `trace[].step`. */
  name: string;
  required: boolean;
  /** "string, 1 to 200 characters". */
  type: string;
  /** The schema of `components` that the field holds, which has a table of its own. */
  refers_to: string | null;
  description: string;
}

const MAX_DEPTH = 4;

/** Resolves a `$ref`; any other schema is returned unchanged. */
export function resolve(schema: JsonSchema, document: OpenApi): JsonSchema {
  const name = refName(schema);
  return name === null ? schema : (document.components.schemas[name] ?? {});
}

/** `Decision` for `#/components/schemas/Decision`, else null. */
export function refName(schema: JsonSchema): string | null {
  return typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? null) : null;
}

/** The fields of an object, nested ones by their dotted names; what has a name of its own is only referred to. */
export function fieldRows(schema: JsonSchema, document: OpenApi, prefix = '', depth = 0): FieldRow[] {
  const required = (schema.required ?? []) as string[];
  const rows: FieldRow[] = [];
  for (const [name, field] of Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)) {
    const path = prefix + name;
    const refers_to = referred(field);
    rows.push({
      name: path,
      required: required.includes(name),
      type: typeInWords(field, document),
      refers_to,
      description: String(field.description ?? ''),
    });
    if (refers_to !== null || depth >= MAX_DEPTH) continue;
    const inner = notNull(field);
    const items = inner.type === 'array' ? notNull((inner.items ?? {}) as JsonSchema) : null;
    rows.push(...fieldRows(items ?? inner, document, items === null ? `${path}.` : `${path}[].`, depth + 1));
  }
  return rows;
}

/** The schema that a field holds, by name, through null and arrays. */
function referred(field: JsonSchema): string | null {
  const inner = notNull(field);
  return refName(inner.type === 'array' ? notNull((inner.items ?? {}) as JsonSchema) : inner);
}

/** The one branch of `anyOf: [schema, null]`; any other schema is itself. */
function notNull(schema: JsonSchema): JsonSchema {
  const branches = (schema.anyOf ?? []) as JsonSchema[];
  const real = branches.filter((branch) => branch.type !== 'null');
  return real.length === 1 && branches.length === 2 ? (real[0] as JsonSchema) : schema;
}

const number = new Intl.NumberFormat('en-US');

/** Type and limits in words: "integer, 1 to 200, default 50". */
export function typeInWords(schema: JsonSchema, document: OpenApi): string {
  const name = refName(schema);
  if (name !== null) return name;
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined)
    return [...new Set(branches.map((branch) => typeInWords(branch, document)))].join(' or ');
  const parts: string[] = [];
  if (schema.const !== undefined) parts.push(JSON.stringify(schema.const));
  else if (Array.isArray(schema.enum)) parts.push(schema.enum.map((value) => String(value)).join(' | '));
  else if (schema.type === 'array') {
    const items = typeInWords((schema.items ?? {}) as JsonSchema, document);
    parts.push(`array of ${items === 'object' ? 'objects' : items}`);
    if (schema.maxItems !== undefined) parts.push(`at most ${number.format(schema.maxItems as number)}`);
    if (schema.minItems !== undefined) parts.push(`at least ${number.format(schema.minItems as number)}`);
  } else parts.push([schema.type ?? 'any value'].flat().join(' or '));
  parts.push(...limitsInWords(schema));
  if (schema.default !== undefined) parts.push(`default ${String(schema.default)}`);
  return parts.join(', ');
}

function limitsInWords(schema: JsonSchema): string[] {
  const words: string[] = [];
  const { minimum, maximum, minLength, maxLength, format, pattern } = schema as Record<string, unknown>;
  const from = typeof minimum === 'number' ? number.format(minimum) : null;
  const to = typeof maximum === 'number' ? number.format(maximum) : null;
  if (from !== null && to !== null) words.push(`${from} to ${to}`);
  else if (from !== null) words.push(`at least ${from}`);
  else if (to !== null) words.push(`at most ${to}`);
  if (typeof maxLength === 'number') {
    const least = typeof minLength === 'number' && minLength > 0 ? `${minLength} to ` : 'at most ';
    words.push(`${least}${number.format(maxLength)} characters`);
  } else if (typeof pattern === 'string' && schema.description === undefined) words.push(pattern);
  if (typeof format === 'string') words.push(format);
  return words;
}

/** A value that fits the schema, as `exampleOf` of the contract makes it. */
export function exampleOf(schema: JsonSchema, document: OpenApi, required_only: boolean): unknown {
  return exampleIn(schema, required_only, (each) => resolve(each, document));
}
