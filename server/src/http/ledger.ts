import type pg from 'pg';
import Type, { type Static } from 'typebox';
import {
  BREAK_KINDS,
  LEDGER_EVENT_TYPES,
  ledgerEventBody,
  SUBJECT_TYPES,
  shownHash,
} from '../domain/ledger.ts';
import { listLedgerEvents } from '../storage/ledger.ts';
import { verifyLedger } from '../storage/verify-ledger.ts';
import { type Cursors, pageOf } from './cursors.ts';
import type { Call, Route } from './route.ts';
import { Fields, Id, Nullable, OneOf, PageQuery, page, QueryInteger, Timestamp } from './schemas.ts';

const Hash = (description: string) => Type.String({ pattern: '^sha256:[0-9a-f]{64}$', description });
const Seq = Type.Integer({ minimum: 0 });

const LedgerEventBody = Fields(
  {
    seq: Type.Integer({ minimum: 1, description: '1, 2, 3, … without a gap.' }),
    id: Id('event'),
    type: OneOf(LEDGER_EVENT_TYPES),
    subject: Fields({ type: OneOf(SUBJECT_TYPES), id: Type.String() }),
    occurred_at: Timestamp(),
    data_hash: Hash('Of what the event is about, rebuilt from the live rows when the chain is verified.'),
    prev_hash: Hash('The hash of the event before; 32 zero bytes for the first.'),
    hash: Hash('SHA-256(prev_hash ‖ RFC 8785 of {seq, id, type, subject, occurred_at, data_hash}).'),
  },
  { $id: 'LedgerEvent' },
);

const VerificationBody = Fields(
  {
    valid: Type.Boolean(),
    checked_at: Timestamp(),
    events_checked: Seq,
    head: Fields({ seq: Seq, hash: Hash('Where the chain ends.') }),
    checkpoint: Type.Null({ description: 'No signed checkpoint is kept yet.' }),
    breaks: Type.Array(Fields({ seq: Seq, kind: OneOf(BREAK_KINDS), detail: Type.String() })),
    first_break_seq: Nullable(Seq),
    duration_ms: Type.Number({ minimum: 0 }),
  },
  { $id: 'LedgerVerification' },
);

const ListQuery = Fields(PageQuery);
const VerifyQuery = Fields({
  since: Type.Optional(
    QueryInteger(
      { min: 0, max: Number.MAX_SAFE_INTEGER },
      { description: 'Verify only what follows this event, whose hash is taken as given.' },
    ),
  ),
});

/** The hash-chained history. */
export function makeLedgerRoutes(options: { db: pg.Pool; cursors: Cursors; now_ms: () => number }): Route[] {
  const { db, cursors, now_ms } = options;
  return [
    {
      method: 'GET',
      path: '/v1/ledger/events',
      operationId: 'listLedgerEvents',
      tag: 'Ledger',
      summary: "List the chain's events",
      description: 'Newest first.',
      scopes: ['read'],
      query: ListQuery,
      responses: {
        200: { description: 'A page of events.', schema: page(LedgerEventBody, { $id: 'LedgerEventPage' }) },
      },
      errors: [],
      handler: async (call: Call<unknown, Static<typeof ListQuery>, unknown>) => {
        const { limit = 50, cursor } = call.query;
        const { workspace_id } = call.caller;
        const list = ['listLedgerEvents', workspace_id];
        const before = cursors.open(list, cursor) as number | null;
        const found = await listLedgerEvents(db, workspace_id, { before, limit: limit + 1 });
        const { rows, next_cursor } = pageOf(found, limit, (last) => cursors.seal(list, last.seq));
        return { status: 200, body: { data: rows.map(ledgerEventBody), next_cursor } };
      },
    },
    {
      method: 'GET',
      path: '/v1/ledger/verify',
      operationId: 'verifyLedger',
      tag: 'Ledger',
      summary: 'Verify the history',
      description:
        'Re-derives every hash of the chain from the live rows and reports any edit. Answers 200 also when the history is not what it was: look at `valid`.',
      scopes: ['read'],
      takes_long: true,
      query: VerifyQuery,
      responses: { 200: { description: 'What was found.', schema: VerificationBody } },
      errors: [],
      handler: async (call: Call<unknown, Static<typeof VerifyQuery>, unknown>) => {
        const began_ms = now_ms();
        const found = await verifyLedger(db, call.caller.workspace_id, { since: call.query.since ?? 0 });
        const { head, breaks, first_break_seq, ...rest } = found;
        return {
          status: 200,
          body: {
            ...rest,
            head: { seq: head.seq, hash: shownHash(head.hash) },
            checkpoint: null,
            breaks,
            first_break_seq,
            duration_ms: Math.round((now_ms() - began_ms) * 1000) / 1000,
          },
        };
      },
    },
  ];
}
