import { type ApiError, invalidField } from '@purser/rules/errors';
import {
  Ajv2020,
  type DefinedError,
  type ErrorObject,
  type FuncKeywordDefinition,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { makeCheck, type Rule, TOGETHER, type Together } from './checks.ts';

/**
 * Checks a value against a schema. Where a rule of the schema normalises (text, query parameters), it replaces the
 * value that was sent. Throws `invalid_request` that names the first field at fault.
 */
export type Validate = (value: unknown) => void;

/** The part of a request that is checked. It decides the words for unknown names and whether defaults are filled in. */
export type RequestPart = 'body' | 'query';

const MAX_ECHO_LENGTH = 100;

function makeAjv(useDefaults: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    validateFormats: false,
    verbose: true,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults,
    addUsedSchema: false,
  });
  ajv.addKeyword({
    keyword: 'x-rule',
    modifying: true,
    compile(rule: Rule) {
      const check = makeCheck(rule);
      const validate: ReturnType<NonNullable<FuncKeywordDefinition['compile']>> = (value, context) => {
        const finding = check(value);
        if (!finding.ok) {
          validate.errors = [{ keyword: 'x-rule', message: finding.problem, params: {} }];
          return false;
        }
        if (finding.value !== value && context !== undefined)
          context.parentData[context.parentDataProperty] = finding.value;
        return true;
      };
      return validate;
    },
  });
  // Of the type of objects, so that it comes after their fields.
  ajv.addKeyword({
    keyword: 'x-together',
    type: 'object',
    compile(name: Together) {
      const check = TOGETHER[name];
      const validate: ReturnType<NonNullable<FuncKeywordDefinition['compile']>> = (value) => {
        const found = check(value as never);
        if (found === null) return true;
        const { field, problem } = found;
        validate.errors = [{ keyword: 'x-together', message: problem, params: { field } }];
        return false;
      };
      return validate;
    },
  });
  // The caller's own document within the body: its fields are named from there.
  ajv.addKeyword({ keyword: 'x-root', schemaType: 'boolean' });
  return ajv;
}

const bodies = makeAjv(false);
// A query parameter that is left out means the same as its documented default, so the default is filled in.
const queries = makeAjv(true);

/** Ajv compiles the same object once, so what several routes, or several servers of a process, share is compiled once. */
const checkedForms = new WeakMap<TSchema, object>();

function compile(schema: TSchema, part: RequestPart): ValidateFunction {
  const ajv = part === 'query' ? queries : bodies;
  const form = checkedForms.get(schema) ?? (checkedForm(schema) as object);
  checkedForms.set(schema, form);
  return ajv.compile(form);
}

/**
 * Makes the check of a schema. It is compiled for the first value, since compiling those of all routes was a quarter of
 * what a start computes. A schema that is not sound lets no value pass: each one throws.
 */
export function compileSchema(schema: TSchema, part: RequestPart): Validate {
  let check: ValidateFunction | undefined;
  const root = rootOf(schema);
  return (value) => {
    check ??= compile(schema, part);
    if (!check(value)) throw firstProblem(check.errors ?? [], part, root);
  };
}

/**
 * Returns the schema as it is checked: without `$id`, because one schema may be part of many routes, and with the rule
 * alone where a node has one.
 */
function checkedForm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(checkedForm);
  if (typeof schema !== 'object' || schema === null) return schema;
  const node = schema as Record<string, unknown>;
  if (node['x-rule'] !== undefined) {
    // The default of a query parameter is checked by the rule like a value that was sent.
    const filled = node.default === undefined ? {} : { default: String(node.default) };
    return { 'x-rule': node['x-rule'], ...filled };
  }
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== '$id')
      .map(([key, value]) => [key, key === 'enum' || key === 'const' ? value : checkedForm(value)]),
  );
}

/** The property of a body whose fields are named as if they were the body's own; null: there is none. */
function rootOf(schema: TSchema): string | null {
  const { properties = {} } = schema as { properties?: Record<string, { 'x-root'?: boolean }> };
  return Object.keys(properties).find((name) => properties[name]?.['x-root'] === true) ?? null;
}

function firstProblem(errors: readonly ErrorObject[], part: RequestPart, root: string | null): ApiError {
  const error = mostTelling(errors);
  if (error === undefined) return invalidField(part, 'is not valid');
  const field = fieldOf(error);
  const named = root !== null && field.startsWith(`${root}.`) ? field.slice(root.length + 1) : field;
  return invalidField(named || part, problemOf(error, part));
}

/**
 * Chooses the error to show. Each branch of `anyOf` and `oneOf` has failed with one error. The branch that got furthest
 * is taken for the one that the sender meant, and a wrong value says more than a missing or unknown field.
 */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last === undefined || (last.keyword !== 'anyOf' && last.keyword !== 'oneOf')) return errors[0];
  const of_branches = errors.slice(0, -1).filter((error) => error.instancePath.startsWith(last.instancePath));
  const only_types = of_branches.every(
    (error) => error.instancePath === last.instancePath && ['type', 'const', 'enum'].includes(error.keyword),
  );
  if (of_branches.length === 0 || only_types) return last;
  return of_branches.reduce((best, error) => (weight(error) > weight(best) ? error : best));
}

function weight(error: ErrorObject): number {
  if (error.keyword === 'type' && error.params.type === 'null') return -1;
  const depth = fieldOf(error).split(/[.[]/).length;
  return depth * 2 + (error.keyword === 'required' || error.keyword === 'additionalProperties' ? 0 : 1);
}

/** Returns the dotted path of the field at fault, such as `trace[3].step`. It is empty for the whole value. */
function fieldOf(error: ErrorObject): string {
  const names = error.instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, field } = error.params as Record<string, unknown>;
  const named = error.keyword === 'required' ? missingProperty : (additionalProperty ?? field);
  if (typeof named === 'string') names.push(named === '' ? '""' : named);
  let path = '';
  for (const name of names) {
    if (/^\d+$/.test(name)) path += `[${name}]`;
    else path += path === '' ? name : `.${name}`;
  }
  return echo(path);
}

/** Returns a name that the caller chose in a form for messages: printable and short. */
export function echo(name: string): string {
  const printable = name.replace(/[\p{C}\p{Z}]+/gu, '?');
  return printable.length > MAX_ECHO_LENGTH ? `${printable.slice(0, MAX_ECHO_LENGTH)}…` : printable;
}

function problemOf(error: ErrorObject, part: RequestPart): string {
  if (error.keyword === 'x-rule' || error.keyword === 'x-together') return error.message ?? 'is not valid';
  const { keyword, params } = error as DefinedError;
  const schema = (error.parentSchema ?? {}) as Record<string, unknown>;
  switch (keyword) {
    case 'type':
      return `must be ${typeName(params.type as string | string[], schema)}`;
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return part === 'query' ? 'is not a known query parameter' : 'is not a known field';
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'multipleOf':
      return `must be ${typeName((schema.type as string | undefined) ?? 'number', schema)}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'pattern':
      return `must match ${params.pattern}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
    case 'minItems':
      return `must have at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'minProperties':
      return `must have at least ${params.limit} ${params.limit === 1 ? 'field' : 'fields'}`;
    case 'maxProperties':
      return `must have at most ${params.limit} ${params.limit === 1 ? 'field' : 'fields'}`;
    case 'anyOf':
    case 'oneOf':
      return `must be ${oneOfForms((schema[keyword] as unknown[] | undefined) ?? [])}`;
    default:
      return 'is not valid';
  }
}

/** Returns the type with the range of its schema: "a string", "an integer from 1 to 200". */
function typeName(type: string | readonly string[], schema: Record<string, unknown>): string {
  if (typeof type !== 'string') return type.map((one) => typeName(one, schema)).join(' or ');
  switch (type) {
    case 'integer':
    case 'number': {
      const name = type === 'integer' ? 'an integer' : 'a number';
      const { minimum, maximum } = schema;
      if (minimum !== undefined && maximum !== undefined) return `${name} from ${minimum} to ${maximum}`;
      if (minimum !== undefined) return `${name} of at least ${minimum}`;
      return maximum === undefined ? name : `${name} of at most ${maximum}`;
    }
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
    case 'object':
      return `an ${type}`;
    default:
      return `a ${type}`;
  }
}

/** Returns the forms that a union allows, for a value whose type fits none of its branches. */
function oneOfForms(branches: readonly unknown[]): string {
  const forms = branches.map((branch) => {
    const schema = branch as Record<string, unknown>;
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (Array.isArray(schema.enum)) return schema.enum.map(String).join(', ');
    return schema.type === undefined ? 'a valid value' : typeName(schema.type as string | string[], schema);
  });
  return [...new Set(forms)].join(' or ');
}
