/*
 * What the tools of this repository (bench, chaos, demo, evaluation) may use of the service's insides. They work through
 * its API wherever they measure what a client sees; here is the rest: bench writes rows and workspaces as the service does,
 * and the evaluation measures the assessor itself.
 */
export { AuthorityBody } from './api/schemas/authorities.ts';
export { DecisionRequest } from './api/schemas/decisions.ts';
export { type Config, ConfigError, readConfig, SETTINGS } from './config/config.ts';
export { MODES, type Mode } from './domain/agents.ts';
export {
  type Assess,
  type Assessment,
  PURPOSE_ASSESSMENTS,
  type PurposeAssessment,
} from './domain/assessment.ts';
export type { Authority } from './domain/authorities.ts';
export { periodOf } from './domain/budget.ts';
export {
  DECISIONS,
  type DecisionKind,
  type DecisionRow,
  decisionDataHash,
  REASON_CODES,
} from './domain/decisions.ts';
export { eventHash, sha256 } from './domain/ledger.ts';
export { type ListedMerchant, NO_FACTS, type Precedent, type SpendFacts } from './domain/spend-facts.ts';
export type { SpendRequest } from './domain/spends.ts';
export { ApiError } from './errors.ts';
export { compileSchema } from './http/validation.ts';
export { EMPTY_DIRECTORY } from './merchants/directory.ts';
export { merchantKey, payeeKey } from './merchants/keys.ts';
export { bindingOf, boundPayees } from './merchants/matching.ts';
export { migrate } from './migration/migrate.ts';
export { addressFor, protocolFor } from './model-judge/addresses.ts';
export { makeModelClient } from './model-judge/model-client.ts';
export { startProbing } from './model-judge/probe.ts';
export { promptFor, type SeenByModel, seenByModel } from './model-judge/prompt.ts';
export type { Usage } from './model-judge/protocols.ts';
export { type Opinion, readOpinion } from './model-judge/read-opinion.ts';
export { isOpen, withOpinion } from './model-judge/second-opinion.ts';
export { estimatedUsage } from './model-judge/usage.ts';
export { openDatabase } from './open-database.ts';
export { decide } from './policy/decide.ts';
export { assessBuiltIn, conflictsFound, METHOD, makeBuiltInAssessor } from './purpose/built-in-assessor.ts';
export { CONFLICTS } from './purpose/conflicts/all.ts';
export { exampleSpends } from './purpose/example-spends.ts';
export { historyKey, historyWords } from './purpose/history.ts';
export { readingOf } from './purpose/reading/reading-cache.ts';
export { showReading } from './purpose/shown-reading.ts';
export { addWorkspace, makeCore } from './runtime.ts';
export { connectOnce } from './storage/database.ts';
export { makeIdsAt } from './values/ids.ts';
export { formatMoney } from './values/money.ts';
