import { Type } from 'typebox';
import { InstrumentBody, LineBody } from '../../history/lines.ts';
import { MAX_AMOUNT_MINOR } from '../../limits.ts';
import { route } from '../../route.ts';
import {
  Currency,
  Fields,
  Formed,
  IdIn,
  InstantIn,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QueryBound,
  QueryInteger,
  QuerySeveral,
} from '../../schema.ts';
import { LINE_STATES } from '../../values/coverage.ts';
import { LINE_KINDS } from '../../values/history.ts';

const AgentName = (words: { description: string }) =>
  Formed('^(agt_[0-9A-Za-z]{1,60}|[a-z0-9][a-z0-9_-]{0,63})$', "must be an agent's slug or id", {
    examples: ['infra-bot'],
    ...words,
  });

/** The name of an instrument: its rail, a colon, and what the rail calls it. */
export const InstrumentName = () =>
  Formed(
    '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!#-\\[\\]-~]{1,200}$',
    'must be "<rail>:<id>" without blanks, quotes and backslashes',
    { examples: ['stripe_issuing:ic_1032'] },
  );

/** The filters of lines. */
export const LineFilterQuery = {
  import: Type.Optional(IdIn('import', { description: 'Lines of this import.' })),
  rail: Type.Optional(IdIn('rail', { description: 'Lines that this rail sent.' })),
  feed: Type.Optional(
    QuerySeveral(Formed('^[a-z0-9][a-z0-9_-]{0,63}$', 'must be the name of a feed', { examples: ['ramp'] })),
  ),
  agent: Type.Optional(AgentName({ description: 'Lines of this agent; `none`: lines that are nobody’s.' })),
  kind: Type.Optional(QuerySeveral(OneOf(LINE_KINDS))),
  state: Type.Optional(
    QuerySeveral(OneOf(LINE_STATES), { description: 'Whether a decision asked for them.' }),
  ),
  merchant: Type.Optional(Line({ max: 200 }, { description: 'Exactly this merchant.' })),
  instrument: Type.Optional(InstrumentName()),
  currency: Type.Optional(QuerySeveral(Currency())),
  q: Type.Optional(Line({ max: 200 }, { description: 'A part of the merchant, in any case.' })),
  min_amount: Type.Optional(
    QueryInteger({ min: 0, max: MAX_AMOUNT_MINOR }, { description: 'At least this amount, in minor units.' }),
  ),
  max_amount: Type.Optional(
    QueryInteger({ min: 0, max: MAX_AMOUNT_MINOR }, { description: 'At most this amount, in minor units.' }),
  ),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
};

const AssignBody = Fields(
  {
    agent: Nullable(AgentName({ description: 'Whose it is; null: the agent of the import counts again.' })),
    from: Type.Optional(
      Nullable(
        InstantIn({
          description: 'From when on; left out: for all times. Replaces what was said of later times.',
        }),
      ),
    ),
  },
  { $id: 'AssignInstrumentRequest' },
);

export const routes = {
  listLines: route({
    method: 'GET',
    path: '/v1/lines',
    operationId: 'listLines',
    tag: 'History',
    summary: 'List lines',
    description: 'What payment rails say was paid, as imported; those recorded last come first.',
    scopes: ['read'],
    query: Fields({ ...LineFilterQuery, ...PageQuery }),
    responses: { 200: { description: 'A page of lines.', schema: page(LineBody, { $id: 'LinePage' }) } },
    errors: ['not_found'],
  }),
  getLine: route({
    method: 'GET',
    path: '/v1/lines/:id',
    operationId: 'getLine',
    tag: 'History',
    summary: 'Get a line',
    description: 'One movement of money, as its rail reports it.',
    params: Fields({ id: Type.String({ description: "The line's id." }) }),
    scopes: ['read'],
    responses: { 200: { description: 'The line.', schema: LineBody } },
    errors: ['not_found'],
  }),
  listInstruments: route({
    method: 'GET',
    path: '/v1/instruments',
    operationId: 'listInstruments',
    tag: 'History',
    summary: 'List instruments',
    description:
      'The cards, accounts and projects that lines name or that were assigned, in the order of their names.',
    scopes: ['read'],
    query: Fields(PageQuery),
    responses: {
      200: { description: 'A page of instruments.', schema: page(InstrumentBody, { $id: 'InstrumentPage' }) },
    },
    errors: [],
  }),
  assignInstrument: route({
    method: 'PUT',
    path: '/v1/instruments/:instrument',
    operationId: 'assignInstrument',
    tag: 'History',
    summary: 'Assign an instrument to an agent',
    description: 'Says whose the lines of a card, account or project are.',
    scopes: ['admin'],
    params: Fields({ instrument: InstrumentName() }),
    body: AssignBody,
    responses: { 200: { description: 'The instrument.', schema: InstrumentBody } },
    errors: ['not_found'],
  }),
};
