import { Type } from 'typebox';
import { route } from '../route.ts';
import { Fields, PageQuery, page } from '../schema.ts';
import { CreateLinkBody, LinkBody, NewLinkBody } from '../sharing/links.ts';

const IdParams = Fields({ id: Type.String() });
const LinkParams = Fields({ id: Type.String(), link_id: Type.String() });

export const routes = {
  createDecisionLink: route({
    method: 'POST',
    path: '/v1/decisions/:id/links',
    operationId: 'createDecisionLink',
    tag: 'Decisions',
    summary: 'Share a decision by a read-only link',
    description:
      'For an auditor or anyone else outside the workspace: a person who has the link sees a page with this decision and nothing else, and who shared it. It ends when it expires or is revoked, when the person who made it may no longer review here, or when the key that made it is no longer active.',
    scopes: ['review', 'admin'],
    params: IdParams,
    body: CreateLinkBody,
    responses: { 201: { description: 'The link.', schema: NewLinkBody } },
    errors: ['not_found'],
  }),
  listDecisionLinks: route({
    method: 'GET',
    path: '/v1/decisions/:id/links',
    operationId: 'listDecisionLinks',
    tag: 'Decisions',
    summary: 'List the links of a decision',
    description: 'Newest first, without their tokens; links that no longer open are included.',
    scopes: ['review', 'admin'],
    params: IdParams,
    query: Fields(PageQuery),
    responses: {
      200: { description: 'A page of links.', schema: page(LinkBody, { $id: 'DecisionLinkPage' }) },
    },
    errors: ['not_found'],
  }),
  getDecisionLink: route({
    method: 'GET',
    path: '/v1/decisions/:id/links/:link_id',
    operationId: 'getDecisionLink',
    tag: 'Decisions',
    summary: 'Get one link of a decision',
    description: 'Without its token.',
    scopes: ['review', 'admin'],
    params: LinkParams,
    responses: { 200: { description: 'The link.', schema: LinkBody } },
    errors: ['not_found'],
  }),
  revokeDecisionLink: route({
    method: 'DELETE',
    path: '/v1/decisions/:id/links/:link_id',
    operationId: 'revokeDecisionLink',
    tag: 'Decisions',
    summary: 'Revoke a link',
    description: 'It stops opening at once. Revoking it again changes nothing.',
    scopes: ['review', 'admin'],
    weighs: false,
    params: LinkParams,
    responses: { 204: { description: 'The link is revoked.', schema: null } },
    errors: ['not_found'],
  }),
  getDecisionPage: route({
    method: 'GET',
    path: '/v1/decisions/:id/page',
    operationId: 'getDecisionPage',
    tag: 'Decisions',
    summary: 'Get one decision as a page to print',
    description:
      'One HTML document without scripts, made for A4: the purpose, the request, every check, who decided, the outcomes and the hashes. It is what a link shows, without the line of who shared it.',
    scopes: ['read'],
    params: IdParams,
    responses: { 200: { description: 'The page.', schema: Type.String(), content_type: 'text/html' } },
    errors: ['not_found'],
  }),
};
