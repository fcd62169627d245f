import { route } from '@purser/contract/route';
import { MODES } from '@purser/rules/domain/agents';
import { type Assess, PURPOSE_ASSESSMENTS } from '@purser/rules/domain/assessment';
import { OUTCOME_SOURCES, OUTCOME_TYPES } from '@purser/rules/domain/outcomes';
import { REVIEW_ACTIONS } from '@purser/rules/domain/reviews';
import { invalidField } from '@purser/rules/errors';
import { missingList } from '@purser/rules/policy/authority-problem';
import { TEXT_LENGTHS } from '@purser/rules/values/text';
import type pg from 'pg';
import Type from 'typebox';
import type {
  CreateDecisionInput,
  CreatedDecision,
  StaleDecision,
} from '../../engine/commands/create-decision.ts';
import type { CreatedReview, CreateReviewInput } from '../../engine/commands/create-review.ts';
import type { Command } from '../../engine/lane/command.ts';
import {
  makeAuthorityTest,
  stepProblem,
  stepsProblem,
  type TestedStep,
  verdictOf,
} from '../decisions/authority-test.ts';
import { budgetsOfDraft } from '../decisions/shared-budgets.ts';
import { type Route, serve } from '../http/route.ts';
import { AmountMinor, Currency, Fields, InstantIn, Line, Nullable, OneOf } from '../http/schemas.ts';
import type { WorkTime } from '../scheduling/work-time.ts';
import { AuthorityBody } from './schemas/authorities.ts';
import { DecisionBody, DecisionRequest } from './schemas/decisions.ts';
import { REPLAYS } from './simulations.ts';

const MAX_STEPS = 200;

const StepName = (description: string) =>
  Line({ max: TEXT_LENGTHS.name }, { description, examples: ['first'] });
const OfStep = StepName('The `as` of an earlier step.');

const { decision, reason_code, reason_codes, authorized_amount_minor } = DecisionBody.properties;

const Step = Fields(
  {
    at: InstantIn({ description: 'When it happens; not before the previous step.' }),
    decide: Type.Optional(DecisionRequest),
    as: Type.Optional(StepName('The name by which later steps refer to the decision.')),
    purpose: Type.Optional(
      OneOf(PURPOSE_ASSESSMENTS, {
        description:
          "How its purpose is assessed. By default the rules assess it, without the agent's history.",
      }),
    ),
    expect: Type.Optional(
      Fields(
        {
          decision: Type.Optional(decision),
          reason_code: Type.Optional(reason_code),
          reason_codes: Type.Optional(reason_codes),
          authorized_amount_minor: Type.Optional(authorized_amount_minor),
        },
        { minProperties: 1, description: 'The expected decision.' },
      ),
    ),
    outcome: Type.Optional(
      Fields(
        {
          of: OfStep,
          type: OneOf(OUTCOME_TYPES),
          amount_minor: Type.Optional(
            AmountMinor({ description: 'Required for SPEND_EXECUTED and PARTIALLY_REFUNDED.' }),
          ),
          currency: Type.Optional(Currency()),
          external_reference: Type.Optional(Line({ max: TEXT_LENGTHS.merchant })),
          source: Type.Optional(OneOf(OUTCOME_SOURCES)),
        },
        { description: 'The outcome of an earlier decision.' },
      ),
    ),
    review: Type.Optional(
      Fields(
        { of: OfStep, action: OneOf(REVIEW_ACTIONS) },
        { description: "A person's review of an earlier decision." },
      ),
    ),
  },
  { $id: 'AuthorityTestStep', 'x-together': stepProblem },
);

const TestRequest = Fields(
  {
    authority: AuthorityBody,
    mode: Type.Optional(OneOf(MODES, { description: "The agent's mode; defaults to ENFORCE." })),
    steps: Type.Array(Step, { minItems: 1, maxItems: MAX_STEPS }),
  },
  {
    $id: 'AuthorityTestRequest',
    'x-together': stepsProblem,
    examples: [
      {
        authority: {
          purpose: { objective: 'Keep the office supplied with paper' },
          currency: 'EUR',
          per_transaction_limit_minor: 20_000,
        },
        steps: [
          {
            at: '2026-11-21T08:30:00Z',
            decide: {
              action: { type: 'purchase', merchant: 'Acme Paper', amount_minor: 25_000, currency: 'EUR' },
            },
            purpose: 'PURPOSE_ALIGNED',
            expect: { decision: 'DENY', reason_code: 'PER_TRANSACTION_LIMIT_EXCEEDED' },
          },
        ],
      },
    ],
  },
);

const Told = Type.Union([Type.String(), Type.Integer(), Type.Array(Type.String())]);

const TestAnswer = Fields(
  {
    passed: Type.Boolean({ description: 'True if every step is as expected.' }),
    steps: Type.Array(
      Fields({
        verdict: Nullable(
          Fields(verdictOf(DecisionBody.properties), {
            $id: 'AuthorityTestVerdict',
            description: 'The decision; null for a step that makes none.',
          }),
        ),
        mismatches: Type.Array(
          Fields({
            field: Type.String({ examples: ['decision'] }),
            expected: Told,
            actual: Told,
          }),
          {
            description:
              'Differences from what was expected; empty if there are none. A refused outcome or review counts as a difference.',
          },
        ),
      }),
    ),
  },
  { $id: 'AuthorityTest' },
);

const routes = {
  testAuthority: route({
    method: 'POST',
    path: '/v1/authority/test',
    operationId: 'testAuthority',
    tag: 'Agents',
    summary: 'Test an authority on example spends',
    description: `Decides up to ${MAX_STEPS} spends in sequence at given times, with their outcomes and reviews in between, as the service would for a new agent in its own workspace. Use it to test the end of a month, a clock change or the end of an authority without waiting. Nothing is saved. Listed merchants are ignored; shared budgets start unused.`,
    scopes: ['admin'],
    weighs: false,
    body: TestRequest,
    responses: { 200: { description: 'The result of each step.', schema: TestAnswer } },
    errors: ['not_found'],
  }),
};

/** Makes the route that tries out an authority on spends that are thought up. */
export function makeAuthorityTestRoutes(options: {
  db: pg.Pool;
  assess: Assess;
  createDecision: Command<CreateDecisionInput, CreatedDecision, StaleDecision>;
  createReview: Command<CreateReviewInput, CreatedReview>;
  /** The time of the event loop that replays and tests may take. */
  replay_time: WorkTime;
}): Route[] {
  const { db, replay_time, ...machine } = options;
  return [
    serve(routes.testAuthority, { takes_long: true, shares: 'simulations' })(async (call) => {
      const { authority, mode = 'ENFORCE', steps: given } = call.body;
      const missing = missingList(authority, 0);
      if (missing !== null) throw invalidField(`authority.${missing.field}`, missing.problem);
      const budgets = await budgetsOfDraft(db, call.caller.workspace_id, authority, 'authority.');
      const run = makeAuthorityTest({ ...machine, authority, mode, budgets });
      const steps: TestedStep[] = [];
      for (const step of given) steps.push(await replay_time.spend(REPLAYS, () => run(step)));
      const passed = steps.every(({ mismatches }) => mismatches.length === 0);
      return { status: 200, body: { passed, steps } };
    }),
  ];
}
