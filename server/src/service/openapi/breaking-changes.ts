import type { JsonSchema, OpenApi, Operation } from './document-types.ts';
import { responseOf } from './openapi.ts';

type Direction = 'in' | 'out';

/** The limits of one place that a client can rely on. */
interface Limits {
  types: string[];
  required?: true;
  enum?: unknown[];
  [keyword: string]: unknown;
}

const AT_MOST = ['maximum', 'maxLength', 'maxItems'];
const AT_LEAST = ['minimum', 'minLength', 'minItems', 'minProperties'];
const EXACT = ['pattern', 'format', 'uniqueItems', 'patternProperties', 'additionalProperties'];
const KEYWORDS = new Set(['enum', ...AT_MOST, ...AT_LEAST, ...EXACT]);

/**
 * Everything that a client can rely on, sorted: a line for each route, field and parameter. A line has the direction (`in`
 * for requests, `out` for answers and events), the place, a tab, and the limits as JSON.
 */
export function promisesOf(document: OpenApi): string[] {
  const lines = new Map<string, Limits>();

  function add(direction: Direction, place: string, schema: JsonSchema, required = false): void {
    const given = (schema.anyOf ?? schema.oneOf ?? [schema]) as JsonSchema[];
    const branches = given.filter((branch) => branch.type !== 'null');
    const only = branches.length === 1 ? (branches[0] as JsonSchema) : {};
    const kept = Object.entries(only).filter(
      ([keyword, value]) => KEYWORDS.has(keyword) && (keyword !== 'additionalProperties' || value === false),
    );
    const types = [...new Set(given.map(typeOf))].sort();
    lines.set(`${direction} ${place}`, {
      types,
      ...(required ? { required } : {}),
      ...Object.fromEntries(kept),
    });
    if (branches.length > 1)
      for (const [i, branch] of branches.entries()) add(direction, `${place}|${i}`, branch);
    else addNested(direction, place, only);
  }
  function addNested(direction: Direction, place: string, schema: JsonSchema): void {
    const required = (schema.required ?? []) as string[];
    const { $ref, properties = {}, items, additionalProperties } = schema;
    if (typeof $ref === 'string') addNamed(direction, $ref);
    for (const [name, field] of Object.entries(properties as Record<string, JsonSchema>))
      add(direction, `${place}.${name}`, field, required.includes(name));
    if (items !== undefined) add(direction, `${place}[]`, items as JsonSchema);
    if (typeof additionalProperties === 'object')
      add(direction, `${place}.*`, additionalProperties as JsonSchema);
  }
  function addNamed(direction: Direction, ref: string): void {
    const name = nameOf(ref);
    if (!lines.has(`${direction} ${name}`)) add(direction, name, document.components.schemas[name] ?? {});
  }
  function addRoute(route: string, { security, parameters, requestBody, responses }: Operation): void {
    lines.set(`in ${route}`, { types: ['route'] });
    const credentials = security.flatMap((each) => Object.entries(each).map((pair) => pair.flat().join(' ')));
    lines.set(`in ${route} as`, { types: credentials.length === 0 ? ['anybody'] : credentials.sort() });
    for (const { in: where, name, required, schema } of parameters ?? [])
      add('in', `${route} ${where}:${name}`, schema, required);
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      add('in', `${route} body`, schema, requestBody?.required);
    for (const [status, given] of Object.entries(responses)) {
      const { content = {}, headers = {} } = responseOf(given, document);
      const place = Number(status) < 400 ? `${route} ${status}` : 'error';
      lines.set(`out ${place}`, { types: ['answer'] });
      for (const name of Object.keys(headers)) lines.set(`out ${place} ${name}`, { types: ['header'] });
      for (const [type, { schema }] of Object.entries(content)) add('out', `${place} ${type}`, schema);
    }
  }

  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods))
      addRoute(`${method.toUpperCase()} ${path}`, operation);
  for (const [type, { post }] of Object.entries(document.webhooks))
    add('out', `event ${type}`, post.requestBody?.content['application/json']?.schema ?? {});
  return [...lines].map(([place, limits]) => `${place}\t${JSON.stringify(limits)}`).sort();
}

const nameOf = (ref: string) => ref.split('/').at(-1) as string;

function typeOf({ $ref, type, const: fixed }: JsonSchema): string {
  if (typeof $ref === 'string') return nameOf($ref);
  return fixed === undefined ? String(type ?? 'any') : JSON.stringify(fixed);
}

/** The changes from one list of promises to another that can break a client, in words. Empty if there are none. */
export function breakingChanges(released: readonly string[], current: readonly string[]): string[] {
  const [before, now] = [parse(released), parse(current)];
  const gone: string[] = [];
  const broken = [...before].flatMap(([place, was]) => {
    const is = now.get(place);
    if (is !== undefined)
      return (place.startsWith('in ') ? narrower(was, is) : wider(was, is)).map((how) => `${place} ${how}`);
    // Of a route that is gone, its fields need no line.
    if (gone.some((above) => place.startsWith(above) && /^[ .|[]/.test(place.slice(above.length)))) return [];
    gone.push(place);
    return [`${place} is gone`];
  });
  const demanded = [...now].filter(
    ([place, { required }]) =>
      required === true &&
      place.startsWith('in ') &&
      !before.has(place) &&
      before.has(place.replace(/[ .|[][^ .|[]*$/, '')),
  );
  return [...broken, ...demanded.map(([place]) => `${place} is new and required`)];
}

function parse(lines: readonly string[]): Map<string, Limits> {
  return new Map(
    lines
      .map((line) => line.split('\t') as [string, string])
      .map(([place, limits]) => [place, JSON.parse(limits)]),
  );
}

const without = (some: readonly unknown[] = [], others: readonly unknown[] = []) =>
  some.filter((each) => !others.includes(each));

/** How a request may hold less than before. */
function narrower(was: Limits, is: Limits): string[] {
  const refused = [
    ...without(was.types, is.types),
    ...(is.enum === undefined ? [] : was.enum === undefined ? ['other values'] : without(was.enum, is.enum)),
  ];
  const limited = [
    ...AT_MOST.filter((each) => is[each] !== undefined && !((was[each] as number) <= (is[each] as number))),
    ...AT_LEAST.filter((each) => is[each] !== undefined && !((was[each] as number) >= (is[each] as number))),
    ...EXACT.filter(
      (each) => is[each] !== undefined && JSON.stringify(is[each]) !== JSON.stringify(was[each]),
    ),
  ];
  return [
    ...refused.map((value) => `no longer accepts ${value}`),
    ...limited.map(
      (each) => `has a narrower ${each}: ${JSON.stringify(was[each])} to ${JSON.stringify(is[each])}`,
    ),
    ...(is.required === true && was.required === undefined ? ['is now required'] : []),
  ];
}

/** How an answer may hold more than before, or lack what it always had. */
function wider(was: Limits, is: Limits): string[] {
  return [
    ...without(is.types, was.types).map((type) => `may now be ${type}`),
    ...without(was.enum, is.enum ?? was.enum).map((value) => `no longer has ${value}`),
    ...(was.required === true && is.required === undefined ? ['may now be absent'] : []),
  ];
}
