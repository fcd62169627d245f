import { type TInteger, Type } from 'typebox';
import { route } from '../route.ts';
import { Fields, Line, OneOf } from '../schema.ts';
import { DOCS_THEMES, MAX_DOCS_SEARCH } from '../values/docs.ts';
import { MAIL_STATES } from '../values/mail.ts';
import { FOLLOWERS, type FollowerName } from '../values/reports.ts';

const PublicKeys = Fields(
  {
    keys: Type.Array(
      Fields({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String({ description: 'The 32 bytes of the key, base64url.' }),
        kid: Type.String({ description: 'The RFC 7638 thumbprint: the `key_id` of checkpoints.' }),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
      }),
    ),
  },
  { $id: 'PublicKeys' },
);

const Status = Fields({ status: Type.Literal('ok') });

const Readiness = Fields({
  status: Type.Literal('ok'),
  version: Type.String({ description: 'The version of Purser that answers.', examples: ['0.1.0'] }),
  detail: Fields({
    skipped_events: Fields(
      Object.fromEntries(FOLLOWERS.map((name) => [name, Type.Integer({ minimum: 0 })])) as Record<
        FollowerName,
        TInteger
      >,
      {
        description:
          'Events of all workspaces that could not be processed, and are missing from the shadow report and from the feedback that later assessments use. The log says why.',
      },
    ),
    clock_ahead_seconds: Type.Integer({
      minimum: 0,
      description:
        "How far the newest event is ahead of the database's clock, because it was recorded while that clock was wrong. Limits still follow the clock.",
    }),
    mail: OneOf(MAIL_STATES, {
      description:
        'FAILING if the last mail of this process could not be sent because of the mail server. The service is ready without it.',
    }),
    database: Fields({
      engine: OneOf(['postgres', 'citus'], {
        description: '`citus` where the tables are spread over the nodes of a distributed database.',
      }),
      nodes: Type.Array(
        Fields({
          node: Type.String({ description: 'Its address, `host:port`.', examples: ['10.0.0.7:5432'] }),
          reachable: Type.Boolean({
            description:
              'False: the workspaces on this node are refused with 503. All others are served, so the service stays ready.',
          }),
        }),
        { description: 'The worker nodes, as they were a second ago; empty on `postgres`.' },
      ),
    }),
    time_zone_data: Type.String({
      description:
        'The version of the IANA time zone database used for calendar limits and active hours. It comes with Node and should be the same on all nodes.',
      examples: ['2025c'],
    }),
  }),
});

const shared = {
  method: 'GET',
  tag: 'Service',
  scopes: 'public',
  errors: ['rate_limited', 'unavailable'],
} as const;

export const routes = {
  getHealth: route({
    ...shared,
    path: '/healthz',
    errors: [],
    operationId: 'getHealth',
    summary: 'Is the process up?',
    description: 'Answers while the process runs, whatever the state of the database.',
    responses: { 200: { description: 'It is.', schema: Status } },
  }),
  getReadiness: route({
    ...shared,
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Can it serve requests?',
    description:
      'Ready means that the database is reachable, writable and migrated, that its clock is trusted, and that the process is not shutting down. The check runs at most once a second.',
    responses: { 200: { description: 'It can.', schema: Readiness } },
  }),
  getMetrics: route({
    ...shared,
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus.',
    description: 'The counts of all processes since the service started, at most a second old.',
    responses: {
      200: {
        description: 'Metrics in the Prometheus text format.',
        schema: Type.String(),
        content_type: 'text/plain',
      },
    },
  }),
  getPublicKeys: route({
    ...shared,
    path: '/.well-known/jwks.json',
    operationId: 'getPublicKeys',
    summary: "The public keys that sign the ledger's checkpoints.",
    description:
      'A JWK set (RFC 7517). Keep your own copy: a signature is only as trustworthy as the key used to check it.',
    responses: { 200: { description: 'The keys.', schema: PublicKeys } },
  }),
  getOpenApi: route({
    ...shared,
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This API as OpenAPI 3.1.',
    description: 'Generated from the same declarations that validate every request.',
    responses: {
      200: { description: 'The document.', schema: Type.Object({}, { additionalProperties: true }) },
    },
  }),
  getDocs: route({
    ...shared,
    path: '/docs',
    operationId: 'getDocs',
    summary: 'The API reference as a page, and a search over it and the guides.',
    description:
      '`/openapi.json` in readable form. With `q`, the parts of reference and guides that have every word.',
    query: Fields({
      q: Type.Optional(Line({ max: MAX_DOCS_SEARCH, min: 0 })),
      theme: Type.Optional(OneOf(DOCS_THEMES)),
    }),
    responses: { 200: { description: 'The page.', schema: Type.String(), content_type: 'text/html' } },
  }),
};
