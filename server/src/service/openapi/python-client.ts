import {
  type ClientClass,
  type ClientMethod,
  type ClientSources,
  readClientMethods,
} from './client-methods.ts';
import type { JsonSchema, OpenApi, Operation, Parameter, Response } from './document-types.ts';
import {
  declareRequests,
  docstring,
  PythonTypes,
  pythonName,
  pythonText,
  renderPythonTypes,
} from './python-types.ts';

/** Routes that no client has a method for: a browser or a payment rail sends them, or they are no part of the API. */
const WITHOUT_METHOD = /^\/v1\/(auth\/|rails\/\{id\}\/events$)|^\/(?!v1\/)/;

/** The modules of the client have short names here, so that no noun of the API takes the name of what is in them. */
const HEAD = `# Built from the routes of the service and the methods of the TypeScript client; do not edit.
from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Literal, cast

from . import _core as c
from . import _pages as p
from . import _transport as w
from . import types as t

if sys.version_info >= (3, 12):
    from typing import Unpack
else:
    from typing_extensions import Unpack
`;

/** The Python client's types and methods: path from the root of the repository → text. Throws for what it cannot render. */
export function renderPython(document: OpenApi, sources: ClientSources): Record<string, string> {
  const types = new PythonTypes(document);
  declareRequests(types, document);
  const { classes, nouns } = readClientMethods(sources);
  const render = (is_async: boolean) =>
    classes.map((each) => renderClass(each, { document, types, is_async })).join('\n\n');
  const groups = [false, true].map((is_async) => renderNouns(nouns, is_async)).join('\n\n');
  const text = `${HEAD}\n\n${render(false)}\n\n${render(true)}\n\n${groups}`;
  return {
    'python/src/purser/types.py': renderPythonTypes(types, document),
    'python/src/purser/_resources.py': text,
  };
}

/** Throws if a route of the API has no method in the client, so that none is forgotten in any language. */
export function checkMethods(document: OpenApi, sources: ClientSources): void {
  const { classes } = readClientMethods(sources);
  const called = new Set(
    classes.flatMap(({ methods }) => methods.map(({ method, path }) => `${method} ${path}`)),
  );
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      const route = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`;
      if (WITHOUT_METHOD.test(path) || called.has(route)) continue;
      throw new Error(`${operationId} (${route}) has no method: add one to sdk/src/resources.ts`);
    }
  }
}

interface Context {
  document: OpenApi;
  types: PythonTypes;
  is_async: boolean;
}

function renderNouns(nouns: [string, string][], is_async: boolean): string {
  const lines = nouns.map(
    ([noun, type]) => `        self.${noun} = ${is_async ? 'Async' : ''}${type}(core)\n`,
  );
  const base = is_async ? 'c.AsyncResource' : 'c.Resource';
  return `class ${is_async ? 'Async' : ''}Nouns(${base}):\n    def __init__(self, core: c.${is_async ? 'AsyncCore' : 'Core'}) -> None:\n        super().__init__(core)\n${lines.join('')}`;
}

function renderClass({ name, doc, nested, methods }: ClientClass, context: Context): string {
  const { is_async } = context;
  const prefix = is_async ? 'Async' : '';
  const own =
    nested.length === 0
      ? ''
      : `    def __init__(self, core: c.${prefix}Core) -> None:\n        super().__init__(core)\n${nested
          .map(([noun, type]) => `        self.${noun} = ${prefix}${type}(core)\n`)
          .join('')}\n`;
  const rendered = methods.map((method) => renderMethod(method, context)).join('\n');
  return `class ${prefix}${name}(c.${prefix}Resource):\n${docstring(doc, '    ')}${own}${rendered}`;
}

/** The types of the files that a method sends, as Python writes them. */
const fileTypes = ({ requestBody }: Operation) =>
  `Literal[${Object.keys(requestBody?.content ?? {})
    .map(pythonText)
    .join(', ')}]`;

function renderMethod(given: ClientMethod, context: Context): string {
  const { document, is_async } = context;
  const operation = document.paths[given.path.replace(/:(\w+)/g, '{$1}')]?.[given.method.toLowerCase()];
  if (operation === undefined)
    throw new Error(`sdk/src/resources.ts calls ${given.method} ${given.path}, which is no route`);
  const query = given.takes_query ? (operation.parameters ?? []).filter((each) => each.in === 'query') : [];
  const body = given.takes_body ? bodyType(operation, context) : null;
  const positional = [
    ...given.path_arguments.map(({ name, type }) => `${name}: ${type}`),
    ...(given.sends_file ? ['file: bytes'] : []),
    ...(body === null ? [] : [given.body_is_optional ? `body: ${body} | None = None` : `body: ${body}`]),
  ];
  const keywords = [
    ...(given.sends_file ? [`content_type: ${fileTypes(operation)}`] : []),
    ...query.map((each) => queryKeyword(each, context)),
    ...(given.if_match ? ['if_match: str | None = None'] : []),
  ];
  const options = given.keyed === 'by the caller' ? 'w.KeyedCallOptions' : 'w.CallOptions';
  const signature = [
    'self',
    ...positional,
    ...(keywords.length === 0 ? [] : ['*', ...keywords]),
    `**call: Unpack[${options}]`,
  ];
  const { returns, sends } = resultOf(given, operation, context);
  const awaits = is_async && sends === '_send';
  const request = callText(given, query, body !== null);
  const sent = `${awaits ? 'await ' : ''}self.${sends}(${request})`;
  const doc = given.doc ?? operation.summary;
  return [
    `    ${awaits ? 'async ' : ''}def ${given.name}(${signature.join(', ')}) -> ${returns}:\n`,
    docstring(doc, '        '),
    returns === 'None'
      ? `        ${sent}\n`
      : given.streamed
        ? `        return ${sent}\n`
        : `        return cast(${pythonText(returns)}, ${sent})\n`,
  ].join('');
}

/** The type that a method gives, and the method of its base class that sends it. */
function resultOf(
  { kind, streamed, method }: ClientMethod,
  operation: Operation,
  context: Context,
): { returns: string; sends: string } {
  const { is_async } = context;
  if (streamed) {
    const manager = is_async
      ? 'AbstractAsyncContextManager[p.AsyncLines]'
      : 'AbstractContextManager[p.Lines]';
    return { returns: manager, sends: '_stream' };
  }
  const schema = answerSchema(operation);
  if (kind === 'pages') {
    const item = itemOf(schema as JsonSchema, context);
    return { returns: `p.${is_async ? 'AsyncPages' : 'Page'}[${item}]`, sends: '_pages' };
  }
  if (schema === null || method === 'DELETE') return { returns: 'None', sends: '_send' };
  return { returns: inClient(schema, `${operation.operationId}Answer`, context), sends: '_send' };
}

function answerSchema({ responses }: Operation): JsonSchema | null {
  const success = Object.entries(responses).find(([status]) => /^2/.test(status))?.[1] as
    | Response
    | undefined;
  return success?.content?.['application/json']?.schema ?? null;
}

/** The items of a page of a list. */
function itemOf(schema: JsonSchema, context: Context): string {
  const name = (schema.$ref as string | undefined)?.split('/').at(-1);
  const page = name === undefined ? schema : (context.document.components.schemas[name] as JsonSchema);
  const { data } = page.properties as Record<string, JsonSchema>;
  return inClient((data as JsonSchema).items as JsonSchema, `${name ?? ''}DataItem`, context);
}

function bodyType(operation: Operation, context: Context): string | null {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return null;
  if (schema.$ref !== undefined) return inClient(schema, '', context);
  return `t.${operation.operationId.replace(/^./, (letter) => letter.toUpperCase())}Request`;
}

function queryKeyword({ name, schema, required }: Parameter, context: Context): string {
  const type =
    schema.type === 'array'
      ? `${inClient(schema.items as JsonSchema, name, context)} | Sequence[${inClient(schema.items as JsonSchema, name, context)}]`
      : inClient(schema, name, context);
  return required ? `${pythonName(name)}: ${type}` : `${pythonName(name)}: ${type} | None = None`;
}

/** A type as `_resources.py` names it: every declared one is in `t`. */
function inClient(schema: JsonSchema, owner: string, { types }: Context): string {
  const type = types.typeOf(schema, owner);
  const names = types.names();
  return type.replace(/"(?:[^"\\]|\\.)*"|\b[A-Z]\w*\b/g, (word) => (names.has(word) ? `t.${word}` : word));
}

function callText(given: ClientMethod, query: Parameter[], with_body: boolean): string {
  const { method, path, path_arguments, fixed_query } = given;
  const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
  const params = path_arguments
    .slice(0, names.length)
    .map(
      ({ name, type }, index) =>
        `${pythonText(names[index] as string)}: ${type === 'int' ? `str(${name})` : name}`,
    );
  const sent = [
    ...query.map(({ name }) => `${pythonText(name)}: ${pythonName(name)}`),
    ...(fixed_query === undefined ? [] : [`${pythonText(fixed_query.name)}: ${fixed_query.argument}`]),
  ];
  const parts = [pythonText(method), pythonText(path), 'call'];
  if (params.length > 0) parts.push(`params={${params.join(', ')}}`);
  if (sent.length > 0) parts.push(`query={${sent.join(', ')}}`);
  if (with_body) parts.push(given.body_is_optional ? 'body={} if body is None else body' : 'body=body');
  if (given.sends_file) parts.push('file=w.File(file, content_type)');
  if (given.keyed !== undefined) parts.push(`keyed=${pythonText(given.keyed)}`);
  if (given.repeatable) parts.push('repeatable=True');
  if (given.shape !== undefined) parts.push(`shape=${pythonText(given.shape)}`);
  else if (given.kind === 'pages') parts.push('shape="page"');
  if (given.accept !== undefined) parts.push(`accept=${pythonText(given.accept)}`);
  if (given.streamed) parts.push('streamed=True');
  if (given.if_match) parts.push('if_match=if_match');
  if (given.takes_long !== undefined) parts.push(`extra=w.${given.takes_long}_SECONDS`);
  if (fixed_query !== undefined) parts.push(`extra=${fixed_query.argument}`);
  return `w.Call(${parts.join(', ')})`;
}
