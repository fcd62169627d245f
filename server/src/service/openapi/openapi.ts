import type { RouteData } from '@purser/contract/route';
import { ROLES, scopesOfRole } from '@purser/contract/values/scopes';
import type { TSchema } from 'typebox';
import { ErrorBody } from '../http/schemas.ts';
import type { JsonSchema, OpenApi, Operation, Parameter, Response, ResponseRef } from './document-types.ts';
import { errorResponses } from './error-responses.ts';

const INTRODUCTION = `Purser decides whether a software agent may make a spend, holds the money it allows, and keeps a tamper-evident history.

Every request carries its key in the header \`x-api-key\`. Bodies are JSON in UTF-8, at most 64 KiB. Unknown fields and query parameters are refused, so a mistyped limit is never ignored.

Money is an integer in minor units of its currency (\`1250\` with \`USD\` is 12.50 dollars, with \`JPY\` 1250 yen). Times are ISO 8601 in UTC.

Every response carries \`x-request-id\`; a client may send its own of 1 to 128 safe characters. A W3C \`traceparent\` appears in the logs.

A key may make a limited number of requests per minute (600 by default), including refused ones. \`RateLimit-Policy\` and \`RateLimit\` show the usage; over the limit the response is 429 with \`Retry-After: 60\`.

If \`idempotency-key\` is required, a request sent twice is carried out once: the second response repeats the first, with status 200 and the header \`idempotent-replay: true\`.

Lists return \`data\`, newest first, and \`next_cursor\`; give \`next_cursor\` as \`cursor\` for the next page.`;

const TAG_DESCRIPTIONS: Record<RouteData['tag'], string> = {
  Decisions: 'Request decisions about spends, and read them.',
  'Reviews and labels': "People's verdicts on decisions.",
  Outcomes: 'The results of spends.',
  Capabilities: 'Permissions that a payment adapter consumes in ENFORCE to make a payment.',
  Agents: 'The agents of the workspace and their authorities.',
  Merchants:
    'Merchants that people list for an agent in addition to its authority, and suggestions for the list.',
  Questions: 'What made spends of an agent unclear, each question once, and what people answered.',
  Budgets: 'Budgets that several agents share.',
  History: 'What payment rails say was paid, imported from their files.',
  Allowances: 'Caps on what may be spent for one task, sub-agent, user or customer.',
  Search: 'Find anything by a part of its text.',
  'API keys': 'Keys that call this API, and their scopes.',
  Reports: 'Results of SHADOW, and findings against ENFORCE.',
  Webhooks: 'Signed events, pushed to your own service and retried.',
  Notices: 'Messages about requests that wait for a review, and the channels that get them.',
  Workspace: 'The plan, the quotas and the administrative history of the workspace.',
  People: 'Members, their roles, and invitations.',
  'Sign-in': 'Sign-in, sessions and accounts of people.',
  'Signing keys': 'Passkeys with which people sign approvals, provable outside the service.',
  Ledger: 'The hash-chained history and its verification.',
  Service: 'The state of the service itself. No key is needed.',
};

/** How often an agent key's exception is told: once, in the same words everywhere. */
const OWN_ONLY = "An agent key may also call this without the scope; it sees only its own agent's data.";

export interface OpenApiOptions {
  version: string;
  /** Webhook events: the body of each type, and when it is sent. */
  events: Readonly<Record<string, { summary: string; body: TSchema }>>;
}

/** `openapi.json`: the routes as they are declared. Throws when two different schemas share an `$id`. */
export function makeOpenApi(routes: readonly RouteData[], options: OpenApiOptions): OpenApi {
  const shared: Shared = { schemas: {}, errors: {} };
  const { schemas } = shared;
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const path = route.path.replace(/:([A-Za-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, shared) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Purser API',
      version: options.version,
      summary: 'Spend authorization for software agents.',
      description: INTRODUCTION,
      contact: { name: 'The administrator of this Purser' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({
      name,
      description: TAG_DESCRIPTIONS[name],
    })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(options.events).map(([type, { summary, body }]) => [
        type,
        { post: delivery(summary, publicForm(body, schemas)) },
      ]),
    ),
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'A key (`sk_…`). Any one of the scopes listed for an operation is sufficient.',
        },
        Session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-purser',
          description:
            'The session of a signed-in person, sent by the browser. On plain http at a loopback address the cookie has another name. A request other than GET needs `Sec-Fetch-Site: same-origin` or an `Origin` of the service. The role must have one of the scopes listed for an operation; if none is listed, every role is allowed.',
        },
      },
      headers: {
        'x-request-id': {
          description: "The request's id: the client's own or a generated one.",
          schema: { type: 'string' },
        },
        'RateLimit-Policy': {
          description: 'The limit: `q` requests in `w` seconds.',
          schema: { type: 'string', examples: ['"default";q=600;w=60'] },
        },
        RateLimit: {
          description: "The key's usage: `r` requests left, reset in `t` seconds.",
          schema: { type: 'string', examples: ['"default";r=599;t=60'] },
        },
      },
      responses: sorted(shared.errors),
      schemas: sorted(schemas),
    },
  };
}

/** References of operations to `components`, collected while rendering. */
interface Shared {
  schemas: Record<string, JsonSchema>;
  errors: Record<string, Response>;
}

function sorted<T>(named: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The response that `response` is or names. */
export function responseOf(response: Response | ResponseRef, { components }: OpenApi): Response {
  return '$ref' in response
    ? (components.responses[response.$ref.split('/').at(-1) as string] as Response)
    : response;
}

function operation(route: RouteData, shared: Shared): Operation {
  const { schemas } = shared;
  const is_public = route.scopes === 'public';
  const parameters = [
    ...pathParameters(route, schemas),
    ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
    ...parametersOf(route.query, 'query', schemas),
  ];
  const headers: Response['headers'] = { 'x-request-id': { $ref: '#/components/headers/x-request-id' } };
  if (!is_public) {
    headers['RateLimit-Policy'] = { $ref: '#/components/headers/RateLimit-Policy' };
    headers.RateLimit = { $ref: '#/components/headers/RateLimit' };
  }

  const error_body = publicForm(ErrorBody, schemas);
  const responses: Operation['responses'] = {};
  for (const [status, answer] of Object.entries(route.responses)) {
    const own = Object.entries(answer.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]);
    responses[status] = {
      description: answer.description,
      headers: { ...headers, ...Object.fromEntries(own) },
      ...(answer.schema === null
        ? {}
        : {
            content: {
              [answer.content_type ?? 'application/json']: { schema: publicForm(answer.schema, schemas) },
              ...Object.fromEntries(
                (answer.or_as ?? []).map((type) => [type, { schema: { type: 'string' } }]),
              ),
            },
          }),
    };
  }
  for (const { status, name, response } of errorResponses(route, headers, error_body)) {
    shared.errors[name] = response;
    responses[status] = { $ref: `#/components/responses/${name}` };
  }

  return {
    operationId: route.operationId,
    summary: route.summary,
    description: route.agentKey === 'own' ? `${route.description}\n\n${OWN_ONLY}` : route.description,
    tags: [route.tag],
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.bodyOptional !== true,
            content: { 'application/json': { schema: publicForm(route.body, schemas) } },
          },
        }),
    ...(route.content === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              route.content.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]),
            ),
          },
        }),
    responses,
  };
}

/** One entry for each scope of a key that is enough, then one for each that a person's role gives. */
function securityOf({ scopes, is_entrance }: RouteData): Record<string, string[]>[] {
  if (scopes === 'public') return [];
  if (scopes === 'session') return [{ Session: [] }];
  if (is_entrance) return scopes.map((scope) => ({ ApiKey: [scope] }));
  const of_people = scopes.filter((scope) => ROLES.some((role) => scopesOfRole(role).includes(scope)));
  return [
    ...scopes.map((scope) => ({ ApiKey: [scope] })),
    ...of_people.map((scope) => ({ Session: [scope] })),
  ];
}

function delivery(summary: string, schema: JsonSchema): Omit<Operation, 'parameters'> {
  return {
    operationId: (schema.$ref as string).split('/').at(-1) as string,
    summary,
    description: 'Signed in `x-svc-signature`. Delivered at least once, in any order.',
    tags: ['Webhooks'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Received.' },
      '4XX': { description: 'Not received: the event is sent again, as after any response other than 2xx.' },
    },
  };
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  required: true,
  description: 'Identifies this request; sending it again with the same key has no further effect.',
  schema: {
    type: 'string',
    pattern: '^[!-~]{1,255}$',
    minLength: 1,
    maxLength: 255,
    examples: ['order-4711'],
  },
};

function pathParameters(route: RouteData, schemas: Record<string, JsonSchema>): Parameter[] {
  const declared = parametersOf(route.params, 'path', schemas);
  return [...route.path.matchAll(/:([A-Za-z_]+)/g)].map(
    ([, name]) =>
      declared.find((parameter) => parameter.name === name) ?? {
        name: name as string,
        in: 'path',
        required: true,
        schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
      },
  );
}

function parametersOf(
  schema: TSchema | undefined,
  place: 'path' | 'query',
  schemas: Record<string, JsonSchema>,
): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = publicNode(schema, schemas) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description: description as string }),
    ...(rest.type === 'array' ? { style: 'form' as const, explode: false as const } : {}),
    schema: rest,
  }));
}

/** The schema without our own keywords; one with an `$id` is put into `schemas` and referred to. */
function publicForm(schema: TSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  const { $id } = schema as { $id?: string };
  const node = publicNode(schema, schemas);
  if ($id === undefined) return node;
  const known = schemas[$id];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(node))
    throw new Error(`two different schemas have the $id ${$id}`);
  schemas[$id] = node;
  return { $ref: `#/components/schemas/${$id}` };
}

/** Keywords whose values are data, not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'examples', 'required']);
/** Keywords whose values are maps from names to schemas: a name there is no keyword. */
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs']);

function publicNode(schema: TSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  const node: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$id' || keyword.startsWith('x-')) continue;
    if (DATA_KEYWORDS.has(keyword) || typeof value !== 'object' || value === null) node[keyword] = value;
    else if (MAP_KEYWORDS.has(keyword))
      node[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, publicForm(part as TSchema, schemas)]),
      );
    else if (Array.isArray(value)) node[keyword] = value.map((part) => publicForm(part as TSchema, schemas));
    else node[keyword] = publicForm(value as TSchema, schemas);
  }
  return node;
}
