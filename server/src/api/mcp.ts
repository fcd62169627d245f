import Type from 'typebox';
import { ApiError } from '../errors.ts';
import type { Call, Route } from '../http/route.ts';
import type { Site } from '../people/site.ts';

/** JSON-RPC: what is in it is for the protocol's library to judge. */
const Message = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'McpMessage',
  description: 'One JSON-RPC message of the Model Context Protocol.',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

/**
 * Makes the route that speaks the Model Context Protocol. It does nothing itself: every tool calls the routes of the API
 * with the caller's own key. `onFailure` is told of what fails unforeseen.
 */
export function makeMcpRoute({
  site,
  onFailure,
}: {
  site: Pick<Site, 'checkEntrance'>;
  onFailure: (error: unknown) => void;
}): Route {
  // Loaded with the first message: the protocol's libraries take a sixth of the memory, and most processes never need them.
  const load = async () => {
    const { makeHttpDoor, offersOf } = await import('@purser/mcp');
    return { door: makeHttpDoor(onFailure), offersOf };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return {
    method: 'POST',
    path: '/mcp',
    operationId: 'mcp',
    tag: 'Service',
    summary: 'The Model Context Protocol, for agents and reviewers',
    description:
      'One JSON-RPC message of the revision 2026-07-28, or of those up to 2025-11-25. Stateless. The key comes as `Authorization: Bearer` or as `x-api-key`, and decides which tools there are; keys with `admin` or `consume` are refused. Each message counts as a request, and so does each route that a tool calls.',
    scopes: ['authorize', 'review', 'read'],
    entrance: { check: site.checkEntrance },
    body: Message,
    responses: {
      200: { description: 'The answer.', schema: Message, or_as: ['text/event-stream'] },
      202: { description: 'A notification was taken.', schema: null },
    },
    errors: ['method_not_allowed', 'misdirected_request'],
    handler: async ({ caller, headers, body: message, dispatch }: Call) => {
      loaded ??= load();
      const { door, offersOf } = await loaded;
      const offers = offersOf(caller);
      if ('refusal' in offers) throw new ApiError('insufficient_scope', offers.refusal);
      const { status, content_type, body } = await door.answer({
        headers,
        message,
        holder: caller,
        call: async ({ idempotency_key, ...request }) => {
          const keyed = idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key };
          const answered = await dispatch({ ...request, headers: keyed });
          return { status: answered.status, body: answered.json };
        },
      });
      if (typeof body !== 'string') return { status, stream: { chunks: body, content_type, is_live: true } };
      return { status, ...(body === '' ? {} : { text: { content: body, content_type } }) };
    },
  };
}
