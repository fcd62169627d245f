import { routes as agents } from './routes/agents.ts';
import { routes as allowanceIssuers } from './routes/allowances/issuers.ts';
import { routes as allowances } from './routes/allowances.ts';
import { routes as apiKeys } from './routes/api-keys.ts';
import { routes as authorities } from './routes/authorities.ts';
import { routes as authorityReadings } from './routes/authority-readings.ts';
import { routes as authorityTests } from './routes/authority-tests.ts';
import { routes as budgets } from './routes/budgets.ts';
import { routes as capabilities } from './routes/capabilities.ts';
import { routes as changes } from './routes/changes.ts';
import { routes as decisionLinks } from './routes/decision-links.ts';
import { routes as decisionReads } from './routes/decision-reads.ts';
import { routes as decisions } from './routes/decisions.ts';
import { routes as health } from './routes/health.ts';
import { routes as coverage } from './routes/history/coverage.ts';
import { routes as imports } from './routes/history/imports.ts';
import { routes as lines } from './routes/history/lines.ts';
import { routes as rails } from './routes/history/rails.ts';
import { routes as historyReport } from './routes/history/report.ts';
import { routes as ledger } from './routes/ledger.ts';
import { routes as mcp } from './routes/mcp.ts';
import { routes as merchants } from './routes/merchants.ts';
import { routes as channels } from './routes/notices/channels.ts';
import { routes as notices } from './routes/notices/notices.ts';
import { routes as outcomes } from './routes/outcomes.ts';
import { routes as packages } from './routes/packages.ts';
import { routes as auth } from './routes/people/auth.ts';
import { routes as me } from './routes/people/me.ts';
import { routes as members } from './routes/people/members.ts';
import { routes as notifications } from './routes/people/notifications.ts';
import { routes as oidc } from './routes/people/oidc.ts';
import { routes as passkeys } from './routes/people/passkeys.ts';
import { listRoutes as signingKeyLists, routes as signingKeys } from './routes/people/signing-keys.ts';
import { routes as slack } from './routes/people/slack.ts';
import { routes as questions } from './routes/questions.ts';
import { routes as reports } from './routes/reports.ts';
import { routes as inbox } from './routes/reviews/inbox.ts';
import { routes as notes } from './routes/reviews/notes.ts';
import { routes as reviewPolicy } from './routes/reviews/review-policy.ts';
import { routes as reviews } from './routes/reviews/reviews.ts';
import { routes as sheet } from './routes/reviews/sheet.ts';
import { routes as samples } from './routes/samples/samples.ts';
import { routes as search } from './routes/search.ts';
import { routes as simulations } from './routes/simulations.ts';
import { routes as webhookDeliveries } from './routes/webhook-deliveries.ts';
import { routes as webhooks } from './routes/webhooks.ts';
import { routes as workspace } from './routes/workspace.ts';

/** Every route of the API by its operationId, in the order of the reference. */
export const ROUTES = {
  ...decisions,
  ...decisionReads,
  ...decisionLinks,
  ...reviews,
  ...notes,
  ...sheet,
  ...inbox,
  ...reviewPolicy,
  ...outcomes,
  ...capabilities,
  ...agents,
  ...authorities,
  ...budgets,
  ...allowances,
  ...allowanceIssuers,
  ...merchants,
  ...questions,
  ...authorityReadings,
  ...simulations,
  ...authorityTests,
  ...imports,
  ...lines,
  ...historyReport,
  ...coverage,
  ...rails,
  ...apiKeys,
  ...webhooks,
  ...webhookDeliveries,
  ...channels,
  ...notices,
  ...members,
  ...signingKeyLists,
  ...workspace,
  ...samples,
  ...changes,
  ...reports,
  ...search,
  ...ledger,
  ...auth,
  ...oidc,
  ...passkeys,
  ...signingKeys,
  ...slack,
  ...me,
  ...notifications,
  ...mcp,
  ...packages,
  ...health,
};
