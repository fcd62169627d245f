import type { JsonSchema, OpenApi } from './document-types.ts';

const HEAD = `# Built from the schemas that check requests and answers; do not edit.
"""The types of the API. At run time they are plain dictionaries: nothing is checked, unknown fields are kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Literal, Union

if sys.version_info >= (3, 12):
    from typing import NotRequired, TypeAlias, TypedDict
else:
    from typing_extensions import NotRequired, TypeAlias, TypedDict
`;

/** Words that Python does not take as names. */
const KEYWORDS = new Set([
  ...['False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def'],
  ...['del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is'],
  ...['lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'],
]);

/** The name of a parameter in Python: \`from_\` for \`from\`. */
export const pythonName = (name: string) => (KEYWORDS.has(name) ? `${name}_` : name);

/** A text as a literal of Python. */
export const pythonText = (text: string) => JSON.stringify(text);

/** A docstring with this indent; empty for no text. */
export function docstring(text: unknown, indent: string): string {
  if (typeof text !== 'string' || text === '') return '';
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', `\n${indent}`);
  return `${indent}"""${safe}"""\n`;
}

const upperFirst = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());
const pascal = (text: string) =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map(upperFirst)
    .join('');

/** Renders schemas as Python, and names the objects inside them, which Python cannot write in place. */
export class PythonTypes {
  readonly #declared = new Map<string, string>();
  /** Names of objects inside other schemas, by their content: what has the same fields is the same type. */
  readonly #inner = new Map<string, string>();
  readonly #reserved: Set<string>;

  constructor(document: OpenApi) {
    this.#reserved = new Set(Object.keys(document.components.schemas));
    for (const [name, schema] of Object.entries(document.components.schemas)) this.declare(name, schema);
  }

  /** Every declaration, in the order in which it was made. */
  text(): string {
    return [...this.#declared.values()].join('\n\n');
  }

  /** The names that are declared. */
  names(): Set<string> {
    return new Set(this.#declared.keys());
  }

  /** Declares a type under this name. */
  declare(name: string, schema: JsonSchema): void {
    this.#reserved.add(name);
    const is_class = schema.type === 'object' && !isOpen(schema);
    if (is_class) {
      this.#declared.set(name, this.#classOf(name, schema));
      return;
    }
    const type = this.typeOf(schema, name);
    this.#declared.set(
      name,
      `${name}: TypeAlias = ${pythonText(type)}\n${docstring(schema.description, '')}`,
    );
  }

  /** The Python type of a schema; an object in it is named after \`owner\`. */
  typeOf(schema: JsonSchema, owner: string): string {
    if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) as string;
    if (schema.const !== undefined) return literal([schema.const]);
    if (Array.isArray(schema.enum)) return literal(schema.enum);
    if (Array.isArray(schema.anyOf)) {
      const branches = schema.anyOf as JsonSchema[];
      const types = branches.map((branch, index) =>
        this.typeOf(branch, branches.length > 2 ? `${owner}${index + 1}` : owner),
      );
      return [...new Set(types)].join(' | ');
    }
    switch (schema.type) {
      case 'string':
        return 'str';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'array':
        return `list[${this.typeOf(schema.items as JsonSchema, `${owner}Item`)}]`;
      case 'object':
        return isOpen(schema) ? this.#openType(schema, owner) : this.#nameOf(schema, owner);
      default:
        throw new Error(`there is no Python for ${JSON.stringify(schema).slice(0, 200)}`);
    }
  }

  #openType({ additionalProperties }: JsonSchema, owner: string): string {
    const values = typeof additionalProperties === 'object' ? (additionalProperties as JsonSchema) : null;
    return `Mapping[str, ${values === null ? 'object' : this.typeOf(values, `${owner}Value`)}]`;
  }

  #nameOf(schema: JsonSchema, owner: string): string {
    const content = JSON.stringify(schema);
    const known = this.#inner.get(content);
    if (known !== undefined) return known;
    let name = owner;
    for (let n = 2; this.#reserved.has(name); n++) name = `${owner}${n}`;
    this.#inner.set(content, name);
    this.declare(name, schema);
    return name;
  }

  #classOf(owner: string, schema: JsonSchema): string {
    const required = (schema.required ?? []) as string[];
    const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
    const rows = fields.map(([name, field]) => {
      const type = this.typeOf(field, `${owner}${pascal(name)}`);
      return { name, field, type: required.includes(name) ? type : `NotRequired[${type}]` };
    });
    if (rows.some(({ name }) => !/^[A-Za-z_]\w*$/.test(name) || KEYWORDS.has(name))) {
      const items = rows.map(({ name, type }) => `${pythonText(name)}: ${pythonText(type)}`);
      return `${owner} = TypedDict(${pythonText(owner)}, {${items.join(', ')}})\n${docstring(schema.description, '')}`;
    }
    const lines = rows.map(({ name, field, type }) => `${comment(field)}    ${name}: ${type}\n`);
    const body = `${docstring(schema.description, '    ')}${lines.join('')}`;
    return `class ${owner}(TypedDict):\n${body === '' ? '    pass\n' : body}`;
  }
}

/** An object whose field names are not fixed. */
function isOpen(schema: JsonSchema): boolean {
  return Object.keys(schema.properties ?? {}).length === 0 && schema.additionalProperties !== false;
}

function comment({ description }: JsonSchema): string {
  if (typeof description !== 'string' || description === '') return '';
  return `    # ${description.replaceAll('\n', '\n    # ')}\n`;
}

const literal = (values: unknown[]) =>
  `Literal[${values.map((value) => (typeof value === 'boolean' ? upperFirst(String(value)) : value === null ? 'None' : JSON.stringify(value))).join(', ')}]`;

/** The types of requests that have no name of their own, such as \`CreateAgentRequest\`. */
export function declareRequests(types: PythonTypes, document: OpenApi): void {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
      const body = requestBody?.content['application/json']?.schema;
      if (body === undefined || body.$ref !== undefined) continue;
      const description = `The body of \`${method.toUpperCase()} ${path}\`.`;
      types.declare(`${upperFirst(operationId)}Request`, { description, ...body });
    }
  }
}

/** `types.py` of the Python client, with every type that was declared. */
export function renderPythonTypes(types: PythonTypes, document: OpenApi): string {
  const events = Object.values(document.webhooks).map(({ post }) => post.operationId);
  const tail = `
class SpendRequest(DecisionRequest):
    """A decision request with the name of the spend: the order, invoice or tool call. One name never pays twice."""
    idempotency_key: str


Mode: TypeAlias = Literal["SHADOW", "ENFORCE"]

WebhookEvent: TypeAlias = Union[${events.map(pythonText).join(', ')}]
"""What is delivered to webhook endpoints."""
`;
  return `${HEAD}\n\n${types.text()}\n${tail}`;
}
