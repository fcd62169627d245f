import { Type } from 'typebox';
import {
  CoverageReportBody,
  CoverageReportQuery,
  ResolutionBody,
  ResolutionRequest,
} from '../../history/coverage.ts';
import { route } from '../../route.ts';
import { Fields, page } from '../../schema.ts';

const LineParams = Fields({ id: Type.String({ description: "The line's id." }) });

export const routes = {
  createLineResolution: route({
    method: 'POST',
    path: '/v1/lines/:id/resolutions',
    operationId: 'createLineResolution',
    tag: 'History',
    summary: 'Say what a line is',
    description:
      'Matches a line with the decision that asked for it, says that none did, or leaves it out of the shares. The newest resolution of a line holds, and comes before what is found by itself. The requester of a decision cannot match a line with it.',
    scopes: ['review'],
    params: LineParams,
    body: ResolutionRequest,
    responses: { 201: { description: 'The resolution.', schema: ResolutionBody } },
    errors: ['not_found', 'self_review_forbidden', 'line_not_matchable'],
  }),
  listLineResolutions: route({
    method: 'GET',
    path: '/v1/lines/:id/resolutions',
    operationId: 'listLineResolutions',
    tag: 'History',
    summary: 'List what people said of a line',
    description: 'Oldest first; the last one holds.',
    scopes: ['read'],
    params: LineParams,
    responses: {
      200: {
        description: 'The resolutions.',
        schema: page(ResolutionBody, { $id: 'LineResolutionPage' }),
      },
    },
    errors: ['not_found'],
  }),
  getCoverageReport: route({
    method: 'GET',
    path: '/v1/reports/coverage',
    operationId: 'getCoverageReport',
    tag: 'Reports',
    summary: 'Get how much of what was paid was asked for',
    description:
      'Adds up the lines of a period by whether a decision asked for them: by currency, day, agent and feed, with the largest that nobody asked for. Lines before their agent was created count nowhere. With `accept: text/csv` the response is one table of the days.',
    scopes: ['read'],
    query: CoverageReportQuery,
    responses: {
      200: { description: 'The report.', schema: CoverageReportBody, or_as: ['text/csv'] },
    },
    errors: ['not_found'],
  }),
};
