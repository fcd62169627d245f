import type { JsonSchema, OpenApi } from './document-types.ts';

const HEAD = `// Built from the schemas that check requests and answers; do not edit.
`;

/**
 * The types of the API as TypeScript text: every named schema, the bodies and queries of operations that have no
 * name of their own (`CreateAgentRequest`, `ListAgentsQuery`), and `WebhookEvent`. Nothing in it exists at run time.
 */
export function renderTypes(document: OpenApi): string {
  const types = Object.entries(document.components.schemas).map(([name, schema]) =>
    declaration(name, schema),
  );
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const Operation = operation.operationId.replace(/^./, (letter) => letter.toUpperCase());
      const of = `of \`${method.toUpperCase()} ${path}\`.`;
      const body = operation.requestBody?.content['application/json']?.schema;
      // A file is no type of its own.
      if (body !== undefined && body.$ref === undefined && body.format !== 'binary') {
        types.push(declaration(`${Operation}Request`, { description: `The body ${of}`, ...body }));
      }
      const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      if (query.length === 0) continue;
      const properties = Object.fromEntries(
        // What takes several values takes one as well.
        query.map(({ name, description, schema }) => [
          name,
          schema.type === 'array'
            ? { description, anyOf: [schema.items as JsonSchema, schema] }
            : { description, ...schema },
        ]),
      );
      types.push(
        declaration(`${Operation}Query`, { description: `The query ${of}`, type: 'object', properties }),
      );
    }
  }
  const events = Object.values(document.webhooks).map(({ post }) => post.operationId);
  types.push(
    `/** What is delivered to webhook endpoints. */\nexport type WebhookEvent = ${events.join(' | ')};\n`,
  );
  return [HEAD, ...types].join('\n');
}

function declaration(name: string, schema: JsonSchema): string {
  const text = typeOf(schema, '');
  const exported =
    schema.type === 'object' && text.startsWith('{')
      ? `export interface ${name} ${text}`
      : `export type ${name} = ${text};`;
  return `${comment(schema, '')}${exported}\n`;
}

function comment({ description }: JsonSchema, indent: string): string {
  if (typeof description !== 'string' || description === '') return '';
  return `${indent}/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', `\n${indent} * `)} */\n`;
}

function typeOf(schema: JsonSchema, indent: string): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) as string;
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  if (Array.isArray(schema.anyOf)) {
    return (schema.anyOf as JsonSchema[]).map((branch) => typeOf(branch, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const items = schema.items as JsonSchema;
      const type = typeOf(items, indent);
      return items.enum !== undefined || items.anyOf !== undefined ? `(${type})[]` : `${type}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      throw new Error(`there is no TypeScript for ${JSON.stringify(schema).slice(0, 200)}`);
  }
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

function objectType(schema: JsonSchema, indent: string): string {
  const { additionalProperties } = schema;
  const required = (schema.required ?? []) as string[];
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  if (fields.length === 0 && additionalProperties !== false) {
    const values = typeof additionalProperties === 'object' ? (additionalProperties as JsonSchema) : null;
    return `Record<string, ${values === null ? 'unknown' : typeOf(values, indent)}>`;
  }
  const inner = `${indent}  `;
  const lines = fields.map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
    const type = typeOf(field, inner);
    // Whoever builds a request need not leave out what is undefined: JSON leaves it out.
    const told = required.includes(name) ? `${key}: ${type}` : `${key}?: ${type} | undefined`;
    return `${comment(field, inner)}${inner}${told};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}
