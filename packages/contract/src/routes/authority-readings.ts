import { Type } from 'typebox';
import { AuthorityBody } from '../authority.ts';
import { route } from '../route.ts';
import { Fields, Nullable, OneOf } from '../schema.ts';
import { EXAMPLE_COUNT, PURPOSE_ASSESSMENTS } from '../values/decisions.ts';

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

/** `kind` and `words` name the reading in a correction, `purpose.reading.not`. */
const Reading = (kind: string, words: string) => ({
  kind: Type.String({ description: 'What the words are taken to mean.', examples: [kind] }),
  words: Type.String({ description: "The operator's words for it.", examples: [words] }),
});

const Term = Fields({ ...Reading('cloud and hosting', 'servers'), from: Place });

const Name = Fields({
  ...Reading('merchant', 'Hetzner Online'),
  name: Type.String({ examples: ['Hetzner Online'] }),
  from: Place,
});

const Sentence = (kind: string, words: string) =>
  Fields({ ...Reading(kind, words), text: Type.String(), from: Place });

const AuthorityReading = Fields(
  {
    wanted: Type.Array(Term, { description: 'Kinds of goods that the purpose asks for.' }),
    forbidden: Type.Array(Term, { description: 'Goods that must never be bought.' }),
    conditions: Type.Array(
      Fields({
        ...Reading('condition', 'Domains only after approval'),
        text: Type.String({ examples: ['Domains only after approval'] }),
        met_by: Type.String({ description: 'Evidence that the condition is met.' }),
        from: Place,
      }),
    ),
    merchants: Type.Array(Name, { description: 'Names read as merchants or payees.' }),
    people: Type.Array(Name, { description: 'Names or words read as people.' }),
    wishes: Type.Array(Sentence('wish', 'Ideally organic'), {
      description: 'Sentences that wish ("ideally", "if possible") or name a substitute. They ask nothing.',
    }),
    not_understood: Type.Array(Sentence('not_understood', 'Be nice to the neighbours'), {
      description: 'Sentences that gave no rule and ask nothing. Reword them.',
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

export const routes = {
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
