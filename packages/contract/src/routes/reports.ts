import { OverviewBody, ReportBody, ReportQuery } from '../reports.ts';
import { route } from '../route.ts';

export const routes = {
  getShadowReport: route({
    method: 'GET',
    path: '/v1/reports/shadow',
    operationId: 'getShadowReport',
    tag: 'Reports',
    summary: 'Get the shadow report',
    description:
      'What the service would have decided about the spends of a period: by currency, reason, agent, merchant and day, with reviews and labels, spends that were executed anyway, and findings against ENFORCE. Always exact. Periods of whole UTC days (`from=2026-11-01&to=2026-11-30`) are fastest. With `accept: text/csv` the response is one CSV table.',
    scopes: ['read'],
    query: ReportQuery,
    responses: { 200: { description: 'The report.', schema: ReportBody, or_as: ['text/csv'] } },
    errors: ['not_found'],
  }),
  getOverview: route({
    method: 'GET',
    path: '/v1/reports/overview',
    operationId: 'getOverview',
    tag: 'Reports',
    summary: 'Get an overview of both modes',
    description:
      'The decisions of a period, in SHADOW and in ENFORCE, by day, decision, reason, agent, merchant and currency; the current pending reviews; and the result of the last verification of the history. Always exact.',
    scopes: ['read'],
    query: ReportQuery,
    responses: { 200: { description: 'The overview.', schema: OverviewBody } },
    errors: ['not_found'],
  }),
};
