import { Type } from 'typebox';
import { AllowanceReportBody, AllowanceReportQuery } from '../allowances/report.ts';
import { BurnDownBody, BurnDownsBody, SpendingBody, SpendingQuery } from '../reports/spending.ts';
import { OverviewBody, ReportBody, ReportQuery } from '../reports.ts';
import { route } from '../route.ts';
import { Fields } from '../schema.ts';

const IdParams = Fields({ id: Type.String() });

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
  getSpending: route({
    method: 'GET',
    path: '/v1/reports/spending',
    operationId: 'getSpending',
    tag: 'Reports',
    summary: 'Get requested amounts over time',
    description:
      'The requested amounts of a period by currency, decision and UTC day: of all decisions, and of the agents, merchants or shared budgets with the largest amounts, each with the period before. Always exact.',
    scopes: ['read'],
    query: SpendingQuery,
    responses: { 200: { description: 'The amounts.', schema: SpendingBody } },
    errors: ['not_found'],
  }),
  getAgentBurnDown: route({
    method: 'GET',
    path: '/v1/agents/:id/burn-down',
    operationId: 'getAgentBurnDown',
    tag: 'Reports',
    summary: 'Get how the monthly budget of an agent is used up',
    description:
      'What remained after the last decision of each day of this month (UTC), and when it will be used up at the present pace. The list has one curve, or none without a monthly budget.',
    scopes: ['read'],
    params: IdParams,
    responses: { 200: { description: 'The curve.', schema: BurnDownsBody } },
    errors: ['not_found'],
  }),
  getBudgetBurnDown: route({
    method: 'GET',
    path: '/v1/budgets/:id/burn-down',
    operationId: 'getBudgetBurnDown',
    tag: 'Reports',
    summary: 'Get how a shared budget is used up',
    description:
      'What remained after the last decision of each day of its period, and when it will be used up at the present pace. The decisions of the 20 newest agents that spend from it are looked at.',
    scopes: ['read'],
    params: IdParams,
    responses: { 200: { description: 'The curve.', schema: BurnDownBody } },
    errors: ['not_found'],
  }),
  getAllowanceReport: route({
    method: 'GET',
    path: '/v1/reports/allowances',
    operationId: 'getAllowanceReport',
    tag: 'Reports',
    summary: 'Get what was spent by a label of allowances',
    description:
      'For each value of a label, such as each customer: the decisions of a period that were made under an allowance with it, the money that they hold and spent, as of now, and how many such allowances are open. Always exact. With `accept: text/csv` the response is one CSV table.',
    scopes: ['read'],
    query: AllowanceReportQuery,
    responses: { 200: { description: 'The report.', schema: AllowanceReportBody, or_as: ['text/csv'] } },
    errors: ['not_found'],
  }),
};
