import type { Authority } from '@purser/contract/authority';
import type { Assessment, Decision, SpendRequest } from '@purser/contract/decisions';
import {
  type AuthorityTestStep,
  type TestAllowance,
  verdictOf,
} from '@purser/contract/routes/authority-tests';
import type { Allowance } from '@purser/rules/counters/allowances';
import type { SharedBudget } from '@purser/rules/counters/shared-budgets';
import type { Mode } from '@purser/rules/domain/agents';
import type { Assess, Judgement } from '@purser/rules/domain/assessment';
import type { Origin } from '@purser/rules/domain/audit';
import { decodeDecision } from '@purser/rules/domain/decision-document';
import { sha256 } from '@purser/rules/domain/ledger';
import { AnswersRead } from '@purser/rules/domain/question-history';
import { NO_FACTS, type SpendFacts } from '@purser/rules/domain/spend-facts';
import { ApiError } from '@purser/rules/errors';
import { EMPTY_DIRECTORY } from '@purser/rules/merchants/directory';
import { vouchingAllowances } from '@purser/rules/policy/allowances';
import { createAllowances } from '../../engine/commands/allowances/create-allowances.ts';
import type {
  CreateDecisionInput,
  CreatedDecision,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import { createOutcome } from '../../engine/commands/create-outcome.ts';
import type { CreatedReview } from '../../engine/commands/reviews/create-review.ts';
import { type CreateReviewInput, NO_POLICY } from '../../engine/commands/reviews/review-case.ts';
import type { Command } from '../../engine/lane/command.ts';
import { readDecision } from '../../engine/questions/answers-of-records.ts';
import { ImaginedAgent } from './imagined-agent.ts';

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

export interface AuthorityTestOptions {
  authority: Authority;
  mode: Mode;
  /** The shared budgets of the workspace, where the authority names some. */
  budgets: readonly SharedBudget[];
  assess: Assess;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  createReview: Command<CreateReviewInput, CreatedReview>;
}

/** Carries out the steps of a test, in their order. Names that they refer to must be those of earlier steps. */
export class AuthorityTest {
  readonly #options: AuthorityTestOptions;
  readonly #agent: ImaginedAgent;
  /** The ids of the decisions that steps named. */
  readonly #named = new Map<string, string>();
  /** The allowances by name, each with all above it. */
  readonly #allowances = new Map<string, readonly Allowance[]>();
  #asked = 0;

  constructor(options: AuthorityTestOptions) {
    this.#options = options;
    this.#agent = new ImaginedAgent(options.authority, options.mode, options.budgets);
  }

  /** Makes an allowance of the agent. Throws ApiError, with the field's name, where the service would make no such one. */
  allow(given: TestAllowance, i: number, at: string): void {
    const { as, parent, ...body } = given;
    const above = parent === undefined ? [] : (this.#allowances.get(parent) ?? []);
    const [nearest] = above;
    const named = nearest === undefined ? { agent: this.#agent.agent_id } : { parent: nearest.allowance_id };
    const made = {
      body: { ...body, ...named },
      body_hash: '',
      above,
      key: null,
      prefix: `allowances[${i}].`,
    };
    const input = { allowances: [made], maker: 'key_operator', acting_principal: null, agent_id: null };
    const result = this.#agent.apply(createAllowances, input, Date.parse(at), AGENT);
    if (result.kind === 'refused') throw new ApiError(result.refusal.code, result.refusal.message);
    if (result.kind === 'done')
      this.#allowances.set(as, [...result.value.map(({ allowance }) => allowance), ...above]);
  }

  run(step: AuthorityTestStep): TestedStep {
    const { decide, outcome, review } = step;
    if (decide !== undefined) return this.#decide(step, decide);
    if (outcome !== undefined) return this.#report(step, outcome);
    return this.#review(step, review as NonNullable<typeof review>);
  }

  #decide(step: AuthorityTestStep, request: SpendRequest): TestedStep {
    this.#asked += 1;
    const idempotency_key = `step-${this.#asked}`;
    const { agent_id, authority, authority_hash } = this.#agent;
    const answers = new AnswersRead(this.#agent.answers());
    const allowances = request.allowance === undefined ? undefined : this.#allowances.get(request.allowance);
    const vouching = vouchingAllowances(allowances, request.action);
    const facts = { ...NO_FACTS, answers, allowances: vouching };
    const { questions, ...assessment } = this.#assessmentOf(step, request, facts);
    const result = this.#createDecision(Date.parse(step.at), {
      agent_id,
      bound: false,
      request,
      idempotency_key,
      request_hash: sha256(idempotency_key),
      ...(allowances === undefined ? {} : { chain: { allowances, budgets: [] } }),
      standing: this.#agent.standing(),
      assessed: { authority_hash, authority, directory: EMPTY_DIRECTORY, answers, assessment, questions },
    });
    if (result.kind !== 'done') throw new Error(`a test step was ${result.kind}`);
    const decision = decodeDecision(result.value.document);
    if (step.as !== undefined) this.#named.set(step.as, decision.decision_id);
    return { verdict: verdictOf(decision), mismatches: mismatchesOf(step.expect ?? {}, decision) };
  }

  #assessmentOf(
    { purpose }: AuthorityTestStep,
    request: SpendRequest,
    facts: SpendFacts,
  ): Assessment & Pick<Judgement, 'questions'> {
    if (purpose === undefined) return this.#options.assess(this.#agent.authority, request, facts);
    const rationale = 'Set by the test.';
    return { assessment: purpose, confidence: 1, method: 'given', rationale, evidence: [], questions: [] };
  }

  #createDecision(at_ms: number, input: CreateDecisionInput) {
    const { createDecision } = this.#options;
    const first = this.#agent.apply(createDecision, input, at_ms, AGENT);
    if (first.kind !== 'stale') return first;
    // The authority never changes, so only a smaller amount may be missing.
    const also_minor = first.current.also_minor as number;
    return this.#agent.apply(createDecision, { ...input, also_minor }, at_ms, AGENT);
  }

  #report(step: AuthorityTestStep, outcome: NonNullable<AuthorityTestStep['outcome']>): TestedStep {
    const { of, type, source = 'CLIENT_REPORTED' } = outcome;
    const { amount_minor = null, currency = null, external_reference = null } = outcome;
    const report = { type, amount_minor, currency, external_reference, source, usage: null };
    const input = { decision_id: this.#idOf(of), only_agent: null, occurred_at: step.at, ...report };
    return this.#followUp('outcome', createOutcome, input, step, AGENT);
  }

  #review(step: AuthorityTestStep, { of, action }: NonNullable<AuthorityTestStep['review']>): TestedStep {
    const decision_id = this.#idOf(of);
    const made = this.#agent.decision(decision_id);
    // In SHADOW a later review corrects the one before.
    const supersedes = made?.decision.mode === 'SHADOW' ? made.state.review_id : null;
    const read = { ...readDecision(made?.decision), ...NO_POLICY };
    const spoken_of = {
      decision_id,
      ...read,
      named: null,
      remember: null,
      signature: null,
      slack_account: null,
    };
    const input = { ...spoken_of, action, reason_code: 'TEST', comment: null, supersedes };
    return this.#followUp('review', this.#options.createReview, input, step, REVIEWER);
  }

  /** Applies an outcome or review to an earlier decision. A refusal by the service is a mismatch. */
  #followUp<Input, Output>(
    field: 'outcome' | 'review',
    command: Command<Input, Output>,
    input: Input,
    { at }: AuthorityTestStep,
    origin: Origin,
  ): TestedStep {
    const result = this.#agent.apply(command, input, Date.parse(at), origin);
    if (result.kind !== 'refused') return { verdict: null, mismatches: [] };
    const { code, message } = result.refusal;
    return { verdict: null, mismatches: [{ field, expected: 'recorded', actual: `${code}: ${message}` }] };
  }

  #idOf(name: string): string {
    return this.#named.get(name) as string;
  }
}
