import { createHash } from 'node:crypto';
import { openCheckpoint, type VerifyingKey } from '../domain/checkpoints.ts';
import {
  checkLink,
  GENESIS,
  type LedgerBreak,
  type LedgerEvent,
  type LedgerHead,
  ledgerEventBody,
  type SubjectType,
  sha256,
  shownHash,
} from '../domain/ledger.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** The first line of an export. */
export interface ExportHeader {
  workspace_id: string;
  exported_at: string;
  /** The events follow this one, whose hash is `since_hash`; 0: from the beginning. */
  since: number;
  since_hash: Buffer;
  head: LedgerHead;
  /** The places in the chain of the checkpoints at the end, ascending. */
  checkpoints: readonly number[];
}

const FORMAT = 'purser-ledger-export';
const VERSION = 1;
/** A history that is broken everywhere is reported by its first breaks. */
const MAX_BREAKS = 1_000;

/** The header as a line, without its newline. */
export function headerLine(header: ExportHeader): string {
  const { workspace_id, exported_at, since, since_hash, head, checkpoints } = header;
  return JSON.stringify({
    kind: 'header',
    format: FORMAT,
    version: VERSION,
    workspace_id,
    exported_at,
    since,
    since_hash: shownHash(since_hash),
    head: { seq: head.seq, hash: shownHash(head.hash) },
    checkpoints,
  });
}

/**
 * An event as a line, with what it seals: `data_hash` is the SHA-256 of the RFC 8785 form of `data`. A decision's
 * `data.document` is the hash of its `document`, which stands beside it. Null: the row is gone.
 */
export function eventLine(
  event: LedgerEvent,
  data: Record<string, unknown> | null,
  document: string | null,
): string {
  return JSON.stringify({
    kind: 'event',
    event: ledgerEventBody(event),
    data,
    ...(document === null ? {} : { document }),
  });
}

/** A checkpoint as a line: all that it says is in its note. */
export function checkpointLine(note: string): string {
  return JSON.stringify({ kind: 'checkpoint', note });
}

/** The last line: how much there was, and the SHA-256 of all bytes before. */
export function endLine(events: number, checkpoints: number, digest: Buffer): string {
  return JSON.stringify({ kind: 'end', events, checkpoints, sha256: digest.toString('hex') });
}

/** What an export was found to be. */
export interface ExportVerdict {
  valid: boolean;
  /** Null where not even the header could be read. */
  workspace_id: string | null;
  since: number;
  events_checked: number;
  head: LedgerHead;
  /** Up to which event the history is signed with the key; null where nothing is. */
  signed_through_seq: number | null;
  signed_at: string | null;
  checkpoints_checked: number;
  breaks: LedgerBreak[];
  first_break_seq: number | null;
}

/** Takes an export line by line. Memory does not grow with it. */
export interface ExportVerifier {
  /** One line, without its newline, which must have followed it. */
  line(bytes: Buffer): void;
  /** What all lines say together; `rest` are bytes after the last newline. */
  end(rest: Buffer): ExportVerdict;
}

interface Line {
  kind?: unknown;
  event?: Record<string, unknown>;
  data?: Record<string, unknown> | null;
  document?: unknown;
  note?: unknown;
  [field: string]: unknown;
}

const HASH = /^sha256:([0-9a-f]{64})$/;

function hashOf(shown: unknown): Buffer {
  const hex = typeof shown === 'string' ? HASH.exec(shown)?.[1] : undefined;
  if (hex === undefined) throw new TypeError('is no hash');
  return Buffer.from(hex, 'hex');
}

function placeOf(seq: unknown): number {
  if (!Number.isSafeInteger(seq)) throw new TypeError('is no place in a chain');
  return seq as number;
}

/** Fields are told apart from what was written by writing them again: only what is used needs a look. */
function headerOf(line: Line): ExportHeader {
  const { workspace_id, exported_at, since, since_hash, head, checkpoints } = line as unknown as ExportHeader;
  return {
    workspace_id,
    exported_at,
    since: placeOf(since),
    since_hash: hashOf(since_hash),
    head: { seq: placeOf(head.seq), hash: hashOf(head.hash) },
    checkpoints: checkpoints.map(placeOf),
  };
}

function eventOf(line: Line): LedgerEvent {
  const { event } = line as unknown as {
    event: Omit<LedgerEvent, 'subject_type' | 'subject_id'> & { subject: { type: SubjectType; id: string } };
  };
  return {
    seq: placeOf(event.seq),
    id: event.id,
    type: event.type,
    subject_type: event.subject.type,
    subject_id: event.subject.id,
    occurred_at: event.occurred_at,
    data_hash: hashOf(event.data_hash),
    prev_hash: hashOf(event.prev_hash),
    hash: hashOf(event.hash),
  };
}

/** What an event seals, hashed anew; null where the row is gone. */
function sealedHash(event: LedgerEvent, line: Line): Buffer | null {
  const { data, document } = line;
  if (data === null || data === undefined) return null;
  const hash = sha256(canonicalJson(data));
  if (event.type !== 'decision.created') return hash;
  const is_its_own = typeof document === 'string' && shownHash(sha256(document)) === data.document;
  return is_its_own ? hash : sha256('another document');
}

/**
 * Verifies an export with nothing but the public keys: every hash, every link, every signature, and that not a byte
 * of it is another than when it was written. Never throws, whatever the lines hold.
 */
export function makeExportVerifier(keys: readonly VerifyingKey[]): ExportVerifier {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const whole = createHash('sha256');
  const breaks: LedgerBreak[] = [];
  const signed_hashes = new Map<number, Buffer>();
  const counts = { lines: 0, events: 0, checkpoints: 0, good: 0 };
  let header: ExportHeader | null = null;
  let previous: LedgerHead = GENESIS;
  let newest: { seq: number; signed_at: string } | null = null;
  let is_over = false;

  const add = (found: LedgerBreak) => {
    const seq = Number.isSafeInteger(found.seq) ? Math.max(0, found.seq) : previous.seq + 1;
    if (breaks.length < MAX_BREAKS) breaks.push({ ...found, seq });
  };
  const damaged = (problem: string) =>
    add({ seq: previous.seq + 1, kind: 'ENTRY_ALTERED', detail: `Line ${counts.lines} ${problem}.` });

  function takeHeader(line: Line, text: string): void {
    const read = headerOf(line);
    if (headerLine(read) !== text) throw new TypeError('is not as it was written');
    header = read;
    // From the beginning the first event follows 32 zero bytes, so that another hash here is a broken link.
    previous = { seq: read.since, hash: read.since_hash };
    if (read.since === 0 && !read.since_hash.equals(GENESIS.hash)) {
      add({ seq: 0, kind: 'LINK_BROKEN', detail: 'The header names a hash before the first event.' });
    }
    if (read.checkpoints.includes(read.since)) signed_hashes.set(read.since, previous.hash);
  }

  function takeEvent(line: Line, text: string, wanted: ExportHeader): void {
    const event = eventOf(line);
    const data = line.data ?? null;
    const document = event.type === 'decision.created' && data !== null ? String(line.document) : null;
    if (eventLine(event, data, document) !== text) throw new TypeError('is not as it was written');
    if (counts.checkpoints > 0) throw new TypeError('comes after the checkpoints');
    for (const found of checkLink(previous, event, sealedHash(event, line))) add(found);
    previous = { seq: event.seq, hash: event.hash };
    counts.events += 1;
    if (wanted.checkpoints.includes(event.seq)) signed_hashes.set(event.seq, event.hash);
  }

  function takeCheckpoint(line: Line, text: string, wanted: ExportHeader): void {
    const note = String(line.note);
    if (checkpointLine(note) !== text) throw new TypeError('is not as it was written');
    const seq = wanted.checkpoints[counts.checkpoints] ?? previous.seq + 1;
    counts.checkpoints += 1;
    const said = openCheckpoint(note, keys);
    if (said === null || said.workspace_id !== wanted.workspace_id || said.seq !== seq) {
      const detail = `The checkpoint of event ${seq} is not signed with such a key for this history.`;
      add({ seq, kind: 'ROW_MISMATCH', detail });
      return;
    }
    if (said.seq > previous.seq) {
      const detail = `The chain ends at event ${previous.seq}, but event ${seq} was signed at ${said.signed_at}.`;
      add({ seq: previous.seq + 1, kind: 'TRUNCATED', detail });
      return;
    }
    const hash = signed_hashes.get(seq);
    if (hash === undefined) {
      // Before where the export begins: it cannot be held against anything here.
      if (seq >= wanted.since)
        add({ seq, kind: 'GAP', detail: `Event ${seq}, which was signed, is missing.` });
      return;
    }
    if (!hash.equals(said.hash)) {
      const detail = `Event ${seq} is not the one that was signed at ${said.signed_at}.`;
      add({ seq, kind: 'ENTRY_ALTERED', detail });
      return;
    }
    counts.good += 1;
    if (newest === null || said.seq >= newest.seq) newest = { seq: said.seq, signed_at: said.signed_at };
  }

  function take(text: string, digest: Buffer): void {
    const line = JSON.parse(text) as Line;
    if (is_over) throw new TypeError('comes after the end');
    if (header === null) takeHeader(line, text);
    else if (line.kind === 'event') takeEvent(line, text, header);
    else if (line.kind === 'checkpoint') takeCheckpoint(line, text, header);
    else takeEnd(text, digest);
  }

  function takeEnd(text: string, digest: Buffer): void {
    if (text !== endLine(counts.events, counts.checkpoints, digest))
      throw new TypeError('is not as it was written');
    is_over = true;
  }

  return {
    line(bytes) {
      counts.lines += 1;
      const digest = whole.copy().digest();
      whole.update(bytes).update('\n');
      try {
        take(decoder.decode(bytes), digest);
      } catch {
        damaged('is not as it was exported');
      }
    },
    end(rest) {
      if (rest.length > 0) {
        counts.lines += 1;
        damaged('does not end');
      }
      const seq = previous.seq + 1;
      const head = header?.head ?? GENESIS;
      if (!is_over)
        add({ seq, kind: 'TRUNCATED', detail: 'The export was cut off: its last line is missing.' });
      if (head.seq > previous.seq) {
        const detail = `The export ends at event ${previous.seq}, but its head is event ${head.seq}.`;
        add({ seq, kind: 'TRUNCATED', detail });
      } else if (head.seq !== previous.seq || !head.hash.equals(previous.hash)) {
        const detail = `Event ${previous.seq} is not the head of the export, which is event ${head.seq}.`;
        add({ seq: previous.seq, kind: 'LINK_BROKEN', detail });
      }
      if (counts.checkpoints !== (header?.checkpoints.length ?? 0)) {
        add({ seq, kind: 'TRUNCATED', detail: 'Checkpoints that the header names are missing.' });
      }
      if (newest === null) {
        const detail = 'Nothing here is signed with this key: anyone could have written it.';
        add({ seq: previous.seq, kind: 'LINK_BROKEN', detail });
      }
      breaks.sort((a, b) => a.seq - b.seq);
      return {
        valid: breaks.length === 0,
        workspace_id: header?.workspace_id ?? null,
        since: header?.since ?? 0,
        events_checked: counts.events,
        head: previous,
        signed_through_seq: newest?.seq ?? null,
        signed_at: newest?.signed_at ?? null,
        checkpoints_checked: counts.good,
        breaks,
        first_break_seq: breaks[0]?.seq ?? null,
      };
    },
  };
}
