import { Type } from 'typebox';
import { route } from '../route.ts';

/** JSON-RPC: what is in it is for the protocol's library to judge. */
const Message = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'McpMessage',
  description: 'One JSON-RPC message of the Model Context Protocol.',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

export const routes = {
  mcp: route({
    method: 'POST',
    path: '/mcp',
    operationId: 'mcp',
    tag: 'Service',
    summary: 'The Model Context Protocol, for agents and reviewers',
    description:
      'One JSON-RPC message of revision 2026-07-28, or of revisions up to 2025-11-25. Stateless. Send the key as `Authorization: Bearer` or as `x-api-key`; its scopes decide which tools are available. Keys with `admin` or `consume` are refused. Each message counts as a request, and so does each route that a tool calls.',
    scopes: ['authorize', 'review', 'read'],
    is_entrance: true,
    body: Message,
    responses: {
      200: { description: 'The answer.', schema: Message, or_as: ['text/event-stream'] },
      202: { description: 'A notification was accepted.', schema: null },
    },
    errors: ['method_not_allowed', 'misdirected_request'],
  }),
};
