import { Type } from 'typebox';
import { CreateRailBody, RailBody, RailEventBody, ReceivedBody, UpdateRailBody } from '../../rails/rails.ts';
import { route } from '../../route.ts';
import { Fields, PageQuery, page } from '../../schema.ts';

const IdParams = Fields({ id: Type.String({ description: "The rail's id." }) });

export const routes = {
  createRail: route({
    method: 'POST',
    path: '/v1/rails',
    operationId: 'createRail',
    tag: 'History',
    summary: 'Add a rail',
    description:
      'A rail takes the card events of Stripe Issuing or Lithic: they become lines, and for cards of agents in SHADOW also decisions. Create an endpoint at the vendor that sends `issuing_authorization.created`, `issuing_authorization.updated` and `issuing_transaction.created`, or `card_transaction.updated`, to `url`, and give its signing secret here or later.',
    scopes: ['admin'],
    body: CreateRailBody,
    responses: { 201: { description: 'The rail.', schema: RailBody } },
    errors: [],
  }),
  listRails: route({
    method: 'GET',
    path: '/v1/rails',
    operationId: 'listRails',
    tag: 'History',
    summary: 'List the rails',
    description: 'Newest first, without their signing secrets.',
    scopes: ['admin'],
    query: Fields(PageQuery),
    responses: { 200: { description: 'A page of rails.', schema: page(RailBody, { $id: 'RailPage' }) } },
    errors: [],
  }),
  getRail: route({
    method: 'GET',
    path: '/v1/rails/:id',
    operationId: 'getRail',
    tag: 'History',
    summary: 'Get a rail',
    description: 'With what became of its events.',
    params: IdParams,
    scopes: ['admin'],
    responses: { 200: { description: 'The rail.', schema: RailBody } },
    errors: ['not_found'],
  }),
  updateRail: route({
    method: 'PATCH',
    path: '/v1/rails/:id',
    operationId: 'updateRail',
    tag: 'History',
    summary: 'Change a rail',
    description: 'Omitted fields stay unchanged. `signing_secrets` replaces all secrets that the rail has.',
    params: IdParams,
    scopes: ['admin'],
    body: UpdateRailBody,
    responses: { 200: { description: 'The updated rail.', schema: RailBody } },
    errors: ['not_found'],
  }),
  deleteRail: route({
    method: 'DELETE',
    path: '/v1/rails/:id',
    operationId: 'deleteRail',
    tag: 'History',
    summary: 'Delete a rail',
    description: 'Its events are refused from then on. Its lines and decisions stay.',
    params: IdParams,
    scopes: ['admin'],
    responses: { 204: { description: 'Deleted.', schema: null } },
    errors: ['not_found'],
  }),
  takeRailEvent: route({
    method: 'POST',
    path: '/v1/rails/:id/events',
    operationId: 'takeRailEvent',
    tag: 'History',
    summary: 'Take an event of a rail',
    description:
      'The vendor calls it: at most 256 KiB, 6,000 events a minute from one address. The raw body must be signed with a secret of the rail: `Stripe-Signature`, or the headers of Standard Webhooks for Lithic, at most 300 s from now. An event may come again, and in any order. Purser approves no payment here: requests to approve one are answered 400.',
    params: IdParams,
    scopes: 'public',
    body: RailEventBody,
    responses: { 200: { description: 'It was taken, or is not used.', schema: ReceivedBody } },
    errors: ['unauthenticated', 'not_found', 'line_limit', 'rate_limited'],
  }),
};
