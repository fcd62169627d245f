import { route } from '@purser/contract/route';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { type Route, serve, storedJson } from '../../src/service/http/route.ts';
import { Fields, OneOf, QueryInteger } from '../../src/service/http/schemas.ts';

const shared = { tag: 'Service', summary: '', description: '', scopes: ['read'], errors: [] } as const;
const thing = Fields({ id: Type.String(), size: OneOf(['S', 'L']), parts: Type.Array(Type.String()) });

const getThing = route({
  ...shared,
  method: 'GET',
  path: '/things/:id',
  operationId: 'getThing',
  params: Fields({ id: Type.String() }),
  query: Fields({ limit: Type.Optional(QueryInteger({ min: 1, max: 9 })) }),
  responses: {
    200: { description: 'The thing.', schema: thing },
    204: { description: 'None.', schema: null },
  },
});
const makeThing = route({
  ...shared,
  method: 'POST',
  path: '/things',
  operationId: 'makeThing',
  weighs: 'by_request',
  idempotent: true,
  body: Fields({ count: Type.Integer() }),
  responses: { 200: { description: 'A file.', schema: Type.String(), content_type: 'text/csv' } },
});

// `npm run types` fails if one of the lines below "@ts-expect-error" compiles.

test('a handler gets the types of its schemas, and the compiler refuses what the schemas do not have', () => {
  const served: Route[] = [
    serve(getThing)(async ({ params, query, caller }) => {
      const id: string = params.id;
      const limit: number | undefined = query.limit;
      // @ts-expect-error: the path has no such parameter
      params.name;
      // @ts-expect-error: the route takes no body
      ({}) as { body: typeof params } satisfies { body: undefined };
      return limit === undefined || caller.key_id === null
        ? { status: 204 }
        : { status: 200, body: { id, size: 'S', parts: [] } };
    }),
    serve(makeThing, { isWeighty: ({ body }) => body.count > 1 })(async ({ body, body_hash }) => ({
      status: 200,
      text: { content: `${body.count} ${body_hash.length}`, content_type: 'text/csv' },
    })),
  ];
  expect(served.map(({ operationId }) => operationId)).toEqual(['getThing', 'makeThing']);
});

test('the compiler refuses an answer that does not fit its schema', () => {
  const whole = { id: '1', size: 'S', parts: [] } as const;
  // @ts-expect-error: a field is missing
  serve(getThing)(async () => ({ status: 200, body: { id: '1', size: 'S' } }));
  // @ts-expect-error: a field has another name
  serve(getThing)(async () => ({ status: 200, body: { id: '1', sizes: 'S', parts: [] } }));
  // @ts-expect-error: a field has another type
  serve(getThing)(async () => ({ status: 200, body: { ...whole, parts: 'all' } }));
  // @ts-expect-error: a value is not in the list
  serve(getThing)(async () => ({ status: 200, body: { ...whole, size: 'XL' } }));
  // @ts-expect-error: the route has no such status
  serve(getThing)(async () => ({ status: 201, body: whole }));
  // @ts-expect-error: the answer has a body
  serve(getThing)(async () => ({ status: 200 }));
  // @ts-expect-error: text is sent only where the route says so
  serve(getThing)(async () => ({ status: 200, text: { content: '{}', content_type: 'application/json' } }));
  // @ts-expect-error: a text counts as JSON only when it is marked as stored
  serve(getThing)(async () => ({ status: 200, json: '{}' }));
  // @ts-expect-error: the route needs `isWeighty`
  serve(makeThing);
  const stored = serve(getThing)(async () => ({ status: 200, json: storedJson('{}') }));
  const given = serve(getThing)(async () => ({ status: 200, body: whole }));
  expect([stored, given].map(({ path }) => path)).toEqual(['/things/:id', '/things/:id']);
});
