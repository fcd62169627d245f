import { Type } from 'typebox';
import { CreateIssuerBody, IssuerBody } from '../../allowances/issuers.ts';
import { route } from '../../route.ts';
import { Fields, PageQuery, page } from '../../schema.ts';

export const routes = {
  createAllowanceIssuer: route({
    method: 'POST',
    path: '/v1/allowance-issuers',
    operationId: 'createAllowanceIssuer',
    tag: 'Allowances',
    summary: 'Register an issuer of signed allowances',
    description:
      'Another system that makes allowances by signing them, without a call: the agent that gets one presents it. With `parent`, all that it issues are parts of that allowance, so its total is exact. With `format`, it signs mandates of payers.',
    scopes: ['admin'],
    body: CreateIssuerBody,
    responses: { 201: { description: 'The issuer.', schema: IssuerBody } },
    errors: ['not_found', 'allowance_not_open'],
  }),
  listAllowanceIssuers: route({
    method: 'GET',
    path: '/v1/allowance-issuers',
    operationId: 'listAllowanceIssuers',
    tag: 'Allowances',
    summary: 'List issuers of signed allowances',
    description: 'Newest first, revoked ones included.',
    scopes: ['admin'],
    query: Fields(PageQuery),
    responses: {
      200: { description: 'A page of issuers.', schema: page(IssuerBody, { $id: 'AllowanceIssuerPage' }) },
    },
    errors: [],
  }),
  revokeAllowanceIssuer: route({
    method: 'DELETE',
    path: '/v1/allowance-issuers/:id',
    operationId: 'revokeAllowanceIssuer',
    tag: 'Allowances',
    summary: 'Revoke an issuer of signed allowances',
    description:
      'Nothing new of it is accepted from the next request on. The allowances that it issued stay: revoke them, or its `parent`, to end them. Revoking it again changes nothing.',
    scopes: ['admin'],
    weighs: false,
    params: Fields({ id: Type.String() }),
    responses: { 204: { description: 'The issuer is revoked.', schema: null } },
    errors: ['not_found'],
  }),
};
