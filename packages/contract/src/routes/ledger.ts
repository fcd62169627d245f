import { Type } from 'typebox';
import { route } from '../route.ts';
import {
  Fields,
  Formed,
  Id,
  Nullable,
  OneOf,
  PageQuery,
  page,
  QueryBound,
  QueryInteger,
  QuerySeveral,
  Timestamp,
} from '../schema.ts';
import { BREAK_KINDS, LEDGER_EVENT_TYPES, MAX_EVENTS_LOOKED_AT, SUBJECT_TYPES } from '../values/ledger.ts';

export const EXPORT_TYPE = 'application/x-ndjson';

const Hash = (description: string) => Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description });

const Seq = Type.Integer({ minimum: 0 });

const LedgerEventBody = Fields(
  {
    seq: Type.Integer({ minimum: 1, description: '1, 2, 3, … without gaps.' }),
    id: Id('event'),
    type: OneOf(LEDGER_EVENT_TYPES),
    subject: Fields({ type: OneOf(SUBJECT_TYPES), id: Type.String() }),
    occurred_at: Timestamp(),
    data_hash: Hash(
      "The hash of the event's data, recomputed from the live rows when the chain is verified.",
    ),
    prev_hash: Hash('The hash of the previous event; 32 zero bytes for the first.'),
    hash: Hash('SHA-256(prev_hash ‖ RFC 8785 of {seq, id, type, subject, occurred_at, data_hash}).'),
  },
  { $id: 'LedgerEvent' },
);

const checkpointFields = {
  seq: Type.Integer({ minimum: 1, description: 'Number of signed events.' }),
  hash: Hash('The hash of the last of them, which fixes the whole history up to it.'),
  signed_at: Timestamp(),
  key_id: Type.String({ description: 'The `kid` in `/.well-known/jwks.json`.' }),
  note: Type.String({
    description:
      "The C2SP signed note (tlog-checkpoint, Ed25519). Its root hash line holds the chain's head hash. Keep it to compare a later history against it.",
  }),
};

const CheckpointBody = Fields(checkpointFields, { $id: 'SignedCheckpoint' });

const approvalFields = {
  approvals: Fields(
    { signed: Seq, verified: Seq },
    {
      $id: 'SignedApprovals',
      description:
        'The reviews with a signature, and how many of them are proved. With `since`, the earlier signing keys are unknown and nothing is verified.',
    },
  ),
  signer_roots: Type.Array(
    Fields(
      {
        fingerprint: Type.String({ examples: ['SHA256:jCzJzzB0xP1U8GBvU+kEUyiBf3a+z8jmqOSv2Ffsnjw='] }),
        principal_id: Type.String(),
        from_seq: Seq,
        until_seq: Nullable(Type.Integer({ minimum: 0, description: 'The event that ended it.' })),
        pinned: Type.Boolean(),
      },
      { $id: 'SignerRoot', description: 'A root signing key, and the part of the history that it covers.' },
    ),
  ),
  roots_pinned: Type.Boolean({
    description:
      'True if the verifier named the roots that it trusts, as `purser ledger verify-file --signer-root` does. The service names none.',
  }),
};

const VerificationBody = Fields(
  {
    valid: Type.Boolean(),
    checked_at: Timestamp(),
    events_checked: Seq,
    head: Fields({ seq: Seq, hash: Hash('The end of the chain.') }),
    checkpoint: Nullable(
      Fields(
        {
          ...checkpointFields,
          checked: Type.Integer({
            minimum: 1,
            description: 'Number of stored checkpoints that the chain was checked against.',
          }),
        },
        {
          $id: 'LedgerCheckpoint',
          description: 'The newest stored signed checkpoint; null if there is none yet.',
        },
      ),
    ),
    ...approvalFields,
    breaks: Type.Array(Fields({ seq: Seq, kind: OneOf(BREAK_KINDS), detail: Type.String() })),
    first_break_seq: Nullable(Seq),
    duration_ms: Type.Number({ minimum: 0 }),
  },
  { $id: 'LedgerVerification' },
);

const ExportQuery = Fields({
  since: Type.Optional(
    QueryInteger(
      { min: 0, max: Number.MAX_SAFE_INTEGER },
      { description: 'Export only the events after this one.' },
    ),
  ),
});

const SubjectRef = Formed(
  '^[a-z]{2,4}_[A-Za-z0-9]{1,64}$',
  'must be an id, such as dec_01KAJ5F0V8Z3M2Q9X7T4R6N1BD',
);

const ListQuery = Fields({
  type: Type.Optional(QuerySeveral(OneOf(LEDGER_EVENT_TYPES))),
  subject: Type.Optional(QuerySeveral(SubjectRef, { description: "The id of the event's subject." })),
  from: Type.Optional(QueryBound('from')),
  to: Type.Optional(QueryBound('to')),
  order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Defaults to newest first (`desc`).' })),
  after: Type.Optional(
    QueryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }, { description: 'Only events after this `seq`.' }),
  ),
  ...PageQuery,
});

const CheckpointQuery = Fields(PageQuery);

const SeqParams = Fields({ seq: Type.String({ pattern: '^[1-9][0-9]{0,15}$' }) });

const VerifyQuery = Fields({
  since: Type.Optional(
    QueryInteger(
      { min: 0, max: Number.MAX_SAFE_INTEGER },
      {
        description:
          'Verify only the events after this one, whose hash is trusted. Rows that change are then not checked against earlier events.',
      },
    ),
  ),
});

export const routes = {
  listLedgerEvents: route({
    method: 'GET',
    path: '/v1/ledger/events',
    operationId: 'listLedgerEvents',
    tag: 'Ledger',
    summary: "List the ledger's events",
    description: `Newest first unless \`order\` is \`asc\`. Filters combine with AND. A page ends at \`limit\`, or after ${MAX_EVENTS_LOOKED_AT} examined events; only a null \`next_cursor\` marks the last page. With \`accept: text/csv\` the response is one table of all matching events, up to the end of the chain when it starts, or one page of them if \`limit\` or \`cursor\` is given.`,
    scopes: ['read'],
    query: ListQuery,
    responses: {
      200: {
        description: 'A page of events.',
        schema: page(LedgerEventBody, { $id: 'LedgerEventPage' }),
        or_as: ['text/csv'],
      },
    },
    errors: [],
  }),
  getLedgerEvent: route({
    method: 'GET',
    path: '/v1/ledger/events/:seq',
    operationId: 'getLedgerEvent',
    tag: 'Ledger',
    summary: 'Get one event of the ledger',
    description: 'By its `seq`. Its hash can be recomputed from its fields alone.',
    scopes: ['read'],
    params: SeqParams,
    responses: { 200: { description: 'The event.', schema: LedgerEventBody } },
    errors: ['not_found'],
  }),
  listCheckpoints: route({
    method: 'GET',
    path: '/v1/ledger/checkpoints',
    operationId: 'listCheckpoints',
    tag: 'Ledger',
    summary: 'List the signed checkpoints',
    description:
      'Newest first. A checkpoint is signed within seconds of a change; the database stores all recent ones and some older ones. Keep a note elsewhere to compare a later history against it.',
    scopes: ['read'],
    query: CheckpointQuery,
    responses: {
      200: {
        description: 'A page of checkpoints.',
        schema: page(CheckpointBody, { $id: 'CheckpointPage' }),
      },
    },
    errors: [],
  }),
  verifyLedger: route({
    method: 'GET',
    path: '/v1/ledger/verify',
    operationId: 'verifyLedger',
    tag: 'Ledger',
    summary: 'Verify the history',
    description:
      'Re-derives every hash of the chain from the live rows and reports any edit. Also answers 200 if the history was altered: check `valid`.',
    scopes: ['read'],
    query: VerifyQuery,
    responses: { 200: { description: 'The result.', schema: VerificationBody } },
    errors: [],
  }),
  exportLedger: route({
    method: 'GET',
    path: '/v1/ledger/export',
    operationId: 'exportLedger',
    tag: 'Ledger',
    summary: 'Export the history',
    description: [
      'JSON Lines: a header; every event with the data it seals, so that `data_hash` can be recomputed (SHA-256 of the RFC 8785 form of `data`; for a decision, `data.document` is the SHA-256 of the `document` next to it); the signed checkpoints; and a last line with the SHA-256 of all lines before it. A truncated export lacks the last line.',
      'Audit records contain e-mails, client addresses and session ids, which cannot be removed without changing the hash. Callers without `admin` therefore get administrative events with `"withheld": true` and without `data`; the header says `"audit_records": "withheld"`. Such an export still verifies, and the verdict counts the withheld events.',
      '`purser ledger verify-file FILE --public-key KEY` verifies the export offline.',
    ].join('\n\n'),
    scopes: ['read'],
    query: ExportQuery,
    responses: {
      200: {
        description: 'The history.',
        schema: Type.String(),
        content_type: EXPORT_TYPE,
        headers: { 'content-disposition': 'A name for the file.' },
      },
    },
    errors: [],
  }),
};
