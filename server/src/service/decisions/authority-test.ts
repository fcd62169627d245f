import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Mode } from '@purser/rules/domain/agents';
import type { Assess, Assessment } from '@purser/rules/domain/assessment';
import type { Origin } from '@purser/rules/domain/audit';
import type { Authority } from '@purser/rules/domain/authorities';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import type { Decision } from '@purser/rules/domain/decisions';
import { sha256 } from '@purser/rules/domain/ledger';
import type { OutcomeSource, OutcomeType } from '@purser/rules/domain/outcomes';
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

/** What a decision may be expected to be. */
const EXPECTABLE = ['decision', 'reason_code', 'reason_codes', 'authorized_amount_minor'] as const;
export type Expected = Partial<Pick<Decision, (typeof EXPECTABLE)[number]>>;

/** One step of a test. Exactly one of `decide`, `outcome` and `review` is there. */
export interface AuthorityTestStep {
  /** ISO 8601 UTC; not before that of the step before. */
  at: string;
  decide?: SpendRequest;
  /** The name by which later steps refer to the decision. */
  as?: string;
  /** How the purpose is assessed; when left out, the rules assess it, with nothing known of the agent. */
  purpose?: Assessment['assessment'];
  expect?: Expected;
  outcome?: {
    of: string;
    type: OutcomeType;
    amount_minor?: number;
    currency?: string;
    external_reference?: string;
    source?: OutcomeSource;
  };
  review?: { of: string; action: ReviewAction };
}

/** What is not as expected. */
export interface Mismatch {
  field: string;
  expected: string | number | string[];
  actual: string | number | string[];
}

/** Takes a decision's fields without those that a test does not show: whose decision it is, and who asked. */
export function verdictOf<
  Fields extends {
    agent: unknown;
    authority_version: unknown;
    authority_hash: unknown;
    directory_version?: unknown;
    requested_by: unknown;
    request_id?: unknown;
    review: unknown;
    label: unknown;
  },
>(decision: Fields) {
  const {
    agent,
    authority_version,
    authority_hash,
    directory_version,
    requested_by,
    request_id,
    review,
    label,
    ...verdict
  } = decision;
  return verdict;
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

  /** What happens to an earlier decision. That the service would refuse it is a mismatch. */
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

type StepProblem = { field: string; problem: string } | null;

const ABOUT = ['decide', 'outcome', 'review'] as const;
const OF_DECIDE = ['as', 'purpose', 'expect'] as const;
const AMOUNT_REQUIRED: readonly OutcomeType[] = ['SPEND_EXECUTED', 'PARTIALLY_REFUNDED'];
const FIRST_AT = '1970-01-01T00:00:00.000Z';
const LAST_AT = '2199-12-31T23:59:59.999Z';

/** What is wrong with a step by itself; null: nothing. */
export function stepProblem(step: AuthorityTestStep): StepProblem {
  const about = ABOUT.filter((name) => step[name] !== undefined);
  const [first, second] = about;
  if (first === undefined)
    return { field: 'decide', problem: 'is missing; a step has decide, outcome or review' };
  if (second !== undefined) return { field: second, problem: `must not be combined with ${first}` };
  const extra = first === 'decide' ? undefined : OF_DECIDE.find((name) => step[name] !== undefined);
  if (extra !== undefined) return { field: extra, problem: 'has no effect without decide' };
  if (step.at < FIRST_AT || step.at > LAST_AT)
    return { field: 'at', problem: 'must be a time in the years 1970 to 2199' };
  const { outcome } = step;
  return outcome !== undefined && outcome.amount_minor === undefined && AMOUNT_REQUIRED.includes(outcome.type)
    ? { field: 'outcome.amount_minor', problem: `is required for ${outcome.type}` }
    : null;
}

/** What is wrong with steps one after the other; null: nothing. */
export function stepsProblem({ steps }: { steps: readonly AuthorityTestStep[] }): StepProblem {
  const names = new Set<string>();
  let before = FIRST_AT;
  for (const [i, { at, as, outcome, review }] of steps.entries()) {
    const wrong = (field: string, problem: string) => ({ field: `steps[${i}].${field}`, problem });
    if (at < before) return wrong('at', 'must not be earlier than the previous step');
    before = at;
    const of = outcome?.of ?? review?.of;
    if (of !== undefined && !names.has(of))
      return wrong(
        outcome === undefined ? 'review.of' : 'outcome.of',
        'must be the name, `as`, of an earlier step',
      );
    if (as === undefined) continue;
    if (names.has(as)) return wrong('as', 'is already the name of an earlier step');
    names.add(as);
  }
  return null;
}
