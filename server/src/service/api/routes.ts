import { randomBytes } from 'node:crypto';
import { secretText } from '@purser/rules/domain/webhooks';
import { makeAssessLevels, makeBuiltInAssessor } from '@purser/rules/purpose/built-in-assessor';
import { makeCreateDecision } from '../../engine/commands/create-decision.ts';
import { makeCreateReview } from '../../engine/commands/reviews/create-review.ts';
import { clockSuspect } from '../../engine/lane/batch.ts';
import { makeReadChain } from '../allowances/chains.ts';
import type { Config } from '../config/config.ts';
import { makeFindAgentId } from '../decisions/authority-cache.ts';
import { makeAuthorizeSpend, type PreAssess } from '../decisions/authorize-spend.ts';
import { DecisionView } from '../decisions/present-decisions.ts';
import { ReplayThread } from '../history/replay/replay-thread.ts';
import { type Cursors, makeCursors } from '../http/cursors.ts';
import { type MakeLimiter, makeOwnLimiter } from '../http/limiters.ts';
import type { Call, Route } from '../http/route.ts';
import { type Core, newId, newKey, newToken } from '../installation/runtime.ts';
import { makeKeyValues } from '../installation/secrets.ts';
import { type ForgotPassword, makeForgotPassword } from '../mail/forgot-password.ts';
import { makePeople, type PeopleConfig, type PeopleServices } from '../people/make-people.ts';
import { makeOidcSignIn } from '../people/oidc-people.ts';
import { makeOwnAccount } from '../people/own-account.ts';
import { Passkeys } from '../people/passkeys.ts';
import { Signing } from '../people/signing.ts';
import type { Site } from '../people/site.ts';
import { NO_SAMPLES, type Samples } from '../samples/samples.ts';
import { slackCodesOf } from '../slack/slack-parts.ts';
import { makeAgentRoutes } from './agents.ts';
import { makeAllowanceRoutes } from './allowances/allowances.ts';
import { makeIssuerRoutes } from './allowances/issuers.ts';
import { makeAllowanceReport } from './allowances/report.ts';
import { makeApiKeyRoutes } from './api-keys.ts';
import { makeAuthorityRoutes } from './authorities.ts';
import { makeReadingRoutes } from './authority-readings.ts';
import { makeAuthorityTestRoutes } from './authority-tests.ts';
import { makeBudgetRoutes } from './budgets/budgets.ts';
import { makeCapabilityRoutes } from './capabilities.ts';
import { makeChangeRoutes } from './changes.ts';
import { makeDecisionReadRoutes } from './decision-reads.ts';
import { makeDecisionRoutes } from './decisions.ts';
import { makeCoverageRoutes } from './history/coverage.ts';
import { makeImportRoutes } from './history/imports.ts';
import { makeLineRoutes } from './history/lines.ts';
import { makeReportRoutesOfLines } from './history/report.ts';
import { makeLedgerRoutes } from './ledger.ts';
import { makeMerchantRoutes } from './merchants.ts';
import { makeChannelRoutes } from './notices/channels.ts';
import { makeNoticeRoutes } from './notices/notices.ts';
import { makeOutcomeRoutes } from './outcomes.ts';
import { makeAuthRoutes } from './people/auth.ts';
import { makeMeRoutes } from './people/me.ts';
import { makeMemberRoutes } from './people/members.ts';
import { makeNotificationRoutes } from './people/notifications.ts';
import { makeOidcRoutes } from './people/oidc.ts';
import { makePasskeyRoutes } from './people/passkeys.ts';
import { makeSigningKeyLists, makeSigningKeyRoutes } from './people/signing-keys.ts';
import { makeSlackRoutes } from './people/slack.ts';
import { makeQuestionRoutes } from './questions/questions.ts';
import { makeCardRoutes } from './rails/card-routes.ts';
import { makeSpendParts, type SpendParts } from './rails/spend-parts.ts';
import { makeSpendingRoutes } from './reports/spending.ts';
import { makeReportRoutes } from './reports.ts';
import { makeInboxRoutes } from './reviews/inbox.ts';
import { makeReviewPolicyRoutes } from './reviews/review-policy.ts';
import { makeReviewRoutes } from './reviews/reviews.ts';
import { makeSignedReviewRoutes } from './reviews/signed-reviews.ts';
import { makeSampleRoutes } from './samples/samples.ts';
import { makeSearchRoutes } from './search.ts';
import { makePlaces, withTurns } from './shared-resources.ts';
import { makeDecisionLinkRoutes } from './sharing/decision-links.ts';
import { makeSimulationRoutes } from './simulations.ts';
import { makeWebhookDeliveryRoutes } from './webhook-deliveries.ts';
import { makeWebhookRoutes } from './webhooks.ts';
import { makeWorkspaceRoutes } from './workspace.ts';

/** The settings that routes depend on. */
type RouteConfig = Pick<
  Config,
  | 'import_max_mib'
  | 'review_ttl_seconds'
  | 'capability_ttl_seconds'
  | 'webhook_allow_private_network'
  | 'smtp_url'
> &
  Partial<Pick<Config, 'purpose_merchants_file'>>;

/** The settings that people depend on. */
type PersonConfig = PeopleConfig & Pick<Config, 'smtp_url'>;

/** Everything about people that one process has. */
export interface PersonServices extends PeopleServices {
  forgotPassword: ForgotPassword;
}

const newWebhookSecret = () => secretText(randomBytes(32));
const newNonce = () => randomBytes(12);
const newSlackCode = () => randomBytes(20).toString('base64url');

/** Makes what several groups of routes use. */
function makeRouteParts(core: Core, config: RouteConfig) {
  const { review_ttl_seconds, capability_ttl_seconds } = config;
  const mails_people = config.smtp_url !== null;
  return {
    cursors: makeCursors(core.secrets.cursorMacs),
    assess: makeBuiltInAssessor(config.purpose_merchants_file ?? []),
    createDecision: makeCreateDecision({
      review_ttl_seconds,
      capability_ttl_seconds,
      mails_people,
    }),
    mails_people,
    assessLevels: makeAssessLevels(config.purpose_merchants_file ?? []),
    createReview: makeCreateReview({ capability_ttl_seconds }),
    readChain: makeReadChain(core.db),
    makeKeyValue: makeKeyValues(core.secrets, newKey),
    replays: new ReplayThread({ merchants: config.purpose_merchants_file ?? [] }),
    review_ttl_seconds,
  };
}

type RouteParts = ReturnType<typeof makeRouteParts>;

/** Makes the routes of decisions and of what becomes of them. */
function makeSpendRoutes(
  core: Core,
  parts: RouteParts,
  { site, signing, ...spends }: SpendParts & { site: Site; signing: Signing },
): Route[] {
  const { db, lane, lists_db, turns } = core;
  const { createDecision, createReview, cursors, readChain, mails_people } = parts;
  const tokens = core.secrets.capabilityTokens;
  const findAgentId = makeFindAgentId(db);
  const view = new DecisionView({ db, tokens });
  const authorizeSpend = makeAuthorizeSpend({
    lane,
    createDecision,
    findAgentId,
    readChain,
    ...spends,
    countDecision: core.metrics.countDecision,
  });
  return [
    ...makeDecisionRoutes({ authorizeSpend, view }),
    ...makeDecisionReadRoutes({ lists_db, cursors, findAgentId, view, turns }),
    ...makeDecisionLinkRoutes({ db, lane, cursors, view, site, newToken }),
    ...makeReviewRoutes({ db, lane, createReview, signing }),
    ...makeInboxRoutes({
      db,
      lists_db,
      lane,
      cursors,
      urlOf: (decision_id) => site.consoleUrl(`decisions/${decision_id}`),
      mails_people,
    }),
    ...makeReviewPolicyRoutes({ db, lane, cursors, signing }),
    ...makeOutcomeRoutes({ db, lane }),
    ...makeCapabilityRoutes({ lane, tokens }),
  ];
}

/** Makes the routes of agents, their authorities, and what tries an authority out. */
function makeAuthorizingRoutes({ db, lists_db, lane, turns }: Core, parts: RouteParts): Route[] {
  const { assess, assessLevels, createDecision, createReview, cursors } = parts;
  const { readChain } = parts;
  return [
    ...makeAgentRoutes({ db, lane, cursors }),
    ...makeAuthorityRoutes({ db, lane, cursors }),
    ...makeBudgetRoutes({ db, lane, cursors }),
    ...makeAllowanceRoutes({ db, lane, findAgentId: makeFindAgentId(db), ...parts }),
    ...makeIssuerRoutes({ db, lane, cursors, readChain }),
    ...makeMerchantRoutes({ db, lists_db, lane, cursors }),
    ...makeQuestionRoutes({ db, lists_db, lane, cursors }),
    ...makeReadingRoutes({ db, assess, turns }),
    ...makeSimulationRoutes({ db, assessLevels, readChain, turns }),
    ...makeAuthorityTestRoutes({ db, assess, createDecision, createReview, turns }),
  ];
}

/** Makes the routes of what rails say was paid. */
function makeLineAndImportRoutes(
  { db, lists_db, reports_db, lane, metrics, turns }: Core,
  config: RouteConfig,
  { cursors, replays }: RouteParts,
): Route[] {
  return [
    ...makeImportRoutes({
      db,
      lane,
      cursors,
      max_bytes: config.import_max_mib * 1_048_576,
      newRunId: () => newId('request'),
      pause: turns.pause,
      countLineResult: metrics.countImportLines,
    }),
    ...makeLineRoutes({ db, lists_db, lane, cursors }),
    ...makeReportRoutesOfLines({ db, lists_db, replays, turns }),
    ...makeCoverageRoutes({ db, reports_db, lane }),
  ];
}

/** Makes the routes of webhooks, of the events that they deliver, and of channels and notices. */
function makeEventRoutes(
  { db, lists_db, lane, secrets }: Core,
  config: RouteConfig,
  cursors: Cursors,
): Route[] {
  return [
    ...makeWebhookRoutes({
      db,
      lane,
      cursors,
      allow_private: config.webhook_allow_private_network,
      newSecret: newWebhookSecret,
      sealSecret: (workspace_id, secret) => secrets.sealWebhookSecret(workspace_id, secret, newNonce()),
    }),
    ...makeWebhookDeliveryRoutes({ db, lists_db, lane, cursors, openSecret: secrets.openWebhookSecret }),
    ...makeChannelRoutes({
      db,
      lane,
      cursors,
      allow_private: config.webhook_allow_private_network,
      has_mail: config.smtp_url !== null,
      newSecret: newWebhookSecret,
      seal: (workspace_id, settings) => secrets.sealWebhookSecret(workspace_id, settings, newNonce()),
      open: secrets.openWebhookSecret,
    }),
    ...makeNoticeRoutes({ lists_db, cursors }),
  ];
}

/** Makes the routes of reports and of the history. */
function makeHistoryRoutes(
  core: Core,
  { cursors, assessLevels }: Pick<RouteParts, 'cursors' | 'assessLevels'>,
): Route[] {
  const { db, lists_db, ledger_db, reports_db, now_ms, checkpoint_dir, signer, secrets, turns } = core;
  const keys = secrets.verifyingKeys;
  return [
    ...makeChangeRoutes({ db, now_ms }),
    ...makeReportRoutes({ db, reports_db, assessLevels, turns }),
    ...makeSpendingRoutes({ db, reports_db }),
    makeAllowanceReport({ db, reports_db }),
    ...makeSearchRoutes({ lists_db, cursors }),
    ...makeLedgerRoutes({ db, lists_db, ledger_db, cursors, now_ms, keys, checkpoint_dir, signer, turns }),
  ];
}

/**
 * Every route that takes a key. `preAssess`: with a model's second opinion; null: the built-in assessor alone.
 * `people`: what the process has of it already. `samples`: none where a sample itself is written.
 */
export function makeApiRoutes(
  core: Core,
  config: RouteConfig & PersonConfig,
  preAssess: PreAssess | null = null,
  { flows, links, site }: Pick<PeopleServices, 'flows' | 'links' | 'site'> = makePeopleServices(
    core,
    config,
    makeOwnLimiter,
  ),
  samples: Samples = NO_SAMPLES,
): Route[] {
  const { db, lane } = core;
  const parts = makeRouteParts(core, config);
  const spends = makeSpendParts(core, parts.assess, preAssess);
  const { cursors, readChain, makeKeyValue } = parts;
  const signing = new Signing({ db, site });
  const routes = [
    ...makeSpendRoutes(core, parts, { ...spends, site, signing }),
    ...makeAuthorizingRoutes(core, parts),
    ...makeLineAndImportRoutes(core, config, parts),
    ...makeCardRoutes(
      core,
      { ...spends, createDecision: parts.createDecision },
      { ...parts, site, newNonce },
    ),
    ...makeApiKeyRoutes({ db, lane, cursors, readChain, makeKeyValue }),
    ...makeEventRoutes(core, config, cursors),
    ...makeMemberRoutes({ db, lane, cursors, links, site, mails: config.smtp_url !== null, flows }),
    ...makeSigningKeyLists({ db }),
    ...makeWorkspaceRoutes({ db, lane, cursors }),
    ...makeSampleRoutes(core, samples),
    ...makeHistoryRoutes(core, parts),
  ];
  const places = makePlaces(core);
  return routes.map((route) => withTurns(route, places, core.turns));
}

/** Sessions, passwords and the door, as the settings say. `makeLimiter` makes the counters of wrong passwords. */
export function makePeopleServices(
  core: Core,
  config: PersonConfig,
  makeLimiter: MakeLimiter,
): PersonServices {
  const { db, keys_db, lane, secrets, log, now_ms, clock } = core;
  const people = makePeople(config, {
    db,
    sessions_db: keys_db,
    clock,
    lane,
    secrets,
    log,
    makeLimiter,
    newId,
    newToken,
    newNonce,
    now_ms,
    clock_ms: Date.now,
  });
  const forgotPassword = makeForgotPassword({
    db,
    is_offered: config.smtp_url !== null && config.password_sign_in === 'on',
    makeLimiter,
    mac: secrets.macs('attempts')[0],
    behind: people.behind,
    record: people.flows.record,
    newEmailId: () => newId('email'),
    log,
  });
  return { ...people, forgotPassword };
}

/** Ending a session stays possible at any time: it dates nothing that could let anybody in. */
const ENDS_SESSIONS = new Set(['/v1/auth/sign-out', '/v1/me/sessions', '/v1/me/sessions/:id']);

/**
 * The route, which writes nothing while the database's clock is in doubt. What these routes write themselves has times of that
 * clock, and what they accept expires by it. The lane refuses everything else.
 */
function refusingInDoubt(route: Route, core: Core): Route {
  if (route.method === 'GET' || ENDS_SESSIONS.has(route.path)) return route;
  const handle = route.handler;
  return {
    ...route,
    async handler(call: Call) {
      const doubt = core.clock.doubt();
      if (doubt !== null) throw clockSuspect(doubt);
      return handle(call);
    },
  };
}

/** The routes that take no key: the door, and a person's own account. */
export function makePersonRoutes(core: Core, config: PersonConfig, people: PersonServices): Route[] {
  const { db, lane } = core;
  const { flows, site, provider, sessions, forgotPassword } = people;
  const oidc = provider === null ? null : { name: config.oidc_name };
  const offers = {
    password: config.password_sign_in === 'on',
    passkey: site.relyingParty() !== null,
    oidc,
    mail: config.smtp_url !== null,
  };
  const passkeys = new Passkeys({ db, flows, site });
  const signing = new Signing({ db, site });
  const signIn = makeOidcSignIn({ db, lane, flows, rules: config });
  const routes = [
    ...makeAuthRoutes({ flows, passkeys, site, forgotPassword, offers }),
    ...makeOidcRoutes({ provider, flows, site, sessions, signIn }),
    ...makePasskeyRoutes({ db, passkeys, flows, site }),
    ...makeSigningKeyRoutes({ db, lane, signing }),
    ...makeSignedReviewRoutes({ db, lane, signing }),
    ...makeSlackRoutes({ db, lane, codes: slackCodesOf(core, newSlackCode) }),
    ...makeMeRoutes({ db, sessions, account: makeOwnAccount({ db, lane, rename: flows.rename }) }),
    ...makeNotificationRoutes({ db, has_mail: config.smtp_url !== null }),
  ];
  return routes.map((route) => refusingInDoubt(route, core));
}
