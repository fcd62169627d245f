import { randomBytes } from 'node:crypto';
import { makeCreateDecision } from './commands/create-decision.ts';
import { makeCreateReview } from './commands/create-review.ts';
import type { Config } from './config.ts';
import { type Core, newKey } from './core.ts';
import { secretText } from './domain/webhooks.ts';
import { makeAgentRoutes } from './http/agents.ts';
import { makeApiKeyRoutes } from './http/api-keys.ts';
import { type AssessAhead, makeAssessAhead } from './http/assess-ahead.ts';
import { makeCapabilityRoutes } from './http/capabilities.ts';
import { makeCursors } from './http/cursors.ts';
import { makeDecisionRoutes } from './http/decisions.ts';
import { makeHistories } from './http/histories.ts';
import { makeLedgerRoutes } from './http/ledger.ts';
import { makeOutcomeRoutes } from './http/outcomes.ts';
import { makeReportRoutes } from './http/reports.ts';
import { makeReviewRoutes } from './http/reviews.ts';
import type { Route } from './http/route.ts';
import { makeSimulationRoutes } from './http/simulations.ts';
import { makeWebhookDeliveryRoutes } from './http/webhook-deliveries.ts';
import { makeWebhookRoutes } from './http/webhooks.ts';
import { makeWorkspaceRoutes } from './http/workspace.ts';
import { makeAskModel } from './model/ask-model.ts';
import { type ChatClient, makeChatClient } from './model/chat-client.ts';
import { makeBuiltInAssessor } from './purpose/built-in-assessor.ts';
import { withoutOpinion } from './purpose/second-opinion.ts';

/** The settings that routes depend on. */
type RouteConfig = Pick<
  Config,
  'review_ttl_seconds' | 'capability_ttl_seconds' | 'webhook_allow_private_network'
> &
  Partial<Pick<Config, 'purpose_merchants_file'>>;

const newWebhookSecret = () => secretText(randomBytes(32));
const newNonce = () => randomBytes(12);

/** The model that gives second opinions on purpose; null when none is configured. */
export function makeSecondOpinion(
  core: Core,
  config: Config,
): { assessAhead: AssessAhead; stop: ChatClient['stop'] } | null {
  const { purpose_model_url: url, purpose_model: model, purpose_model_api_key: api_key } = config;
  if (url === null || model === null) return null;
  const { log, metrics, now_ms } = core;
  const max_concurrent = config.purpose_model_max_concurrent;
  const client = makeChatClient({
    url,
    api_key,
    timeout_ms: config.purpose_model_timeout_ms,
    connections: max_concurrent,
  });
  const askModel = makeAskModel({
    client,
    model,
    parameters: config.purpose_model_parameters,
    api_key,
    max_concurrent,
    newNonce: () => randomBytes(16).toString('hex'),
    now_ms,
    log,
    metrics,
  });
  const may_clear = config.purpose_model_may_clear;
  const assessAhead = makeAssessAhead({
    db: core.db,
    assess: makeBuiltInAssessor(config.purpose_merchants_file ?? []),
    historyOf: makeHistories(core),
    askModel,
    model,
    may_clear,
    metrics,
  });
  return { assessAhead, stop: client.stop };
}

/** Every route that takes a key. `assessAhead`: with a model's second opinion. */
export function makeApiRoutes(
  core: Core,
  config: RouteConfig,
  assessAhead: AssessAhead | null = null,
): Route[] {
  const { db, lane, lists_db, metrics, now_ms, reports_db, secrets } = core;
  const cursors = makeCursors(secrets.cursorMac);
  const assess = makeBuiltInAssessor(config.purpose_merchants_file ?? []);
  const createDecision = makeCreateDecision({
    // The lane waits for no model: where it has to assess itself, the decision says that the opinion is missing.
    assess:
      assessAhead === null
        ? assess
        : (authority, request) => withoutOpinion(assess(authority, request), 'authority_changed'),
    review_ttl_seconds: config.review_ttl_seconds,
    capability_ttl_seconds: config.capability_ttl_seconds,
  });
  const createReview = makeCreateReview({ capability_ttl_seconds: config.capability_ttl_seconds });
  const tokens = secrets.capabilityTokens;
  return [
    ...makeDecisionRoutes({
      db,
      lists_db,
      lane,
      cursors,
      createDecision,
      assess,
      assessAhead,
      historyOf: makeHistories(core),
      metrics,
      tokens,
    }),
    ...makeReviewRoutes({ lane, createReview }),
    ...makeOutcomeRoutes({ db, lane }),
    ...makeCapabilityRoutes({ lane, tokens }),
    ...makeAgentRoutes({ db, lane, cursors }),
    ...makeSimulationRoutes({ db, assess }),
    ...makeApiKeyRoutes({ db, lane, cursors, newKey, keyDigest: secrets.keyDigest }),
    ...makeWebhookRoutes({
      db,
      lane,
      cursors,
      allow_private: config.webhook_allow_private_network,
      newSecret: newWebhookSecret,
      sealSecret: (workspace_id, secret) => secrets.sealWebhookSecret(workspace_id, secret, newNonce()),
    }),
    ...makeWebhookDeliveryRoutes({ db, lists_db, lane, cursors }),
    ...makeWorkspaceRoutes({ db, cursors }),
    ...makeReportRoutes({ db, reports_db }),
    // A verification keeps its connection for as long as the chain is.
    ...makeLedgerRoutes({ db: lists_db, cursors, now_ms }),
  ];
}
