import { route } from '@purser/contract/route';
import { type Assess, PURPOSE_ASSESSMENTS } from '@purser/rules/domain/assessment';
import type { Authority } from '@purser/rules/domain/authorities';
import { ApiError } from '@purser/rules/errors';
import { EXAMPLE_COUNT, exampleSpends } from '@purser/rules/purpose/example-spends';
import { showReading } from '@purser/rules/purpose/shown-reading';
import type pg from 'pg';
import Type from 'typebox';
import { getAuthority, parseAuthority } from '../../engine/storage/authorities.ts';
import { visibleAgent } from '../decisions/visible-agent.ts';
import { type Route, serve } from '../http/route.ts';
import { Fields, Nullable, OneOf } from '../http/schemas.ts';
import type { WorkTime } from '../scheduling/work-time.ts';
import { AuthorityBody } from './schemas/authorities.ts';

const Place = Fields(
  {
    field: Type.String({ examples: ['purpose.constraints'] }),
    index: Nullable(
      Type.Integer({ minimum: 0, description: 'Its index in the list; null if the field is a single text.' }),
    ),
    text: Type.String({ description: 'The sentence.', examples: ['No gift cards.'] }),
  },
  { $id: 'ReadingPlace', description: 'Where the operator wrote it.' },
);
const Term = Fields({
  kind: Type.String({ description: 'What the words are taken to mean.', examples: ['cloud and hosting'] }),
  words: Type.String({ description: "The operator's words for it.", examples: ['servers'] }),
  from: Place,
});
const Name = Fields({ name: Type.String({ examples: ['Hetzner Online'] }), from: Place });

const AuthorityReading = Fields(
  {
    wanted: Type.Array(Term, { description: 'Kinds of goods that the purpose asks for.' }),
    forbidden: Type.Array(Term, { description: 'Goods that must never be bought.' }),
    conditions: Type.Array(
      Fields({
        text: Type.String({ examples: ['Domains only after approval'] }),
        met_by: Type.String({ description: 'Evidence that the condition is met.' }),
        from: Place,
      }),
    ),
    merchants: Type.Array(Name, { description: 'Names read as merchants or payees.' }),
    people: Type.Array(Name, { description: 'Names or words read as people.' }),
    not_understood: Type.Array(Fields({ text: Type.String(), from: Place }), {
      description: 'Sentences that gave no rule. Reword them.',
    }),
    examples: Type.Array(
      Fields({
        spend: Fields({
          action: Fields({
            type: Type.String(),
            merchant: Type.String(),
            amount_minor: Type.Integer({ minimum: 1 }),
            currency: Type.String(),
            description: Type.String(),
          }),
        }),
        assessment: OneOf(PURPOSE_ASSESSMENTS),
        because: Type.String({ description: 'One sentence.' }),
      }),
      {
        minItems: EXAMPLE_COUNT,
        maxItems: EXAMPLE_COUNT,
        description:
          "Example spends in this trade, assessed by the rules alone and without the agent's history; at least two assessments occur.",
      },
    ),
  },
  { $id: 'AuthorityReading', description: 'How the assessor reads an authority.' },
);

const IdParams = Fields({ id: Type.String({ description: "The agent's id or slug." }) });

const routes = {
  readDraftAuthority: route({
    method: 'POST',
    path: '/v1/authority/reading',
    operationId: 'readDraftAuthority',
    tag: 'Agents',
    summary: 'See how the assessor reads a draft',
    description:
      'What the assessor finds wanted, forbidden and required in a draft authority, the names it recognizes, the sentences it did not understand, and ten example spends with their assessments. Nothing is saved. The same draft always gives the same reading.',
    scopes: ['read'],
    body: AuthorityBody,
    responses: { 200: { description: 'The reading.', schema: AuthorityReading } },
    errors: [],
  }),
  readAuthority: route({
    method: 'GET',
    path: '/v1/agents/:id/authority/reading',
    operationId: 'readAuthority',
    tag: 'Agents',
    summary: 'See how the assessor reads an authority',
    description: "The same, for the agent's newest authority.",
    scopes: ['read'],
    params: IdParams,
    responses: { 200: { description: 'The reading.', schema: AuthorityReading } },
    errors: ['not_found'],
  }),
};

/**
 * Makes the routes that show how an authority is read. `assess_time` is the share of the event loop's time in which the
 * assessments of a workspace are made.
 */
export function makeReadingRoutes(options: { db: pg.Pool; assess: Assess; assess_time: WorkTime }): Route[] {
  const { db, assess, assess_time } = options;
  async function read(workspace_id: string, authority: Authority) {
    return assess_time.spend(workspace_id, () => {
      const reading = showReading(authority);
      return { ...reading, examples: exampleSpends(authority, reading, assess) };
    });
  }
  return [
    serve(routes.readDraftAuthority, { shares: 'reads' })(async (call) => ({
      status: 200,
      body: await read(call.caller.workspace_id, call.body),
    })),
    serve(routes.readAuthority, { shares: 'reads' })(async (call) => {
      const { workspace_id } = call.caller;
      const { agent_id } = await visibleAgent(db, call.caller, call.params.id);
      const row = await getAuthority(db, workspace_id, agent_id, null);
      if (row === undefined) throw new ApiError('not_found', 'The agent has no authority.');
      return { status: 200, body: await read(workspace_id, parseAuthority(row)) };
    }),
  ];
}
