import { Type } from 'typebox';
import { SheetBody } from '../../reviews/sheet.ts';
import { route } from '../../route.ts';
import { Fields } from '../../schema.ts';

export const routes = {
  getSheet: route({
    method: 'GET',
    path: '/v1/decisions/:id/sheet',
    operationId: 'getSheet',
    tag: 'Reviews and labels',
    summary: 'Get what a reviewer needs to know of a decision',
    description:
      "Purser's facts first: purpose, cause, limits, the merchant's past. The agent's own words come last and are shortened. Agent keys cannot read it.",
    scopes: ['read'],
    params: Fields({ id: Type.String() }),
    responses: { 200: { description: 'The sheet.', schema: SheetBody } },
    errors: ['not_found'],
  }),
};
