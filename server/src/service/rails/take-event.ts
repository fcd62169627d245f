import {
  FIXED_FEEDS,
  MAX_PAGE_LINES,
  MAX_WORKSPACE_LINES,
  type RailEventResult,
  type RailKind,
} from '@purser/contract/values/history';
import type { CardEvent } from '@purser/rail-events/card-event';
import { type ReadEvent, readCardEvent } from '@purser/rail-events/card-events';
import { type Origin, SYSTEM } from '@purser/rules/domain/audit';
import { ApiError } from '@purser/rules/errors';
import { identityOfKey, type NewLine } from '@purser/rules/history/lines';
import type { RailRow } from '@purser/rules/rails/rails';
import type pg from 'pg';
import { NO_SUCH_RAIL } from '../../engine/commands/rails/update-rail.ts';
import { countRailEvent, findRail } from '../../engine/rails/rail-rows.ts';
import { countLines } from '../../engine/storage/history/lines.ts';
import type { InWorkspace } from '../../engine/storage/rows.ts';
import { withinTime } from '../scheduling/within-time.ts';
import { signatureProblem } from './signatures.ts';

/** The largest event, in bytes, and the events a minute from one address. */
export const MAX_EVENT_BYTES = 262_144;
export const EVENTS_PER_MINUTE = 6_000;
/** A vendor waits some ten seconds. What was begun goes on, and its retry finds the result. */
const ANSWER_WITHIN_MS = 8_000;
/** How long the number of a workspace's lines is taken as known. */
const COUNTED_FOR_MS = 60_000;

/** An event as its vendor sent it. */
export interface SentEvent {
  rail_id: string;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  request_id: string;
  client_address: string;
}

/** Records a card event that was read. Resolves with a problem that did not keep it from being taken, or null. */
export type RecordCardEvent = (
  rail: InWorkspace<RailRow>,
  recorded: { event: CardEvent; lines: readonly NewLine[]; origin: Origin },
) => Promise<string | null>;

export interface TakeEventOptions {
  db: pg.Pool;
  /** Decrypts the secrets of a rail. */
  open: (workspace_id: string, sealed: string) => string;
  record: RecordCardEvent;
  countEvent: (kind: RailKind, result: RailEventResult) => void;
  /** A clock that never runs backwards. */
  now_ms: () => number;
}

/** The lines of an event as its feed knows them: the same as from a file. */
function linesOf(kind: RailKind, { lines }: CardEvent): NewLine[] {
  return lines.map(({ line: { authorization, ...content }, key }) => ({
    ...content,
    authorization_id: authorization,
    feed: FIXED_FEEDS[kind],
    identity: identityOfKey(key),
    line_number: null,
  }));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new ApiError('invalid_request', 'body: is no JSON in UTF-8', { cause });
  }
}

/** Throws `invalid_request` for an event that nobody here may answer, or that cannot be read. */
function refuseUnread(read: ReadEvent): void {
  if (read.kind === 'ASKS') {
    const { type } = read;
    throw new ApiError(
      'invalid_request',
      `body: ${type} asks for an approval, and no payment is approved here; do not send this type to this endpoint`,
    );
  }
  if (read.kind === 'UNREADABLE') {
    const { column, message } = read.problem;
    throw new ApiError('invalid_request', `body: ${read.type ?? 'the event'}: ${column ?? 'it'} ${message}`);
  }
}

/** How many lines each workspace has, as far as this node has counted them lately. */
class LineRoom {
  readonly #known = new Map<string, { count: number; at_ms: number }>();
  readonly #options: Pick<TakeEventOptions, 'db' | 'now_ms'>;

  constructor(options: Pick<TakeEventOptions, 'db' | 'now_ms'>) {
    this.#options = options;
  }

  /** Throws `line_limit` where a workspace has as many lines as it may have. */
  async check(workspace_id: string): Promise<void> {
    const { db, now_ms } = this.#options;
    const known = this.#known.get(workspace_id);
    let count = known?.count ?? 0;
    if (known === undefined || now_ms() - known.at_ms > COUNTED_FOR_MS) {
      count = await countLines(db, workspace_id, MAX_WORKSPACE_LINES);
      this.#known.set(workspace_id, { count, at_ms: now_ms() });
    }
    if (count >= MAX_WORKSPACE_LINES)
      throw new ApiError(
        'line_limit',
        `The workspace has ${MAX_WORKSPACE_LINES} lines, which is the limit; delete an import.`,
      );
  }
}

const notInTime = () => new ApiError('unavailable', 'The event was not recorded in time; send it again.');

/**
 * Makes the function that takes an event of a rail: it checks who signed it, reads it and records it. Resolves once it is
 * committed, was before, or is of a type that is not used. Throws ApiError: `not_found`, `unauthenticated` for a wrong or old
 * signature, `invalid_request` for a request to approve a payment or what cannot be read, `line_limit`, `unavailable`. Each
 * event of a known rail is counted.
 */
export function makeTakeEvent(options: TakeEventOptions): (sent: SentEvent) => Promise<void> {
  const { db, open, record, countEvent } = options;
  const room = new LineRoom(options);

  async function take(rail: InWorkspace<RailRow>, now_ms: number, sent: SentEvent) {
    const { workspace_id, kind, sealed_secrets } = rail;
    const { headers, body } = sent;
    if (sealed_secrets === null)
      throw new ApiError('unauthenticated', 'The rail has no signing secret yet; give it one.');
    const secrets = JSON.parse(open(workspace_id, sealed_secrets)) as string[];
    const wrong = signatureProblem(kind, { headers, body, secrets, now_ms });
    if (wrong !== null) throw new ApiError('unauthenticated', wrong);
    const read = readCardEvent(kind, parsed(body), now_ms);
    refuseUnread(read);
    if (read.kind !== 'CARD') return { result: 'ignored' as const, problem: null };
    await room.check(workspace_id);
    const { request_id, client_address } = sent;
    const lines = linesOf(kind, read.event);
    if (lines.length > MAX_PAGE_LINES)
      throw new ApiError('invalid_request', `body: has over ${MAX_PAGE_LINES} movements of money`);
    const origin = { actor: SYSTEM, request_id, client_address };
    return { result: 'accepted' as const, problem: await record(rail, { event: read.event, lines, origin }) };
  }

  return async (sent) => {
    const found = await findRail(db, sent.rail_id);
    if (found === undefined) throw new ApiError('not_found', NO_SUCH_RAIL);
    const { clock_ms, ...rail } = found;
    const count = async (result: RailEventResult, problem: string | null) => {
      countEvent(rail.kind, result);
      await countRailEvent(db, rail, { result, problem });
    };
    try {
      const { result, problem } = await withinTime(take(rail, clock_ms, sent), ANSWER_WITHIN_MS, notInTime);
      await count(result, problem);
    } catch (error) {
      // A failure of the service is none of the event.
      if (error instanceof ApiError && error.code !== 'unavailable') await count('refused', error.message);
      throw error;
    }
  };
}
