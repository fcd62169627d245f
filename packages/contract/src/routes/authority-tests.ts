import { type Static, Type } from 'typebox';
import { CreateAllowanceBody } from '../allowances/fields.ts';
import { AuthorityBody } from '../authority.ts';
import { DecisionBody, DecisionRequest } from '../decisions.ts';
import { TEXT_LENGTHS } from '../limits.ts';
import { route } from '../route.ts';
import { AmountMinor, Currency, Fields, InstantIn, Line, Nullable, OneOf } from '../schema.ts';
import { MODES } from '../values/agents.ts';
import { OUTCOME_SOURCES, OUTCOME_TYPES, PURPOSE_ASSESSMENTS, REVIEW_ACTIONS } from '../values/decisions.ts';

const MAX_STEPS = 200;

const StepName = (description: string) =>
  Line({ max: TEXT_LENGTHS.name }, { description, examples: ['first'] });

const OfStep = StepName('The `as` of an earlier step.');

const { decision, reason_code, reason_codes, authorized_amount_minor } = DecisionBody.properties;

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

const Step = Fields(
  {
    at: InstantIn({ description: 'When it happens; not before the previous step.' }),
    decide: Type.Optional(
      Fields({
        ...DecisionRequest.properties,
        allowance: Type.Optional(StepName('The `as` of one of `allowances`, under which it is spent.')),
      }),
    ),
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
  { $id: 'AuthorityTestStep', 'x-together': 'authority_test_step' },
);

/** One step of a test. Exactly one of `decide`, `outcome` and `review` is there. */
export interface AuthorityTestStep extends Static<typeof Step> {}

const MAX_ALLOWANCES = 20;

const {
  agent: _agent,
  budget: _budget,
  external_id: _external,
  key: _key,
  parent: _parent,
  ...ALLOWANCE
} = CreateAllowanceBody.properties;

const TestAllowance = Fields(
  {
    as: StepName('The name by which steps and other allowances refer to it.'),
    parent: Type.Optional(StepName('The `as` of an earlier allowance that it is a part of.')),
    ...ALLOWANCE,
  },
  { description: 'An allowance of the agent, made at the time of the first step.' },
);
export type TestAllowance = Static<typeof TestAllowance>;

const TestRequest = Fields(
  {
    authority: AuthorityBody,
    allowances: Type.Optional(Type.Array(TestAllowance, { minItems: 1, maxItems: MAX_ALLOWANCES })),
    mode: Type.Optional(OneOf(MODES, { description: "The agent's mode; defaults to ENFORCE." })),
    steps: Type.Array(Step, { minItems: 1, maxItems: MAX_STEPS }),
  },
  {
    $id: 'AuthorityTestRequest',
    'x-together': 'authority_test_steps',
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

export const routes = {
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
