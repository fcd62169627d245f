import { ERRORS } from '@purser/contract/errors';
import type { DocsSection } from '../pages/docs-search.ts';
import { esc } from '../pages/html.ts';
import type { JsonSchema, OpenApi, Operation, Parameter, Response } from './document-types.ts';
import { KEYED_ERRORS } from './error-responses.ts';
import { responseOf } from './openapi.ts';
import { exampleOf, type FieldRow, fieldRows, refName, resolve, typeInWords } from './schema-words.ts';

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** The parts of the reference page: HTML without any script. */
export interface Reference {
  title: string;
  contents: string;
  body: string;
  /** The operations, errors and objects, for a search. */
  sections: DocsSection[];
}

/** Makes the reference of an OpenAPI document and the table of errors. */
export function makeReference(document: OpenApi): Reference {
  const entries: Entry[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    id: `group-${tag.name.toLowerCase().replaceAll(' ', '-')}`,
    entries: entries.filter((entry) => entry.operation.tags[0] === tag.name),
  }));
  const objects = Object.entries(document.components.schemas);
  const { title, version, summary, description } = document.info;
  return {
    title,
    contents: `<span class="version">version ${esc(version)} · <a href="/openapi.json">openapi.json</a></span>
${groups
  .map(
    (group) => `<h4><a href="/docs#${group.id}">${esc(group.name)}</a></h4>
<ol>${group.entries.map(contentsLine).join('')}</ol>`,
  )
  .join('\n')}
<h4>Reference</h4>
<ol><li><a href="/docs#errors">Errors</a></li>${objects
      .map(([name]) => `<li><a href="/docs#object-${esc(name)}">${esc(name)}</a></li>`)
      .join('')}</ol>`,
    body: `<div class="intro">
<h1>${esc(title)}</h1>
<p class="lead">${esc(summary)}</p>
${markdown(description)}
</div>
${groups
  .map(
    (group) => `<section class="group" id="${group.id}">
<h2>${esc(group.name)}</h2>
<p>${esc(group.description)}</p>
${group.entries.map((entry) => operationArticle(entry, document)).join('\n')}
</section>`,
  )
  .join('\n')}
<section class="group" id="errors">
<h2>Errors</h2>
<p>Every refusal and failure has one shape. Clients branch on <code>code</code>; <code>message</code> is for people.</p>
<article>${errorTable(document)}</article>
</section>
<section class="group" id="objects">
<h2>Objects</h2>
<p>The objects in requests and responses.</p>
${objects.map(([name, schema]) => objectArticle(name, schema, document)).join('\n')}
</section>`,
    sections: referenceSections(document, entries),
  };
}

/** The operations, errors and objects as a search finds them, with the fields of each. */
function referenceSections(document: OpenApi, entries: readonly Entry[]): DocsSection[] {
  const fieldsOf = (schema: JsonSchema) => {
    const resolved = resolve(schema, document);
    const forms = ((resolved.anyOf ?? resolved.oneOf) as JsonSchema[] | undefined) ?? [resolved];
    return forms.flatMap((form) =>
      fieldRows(resolve(form, document), document).map(({ name, description }) => `${name} ${description}`),
    );
  };
  return [
    ...entries.map(({ method, path, operation }) => {
      const body = operation.requestBody?.content['application/json']?.schema;
      const parameters = (operation.parameters ?? []).map(
        ({ name, description = '' }) => `${name} ${description}`,
      );
      const fields = body === undefined ? [] : fieldsOf(body);
      return {
        href: `/docs#${operation.operationId}`,
        title: `${operation.summary.replace(/\.$/, '')} (${method} ${path})`,
        text: [operation.description, ...parameters, ...fields].join(' '),
      };
    }),
    ...Object.entries(ERRORS).map(([code, { status, when }]) => ({
      href: `/docs#error-${code}`,
      title: `Error ${code} (${status})`,
      text: when,
    })),
    ...Object.entries(document.components.schemas).map(([name, schema]) => ({
      href: `/docs#object-${name}`,
      title: `Object ${name}`,
      text: [schema.description ?? '', ...fieldsOf(schema)].join(' '),
    })),
  ];
}

function contentsLine({ method, operation }: Entry): string {
  return `<li><a href="/docs#${esc(operation.operationId)}">${methodMark(method)}<span>${esc(
    operation.summary.replace(/\.$/, ''),
  )}</span></a></li>`;
}

function methodMark(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function operationArticle({ method, path, operation }: Entry, document: OpenApi): string {
  const scopes = operation.security.flatMap((one) => Object.values(one).flat());
  const needs =
    scopes.length === 0
      ? 'No key is needed.'
      : `Needs a key with the scope ${scopes.map((scope) => `<code>${esc(scope)}</code>`).join(' or ')}.`;
  const shown_path = esc(path).replace(/\{(\w+)\}/g, '<b>{$1}</b>');
  return `<article id="${esc(operation.operationId)}">
<div class="columns">
<div>
<h3>${esc(operation.summary.replace(/\.$/, ''))}</h3>
<div class="endpoint">${methodMark(method)}<span class="path">${shown_path}</span></div>
<p class="scopes">${needs}</p>
${markdown(operation.description)}
${parameterTable(operation.parameters ?? [], document)}
${bodyTables(operation, document)}
${answerTable(operation, document)}
</div>
<div class="aside">
<h4>Request</h4>
<pre><code>${esc(curlExample(method, path, operation, document))}</code></pre>
${answerExample(operation, document)}
</div>
</div>
</article>`;
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers' } as const;

function parameterTable(parameters: Parameter[], document: OpenApi): string {
  return (['path', 'header', 'query'] as const)
    .map((place) => {
      const rows = parameters
        .filter((parameter) => parameter.in === place)
        .map((parameter) => ({
          name: parameter.name,
          required: parameter.required,
          type: typeInWords({ ...parameter.schema, description: parameter.description }, document),
          refers_to: null,
          description: parameter.description ?? '',
        }));
      return rows.length === 0 ? '' : `<h4>${PLACES[place]}</h4>${fieldTable(rows)}`;
    })
    .join('');
}

function bodyTables(operation: Operation, document: OpenApi): string {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return '';
  const resolved = resolve(schema, document);
  const forms = ((resolved.anyOf ?? resolved.oneOf) as JsonSchema[] | undefined) ?? [resolved];
  return forms
    .map((form, index) => {
      const heading = index === 0 ? 'Body' : 'or body';
      return `<h4>${heading}</h4>${fieldTable(fieldRows(resolve(form, document), document))}`;
    })
    .join('');
}

function fieldTable(rows: FieldRow[]): string {
  if (rows.length === 0) return '<p>Any fields.</p>';
  return `<div class="scroll"><table>
<thead><tr><th>Field</th><th>Contents</th></tr></thead>
<tbody>${rows
    .map((row) => {
      const needed = row.required ? '<span class="needed">required</span>' : '';
      const type = esc(row.type);
      const shown =
        row.refers_to === null
          ? type
          : type.replace(row.refers_to, `<a href="#object-${esc(row.refers_to)}">${esc(row.refers_to)}</a>`);
      return `<tr><td><code>${esc(row.name)}</code>${needed}</td><td>${
        row.description === '' ? '' : `<p>${inline(row.description)}</p>`
      }<span class="type">${shown}</span></td></tr>`;
    })
    .join('\n')}</tbody></table></div>`;
}

/** Codes that nearly every operation has; they are told once, in the table of errors. */
const EVERYWHERE = new Set<string>(KEYED_ERRORS);

function answerTable(operation: Operation, document: OpenApi): string {
  const rows: string[] = [];
  const common: string[] = [];
  for (const [status, given] of Object.entries(operation.responses)) {
    const response = responseOf(given, document);
    if (Number(status) < 400) {
      rows.push(answerRow(status, answerWords(response)));
      continue;
    }
    const [own, shared] = splitBy(
      response.description.split('\n\n'),
      (line) => !EVERYWHERE.has(codeOf(line)),
    );
    if (own.length > 0) rows.push(answerRow(status, own.map((line) => `<p>${inline(line)}</p>`).join('')));
    common.push(...shared.map((line) => `<a href="#error-${codeOf(line)}"><code>${codeOf(line)}</code></a>`));
  }
  if (common.length > 0)
    rows.push(`<tr><td class="also">also</td><td><p class="codes">${common.join(' ')}</p></td></tr>`);
  return `<h4>Answers</h4><div class="scroll"><table class="answers"><tbody>${rows.join('\n')}</tbody></table></div>`;
}

function answerRow(status: string, words: string): string {
  const mood = Number(status) < 400 ? 'good' : 'bad';
  return `<tr><td><span class="status ${mood}">${status}</span></td><td>${words}</td></tr>`;
}

function answerWords(response: Response): string {
  const [media] = Object.values(response.content ?? {});
  const name = media === undefined ? null : refName(media.schema);
  const link = name === null ? '' : ` <a href="#object-${esc(name)}">${esc(name)}</a>`;
  const headers = Object.entries(response.headers ?? {})
    .filter(([, header]) => header.description !== undefined)
    .map(([header, { description }]) => `<p><code>${esc(header)}</code> ${inline(description ?? '')}</p>`);
  return `<p>${inline(response.description)}${link}</p>${headers.join('')}`;
}

/** `not_found` of "`not_found`: No such …". */
function codeOf(line: string): string {
  return /^`(\w+)`/.exec(line)?.[1] ?? '';
}

function splitBy<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function curlExample(method: string, path: string, operation: Operation, document: OpenApi): string {
  const parameters = operation.parameters ?? [];
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    const [example] = (parameter?.schema.examples ?? []) as unknown[];
    return example === undefined ? `${String(name).toUpperCase()}` : String(example);
  });
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((one) => `${one.name}=${encodeURIComponent(String(exampleOf(one.schema, document, true)))}`)
    .join('&');
  const url = `"$PURSER_URL${filled}${query === '' ? '' : `?${query}`}"`;
  const lines = [method === 'GET' ? `curl ${url}` : `curl -X ${method} ${url}`];
  if (operation.security.length > 0) lines.push('-H "x-api-key: $PURSER_KEY"');
  for (const parameter of parameters) {
    if (parameter.in === 'header' && parameter.required)
      lines.push(`-H "${parameter.name}: ${String(exampleOf(parameter.schema, document, true))}"`);
  }
  const body = operation.requestBody?.content['application/json']?.schema;
  if (body !== undefined) {
    const example = JSON.stringify(exampleOf(body, document, true), null, 2);
    lines.push('-H "content-type: application/json"', `-d '${example.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n  ');
}

function answerExample(operation: Operation, document: OpenApi): string {
  const answers = Object.entries(operation.responses).filter(([code]) => Number(code) < 400);
  // Beside a 201, a 200 is what a repetition answers.
  const [status, response] = answers.find(([code]) => code === '201') ?? answers[0] ?? [];
  if (status === undefined || response === undefined) return '';
  const schema = responseOf(response, document).content?.['application/json']?.schema;
  if (schema === undefined) return '';
  const text = JSON.stringify(exampleOf(schema, document, false), null, 2);
  const shown = `<pre><code>${esc(text)}</code></pre>`;
  // A long answer would push the next operation out of sight.
  const body = text.split('\n').length > 24 ? `<details><summary>Show</summary>${shown}</details>` : shown;
  return `<h4>Answer ${status}</h4>${body}`;
}

function errorTable(document: OpenApi): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, when, retry }]) =>
      `<tr id="error-${esc(code)}"><td><span class="status bad">${status}</span></td><td><code>${esc(code)}</code></td><td>${inline(when)}</td><td>${retry ? 'yes' : 'no'}</td></tr>`,
  );
  const example = JSON.stringify(
    exampleOf(document.components.schemas.Error ?? {}, document, false),
    null,
    2,
  );
  return `<div class="columns"><div class="scroll"><table class="errors">
<thead><tr><th>Status</th><th>Code</th><th>When</th><th>Retry?</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
<div class="aside"><pre><code>${esc(example)}</code></pre></div></div>`;
}

function objectArticle(name: string, schema: JsonSchema, document: OpenApi): string {
  const forms = ((schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined) ?? [schema];
  const tables = forms.map((form) => fieldTable(fieldRows(resolve(form, document), document)));
  return `<article id="object-${esc(name)}">
<h3>${esc(name)}</h3>
${schema.description === undefined ? '' : markdown(String(schema.description))}
${tables.join('<h4>or</h4>')}
</article>`;
}

/** Code and bold within a line. */
function inline(text: string): string {
  return esc(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** The little of Markdown that descriptions use: paragraphs, lists, code and bold. */
function markdown(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => {
      const lines = block.trim().split('\n');
      return lines.every((line) => line.startsWith('- '))
        ? `<ul class="prose">${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`
        : `<p>${inline(lines.join(' '))}</p>`;
    })
    .join('\n');
}
