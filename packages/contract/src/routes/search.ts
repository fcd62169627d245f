import { Type } from 'typebox';
import { route } from '../route.ts';
import { Fields, Line, OneOf, PageQuery, page, Timestamp } from '../schema.ts';

/** The kinds of things that a search finds, in the order of its answer. */
export const SEARCH_KINDS = ['agent', 'budget', 'merchant', 'key', 'person', 'decision'] as const;

const Hit = Fields(
  {
    kind: OneOf(SEARCH_KINDS),
    id: Type.String({ description: 'Its id; of a merchant, the name as requested.' }),
    title: Type.String({ description: 'The name; of a decision, the merchant.' }),
    subtitle: Type.String({ examples: ['EUR 54.40, infra-bot, ALLOW'] }),
    at: Timestamp({
      description: 'When it was created; of a merchant, when it was last requested or listed.',
    }),
  },
  { $id: 'SearchHit' },
);

export const routes = {
  search: route({
    method: 'GET',
    path: '/v1/search',
    operationId: 'search',
    tag: 'Search',
    summary: 'Find decisions, agents, merchants, budgets, keys and people',
    description:
      'Everything with a text that contains `q`, without regard to case and accents. Of a decision these are merchant, description, task, payee, amount (`446.08`), comments, notes, external references and the beginnings of ids; of anything else its name and slug or e-mail. Agents, budgets, merchants, keys and people come first, then decisions, newest first. A new decision can be found after some seconds, and by its id at once. An agent key finds only decisions of its agent, without notes; keys and people are found only with `admin`. A page may hold fewer than `limit`, or none, without being the last; only a null `next_cursor` marks the last page.',
    scopes: ['read'],
    agentKey: 'own',
    query: Fields({
      q: Line({ min: 2, max: 200 }, { description: 'What to find.', examples: ['hetzner'] }),
      ...PageQuery,
    }),
    responses: {
      200: { description: 'A page of what was found.', schema: page(Hit, { $id: 'SearchPage' }) },
    },
    errors: [],
  }),
};
