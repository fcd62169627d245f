import { type AuthorityTestStep, verdictOf } from '@purser/contract/routes/authority-tests';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Mode } from '@purser/rules/domain/agents';
import type { Assess, Assessment } from '@purser/rules/domain/assessment';
import type { Origin } from '@purser/rules/domain/audit';
import type { Authority } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import type { Decision } from '@purser/rules/domain/decisions';
import { sha256 } from '@purser/rules/domain/ledger';
import type { ReviewAction } from '@purser/rules/domain/reviews';
import { NO_FACTS } from '@purser/rules/domain/spend-facts';
import type { SpendRequest } from '@purser/rules/domain/spends';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import type {
  CreateDecisionInput,
  CreatedDecision,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import { createOutcome } from '../../engine/commands/create-outcome.ts';
import type { CreatedReview, CreateReviewInput } from '../../engine/commands/create-review.ts';
import type { Command } from '../../engine/lane/command.ts';
import { makeImaginedAgent } from './imagined-agent.ts';

/** Fields of a decision that a test may expect. */
const EXPECTABLE = ['decision', 'reason_code', 'reason_codes', 'authorized_amount_minor'] as const;
export type Expected = Partial<Pick<Decision, (typeof EXPECTABLE)[number]>>;

/** A difference from what was expected. */
export interface Mismatch {
  field: string;
  expected: string | number | string[];
  actual: string | number | string[];
}

export interface TestedStep {
  /** Null where the step decided nothing. */
  verdict: ReturnType<typeof verdictOf<Decision>> | null;
  mismatches: Mismatch[];
}

const originOf = (key_id: string, principal_id: string): Origin => ({
  actor: { type: 'api_key', key_id, session_id: null, principal_id },
  request_id: null,
  client_address: null,
});
const AGENT = originOf('key_agent', 'user:agent');
const REVIEWER = originOf('key_reviewer', 'user:reviewer');

function mismatchesOf(expected: Expected, decision: Decision): Mismatch[] {
  return EXPECTABLE.flatMap((field) => {
    const is = decision[field];
    const must = expected[field];
    return must === undefined || JSON.stringify(must) === JSON.stringify(is)
      ? []
      : [{ field, expected: must, actual: is }];
  });
}

/** Makes what carries out the steps of a test, in their order. Names that they refer to must be those of earlier steps. */
export function makeAuthorityTest(options: {
  authority: Authority;
  mode: Mode;
  /** The shared budgets of the workspace, where the authority names some. */
  budgets: readonly SharedBudget[];
  assess: Assess;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  createReview: Command<CreateReviewInput, CreatedReview>;
}): (step: AuthorityTestStep) => TestedStep {
  const { authority, assess, createDecision, createReview } = options;
  const agent = makeImaginedAgent(authority, options.mode, options.budgets);
  const { agent_id, authority_hash } = agent;
  const names = new Map<string, string>();
  let asked = 0;

  function assessmentOf({ purpose, decide }: AuthorityTestStep): Assessment {
    if (purpose === undefined) return assess(authority, decide as SpendRequest, NO_FACTS);
    const rationale = 'Set by the test.';
    return { assessment: purpose, confidence: 1, method: 'given', rationale, evidence: [] };
  }

  function decideStep(step: AuthorityTestStep, request: SpendRequest): TestedStep {
    asked += 1;
    const idempotency_key = `step-${asked}`;
    const assessed = {
      authority_hash,
      authority,
      directory: EMPTY_DIRECTORY,
      assessment: assessmentOf(step),
    };
    const input = {
      agent_id,
      bound: false,
      request,
      idempotency_key,
      request_hash: sha256(idempotency_key),
      assessed,
    };
    const at_ms = Date.parse(step.at);
    const first = agent.apply(createDecision, input, at_ms, AGENT);
    // The authority never changes, so only a smaller amount may be missing.
    const result =
      first.kind === 'stale'
        ? agent.apply(
            createDecision,
            { ...input, also_minor: first.current.also_minor as number },
            at_ms,
            AGENT,
          )
        : first;
    if (result.kind !== 'done') throw new Error(`a test step was ${result.kind}`);
    const decision = decodeDecision(result.value.document);
    if (step.as !== undefined) names.set(step.as, decision.decision_id);
    return { verdict: verdictOf(decision), mismatches: mismatchesOf(step.expect ?? {}, decision) };
  }

  /** Applies an outcome or review to an earlier decision. A refusal by the service is a mismatch. */
  function followUp<Input, Output>(
    field: 'outcome' | 'review',
    command: Command<Input, Output>,
    input: Input,
    { at }: AuthorityTestStep,
    origin: Origin,
  ): TestedStep {
    const result = agent.apply(command, input, Date.parse(at), origin);
    if (result.kind !== 'refused') return { verdict: null, mismatches: [] };
    const { code, message } = result.refusal;
    return { verdict: null, mismatches: [{ field, expected: 'recorded', actual: `${code}: ${message}` }] };
  }

  return (step) => {
    const { decide, outcome, review } = step;
    const idOf = (name: string) => names.get(name) as string;
    if (decide !== undefined) return decideStep(step, decide);
    if (outcome !== undefined) {
      const { of, amount_minor = null, currency = null, external_reference = null } = outcome;
      const { type, source = 'CLIENT_REPORTED' } = outcome;
      const report = { type, amount_minor, currency, external_reference, source };
      const input = { decision_id: idOf(of), only_agent: null, occurred_at: step.at, ...report };
      return followUp('outcome', createOutcome, input, step, AGENT);
    }
    const { of, action } = review as { of: string; action: ReviewAction };
    const decision_id = idOf(of);
    const made = agent.decision(decision_id);
    // In SHADOW a later review corrects the one before.
    const supersedes = made?.decision.mode === 'SHADOW' ? made.state.review_id : null;
    const requesting_key_id = made?.decision.requested_by.key_id ?? null;
    const input = { decision_id, requesting_key_id, action, reason_code: 'TEST', comment: null, supersedes };
    return followUp('review', createReview, input, step, REVIEWER);
  };
}
