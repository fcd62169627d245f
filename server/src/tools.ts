/*
 * What the tools of this repository (bench, chaos, demo, evaluation) may use of the service's insides. They work through
 * its API wherever they measure what a client sees; here is the rest: bench writes rows and workspaces as the service does,
 * and the evaluation measures the assessor itself.
 */

export type { Authority } from '@purser/contract/authority';
export { AuthorityBody } from '@purser/contract/authority';
export type { Assessment, SpendRequest } from '@purser/contract/decisions';
export { DecisionRequest } from '@purser/contract/decisions';
export { answeredBy } from '@purser/contract/purpose/answered-by';
export { REASON_CODES } from '@purser/contract/reasons';
export { MODES } from '@purser/contract/values/agents';
export { DECISIONS, PURPOSE_ASSESSMENTS } from '@purser/contract/values/decisions';
export { type Allowance, countersOfAllowance } from '@purser/rules/counters/allowances';
export { Counters } from '@purser/rules/counters/counters-in-memory';
export type { Mode } from '@purser/rules/domain/agents';
export type { Assess, Judgement, PurposeAssessment } from '@purser/rules/domain/assessment';
export { NOTHING_SPENT, periodOf } from '@purser/rules/domain/budget';
export { countedByNew } from '@purser/rules/domain/decision-states';
export { type DecisionKind, type DecisionRow, decisionDataHash } from '@purser/rules/domain/decisions';
export { eventHash, sha256 } from '@purser/rules/domain/ledger';
export { type Answer, answerAfter } from '@purser/rules/domain/questions';
export {
  type ListedMerchant,
  NO_FACTS,
  type PaidSpend,
  type Precedent,
  type SpendFacts,
} from '@purser/rules/domain/spend-facts';
export { ApiError } from '@purser/rules/errors';
export { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
export { merchantKey, payeeKey } from '@purser/rules/merchants/keys';
export { bindingOf, boundPayees } from '@purser/rules/merchants/matching';
export { loadedAllowances } from '@purser/rules/policy/allowances';
export { decide, type Verdict } from '@purser/rules/policy/decide';
export { knownMerchantKey } from '@purser/rules/policy/known-merchants';
export { countedLimits } from '@purser/rules/policy/shared-budgets';
export {
  assessBuiltIn,
  conflictsFound,
  METHOD,
  makeBuiltInAssessor,
} from '@purser/rules/purpose/built-in-assessor';
export { CONFLICTS } from '@purser/rules/purpose/conflicts/all';
export { exampleSpends } from '@purser/rules/purpose/example-spends';
export { historyKey, historyWords } from '@purser/rules/purpose/history';
export { readingOf } from '@purser/rules/purpose/reading/reading-cache';
export { showReading } from '@purser/rules/purpose/shown-reading';
export { standingAnswers, standingBody } from '@purser/rules/reviews/standing-offer';
export { makeIdsAt } from '@purser/rules/values/ids';
export { formatMoney } from '@purser/rules/values/money';
export { boundsOf, whyNotMade } from './engine/commands/allowances/new-allowance.ts';
export { migrate } from './engine/migration/migrate.ts';
export { putSearchTexts } from './engine/search/search-rows.ts';
export { connectOnce } from './engine/storage/database.ts';
export { type Config, ConfigError, readConfig, SETTINGS } from './service/config/config.ts';
export { compileSchema } from './service/http/validation.ts';
export { openDatabase } from './service/installation/open-database.ts';
export { addWorkspace, makeCore } from './service/installation/runtime.ts';
export { addressFor, protocolFor } from './service/model-judge/addresses.ts';
export { makeModelClient } from './service/model-judge/model-client.ts';
export { DEFAULT_TIMEOUT_MS } from './service/model-judge/pace.ts';
export { startProbing } from './service/model-judge/probe.ts';
export { promptFor, type SeenByModel, seenByModel } from './service/model-judge/prompt.ts';
export type { Usage } from './service/model-judge/protocols.ts';
export { type Opinion, readOpinion } from './service/model-judge/read-opinion.ts';
export { isOpen, withOpinion } from './service/model-judge/second-opinion.ts';
export { estimatedUsage } from './service/model-judge/usage.ts';
