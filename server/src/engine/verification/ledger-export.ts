import { createHash } from 'node:crypto';
import type { Decision } from '@purser/contract/decisions';
import type { ReviewPolicy } from '@purser/contract/reviews/policy';
import { type Checkpoint, openCheckpoint, type VerifyingKey } from '@purser/rules/domain/checkpoints';
import {
  checkLink,
  GENESIS,
  isAdministrative,
  type LedgerBreak,
  type LedgerEvent,
  type LedgerHead,
  ledgerEventBody,
  type SubjectType,
  sha256,
  shownHash,
} from '@purser/rules/domain/ledger';
import { hasTermsOf } from '@purser/rules/reviews/review-policy';
import { ExportedApprovals } from '@purser/rules/signing/exported-approvals';
import type { ApprovalsVerdict } from '@purser/rules/signing/history';
import { canonicalJson } from '@purser/rules/values/canonical-json';

import { GonePages } from '../history/gone-pages.ts';
import { wrongTier } from './tiers.ts';

/** The first line of an export. */
export interface ExportHeader {
  workspace_id: string;
  exported_at: string;
  /** The event before the first exported one, with the hash `since_hash`; 0: the export begins with the first event. */
  since: number;
  since_hash: Buffer;
  head: LedgerHead;
  /** The `seq` of the checkpoints at the end, ascending. */
  checkpoints: readonly number[];
  /** The audit records are left out, and their hashes alone are here: made for a caller without `admin`. */
  is_withheld: boolean;
}

const FORMAT = 'purser-ledger-export';
const VERSION = 1;
/** That of exports without audit records, which earlier verifiers do not know. */
const VERSION_WITHHELD = 2;
/** Only the first breaks of a history that is broken everywhere are reported. */
const MAX_BREAKS = 1_000;

/** Returns the line of the header, without its newline. */
export function headerLine(header: ExportHeader): string {
  const { workspace_id, exported_at, since, since_hash, head, checkpoints, is_withheld } = header;
  return JSON.stringify({
    kind: 'header',
    format: FORMAT,
    version: is_withheld ? VERSION_WITHHELD : VERSION,
    ...(is_withheld ? { audit_records: 'withheld' } : {}),
    workspace_id,
    exported_at,
    since,
    since_hash: shownHash(since_hash),
    head: { seq: head.seq, hash: shownHash(head.hash) },
    checkpoints,
  });
}

/**
 * Returns the line of an event with what it seals: `data_hash` is the SHA-256 of the RFC 8785 form of `data`. A decision
 * has its `document` beside `data`, in which `data.document` is its hash. `data` is null if the row is missing, or
 * `is_withheld`.
 */
export function eventLine(
  event: LedgerEvent,
  data: Record<string, unknown> | null,
  document: string | null,
  is_withheld = false,
): string {
  return JSON.stringify({
    kind: 'event',
    event: ledgerEventBody(event),
    data,
    ...(document === null ? {} : { document }),
    ...(is_withheld ? { withheld: true } : {}),
  });
}

/** Returns the line of a checkpoint, whose content is all in its note. */
export function checkpointLine(note: string): string {
  return JSON.stringify({ kind: 'checkpoint', note });
}

/** Returns the last line: the numbers of events and checkpoints, and the SHA-256 of all bytes before it. */
export function endLine(events: number, checkpoints: number, digest: Buffer): string {
  return JSON.stringify({ kind: 'end', events, checkpoints, sha256: digest.toString('hex') });
}

/** The result of verifying an export. */
export interface ExportVerdict extends ApprovalsVerdict {
  valid: boolean;
  /** Null if not even the header could be read. */
  workspace_id: string | null;
  since: number;
  events_checked: number;
  /** How many events are here with their hash alone: nobody compared what they seal. */
  withheld: number;
  head: LedgerHead;
  /** The last event up to which the history is signed with the keys; null if nothing is signed. */
  signed_through_seq: number | null;
  signed_at: string | null;
  checkpoints_checked: number;
  breaks: LedgerBreak[];
  first_break_seq: number | null;
}

/** Verifies an export line by line. Memory does not grow with its length. */
export interface ExportVerifier {
  /** Takes the next line, without the newline that ended it. */
  line(bytes: Buffer): void;
  /** Returns the verdict over all lines; `rest` are the bytes after the last newline. */
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

/** Reads a header. The caller compares it with the line by serializing it again, so only fields used here are checked. */
function headerOf(line: Line): ExportHeader {
  const { workspace_id, exported_at, since, since_hash, head, checkpoints } = line as unknown as ExportHeader;
  return {
    workspace_id,
    exported_at,
    since: placeOf(since),
    since_hash: hashOf(since_hash),
    head: { seq: placeOf(head.seq), hash: hashOf(head.hash) },
    checkpoints: checkpoints.map(placeOf),
    is_withheld: line.audit_records === 'withheld',
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

/** Computes the hash of what an event seals; null if the row is missing. */
function sealedHash(event: LedgerEvent, line: Line): Buffer | null {
  const { data, document } = line;
  if (data === null || data === undefined) return null;
  const hash = sha256(canonicalJson(data));
  if (event.type !== 'decision.created') return hash;
  const is_its_own = typeof document === 'string' && shownHash(sha256(document)) === data.document;
  return is_its_own ? hash : sha256('another document');
}

/**
 * Makes a verifier that needs only the public keys, and the fingerprints of the signing keys that are trusted as roots (null:
 * whichever the history has). It checks every hash, link and signature, and that no byte of the
 * export has changed since it was written. It never throws, whatever the lines contain.
 */
export function makeExportVerifier(
  keys: readonly VerifyingKey[],
  signer_roots: readonly string[] | null = null,
): ExportVerifier {
  const reading = new ExportReading(keys, signer_roots);
  return {
    line: (bytes) => reading.line(bytes),
    end(rest) {
      if (rest.length > 0) reading.unfinished();
      return reading.result();
    },
  };
}

/** An export as far as it was read. */
class ExportReading {
  readonly #keys: readonly VerifyingKey[];
  readonly #signer_roots: readonly string[] | null;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #whole = createHash('sha256');
  readonly #breaks: LedgerBreak[] = [];
  /** Hashes of the events that checkpoints of the export were made of. */
  readonly #signed_hashes = new Map<number, Buffer>();
  /** The review policy in force; null where an export that begins later, or withholds it, does not tell. */
  #policy: { version: number; policy: ReviewPolicy } | null = null;
  readonly #counts = { lines: 0, events: 0, withheld: 0, checkpoints: 0, good: 0 };
  #header: ExportHeader | null = null;
  #previous: LedgerHead = GENESIS;
  #newest: { seq: number; signed_at: string } | null = null;
  #is_over = false;
  #approvals: ExportedApprovals;
  readonly #gone_pages = new GonePages();

  constructor(keys: readonly VerifyingKey[], signer_roots: readonly string[] | null) {
    this.#keys = keys;
    this.#signer_roots = signer_roots;
    this.#approvals = new ExportedApprovals('', signer_roots);
  }

  line(bytes: Uint8Array): void {
    this.#counts.lines += 1;
    const digest = this.#whole.copy().digest();
    this.#whole.update(bytes).update('\n');
    try {
      this.#take(this.#decoder.decode(bytes), digest);
    } catch {
      this.#addDamage('differs from the export');
    }
  }

  /** Notes a last line without its end. */
  unfinished(): void {
    this.#counts.lines += 1;
    this.#addDamage('does not end');
  }

  result(): ReturnType<ExportVerifier['end']> {
    this.#checkEnd();
    const [breaks, counts, header, newest] = [this.#breaks, this.#counts, this.#header, this.#newest];
    breaks.sort((a, b) => a.seq - b.seq);
    return {
      valid: breaks.length === 0,
      workspace_id: header?.workspace_id ?? null,
      since: header?.since ?? 0,
      events_checked: counts.events,
      withheld: counts.withheld,
      head: this.#previous,
      signed_through_seq: newest?.seq ?? null,
      signed_at: newest?.signed_at ?? null,
      checkpoints_checked: counts.good,
      ...this.#approvals.verdict(),
      breaks,
      first_break_seq: breaks[0]?.seq ?? null,
    };
  }

  #add(found: LedgerBreak): void {
    const seq = Number.isSafeInteger(found.seq) ? Math.max(0, found.seq) : this.#previous.seq + 1;
    if (this.#breaks.length < MAX_BREAKS) this.#breaks.push({ ...found, seq });
  }

  #addDamage(problem: string): void {
    const detail = `Line ${this.#counts.lines} ${problem}.`;
    this.#add({ seq: this.#previous.seq + 1, kind: 'ENTRY_ALTERED', detail });
  }

  #take(text: string, digest: Buffer): void {
    const line = JSON.parse(text) as Line;
    const header = this.#header;
    if (this.#is_over) throw new TypeError('comes after the end');
    if (header === null) this.#takeHeader(line, text);
    else if (line.kind === 'event') this.#takeEvent(line, text, header);
    else if (line.kind === 'checkpoint') this.#takeCheckpoint(line, text, header);
    else this.#takeEnd(text, digest);
  }

  #takeHeader(line: Line, text: string): void {
    const read = headerOf(line);
    if (headerLine(read) !== text) throw new TypeError('was altered');
    this.#header = read;
    if (read.since === 0 && !read.is_withheld) this.#policy = { version: 0, policy: {} };
    const is_whole = read.since === 0 && !read.is_withheld;
    this.#approvals = new ExportedApprovals(read.workspace_id, this.#signer_roots, is_whole);
    // The first event of a chain follows a hash of 32 zero bytes; any other hash here is a broken link.
    this.#previous = { seq: read.since, hash: read.since_hash };
    if (read.since === 0 && !read.since_hash.equals(GENESIS.hash)) {
      this.#add({ seq: 0, kind: 'LINK_BROKEN', detail: 'The header names a hash before the first event.' });
    }
    if (read.checkpoints.includes(read.since)) this.#signed_hashes.set(read.since, read.since_hash);
  }

  #takeEvent(line: Line, text: string, wanted: ExportHeader): void {
    const event = eventOf(line);
    const is_withheld = wanted.is_withheld && isAdministrative(event);
    const data = is_withheld ? null : (line.data ?? null);
    const document = event.type === 'decision.created' && data !== null ? String(line.document) : null;
    if (eventLine(event, data, document, is_withheld) !== text) throw new TypeError('was altered');
    if (this.#counts.checkpoints > 0) throw new TypeError('comes after the checkpoints');
    const is_gone = this.#gone_pages.take(event, data === null);
    const sealed = is_withheld || is_gone ? event.data_hash : sealedHash(event, line);
    const problems = checkLink(this.#previous, event, sealed);
    for (const found of problems) this.#add(found);
    if (problems.length === 0 && !is_withheld) this.#followPolicy(event, line);
    const signed = this.#approvals.take(event, data, document, sealed?.equals(event.data_hash) === true);
    if (signed !== null) this.#add(signed);
    if (is_withheld) this.#counts.withheld += 1;
    this.#previous = { seq: event.seq, hash: event.hash };
    this.#counts.events += 1;
    if (wanted.checkpoints.includes(event.seq)) this.#signed_hashes.set(event.seq, event.hash);
  }

  /** Follows the review policy, and compares with it what each decision says of it. */
  #followPolicy({ seq, type, subject_id }: LedgerEvent, line: Line): void {
    if (type === 'review_policy.updated') {
      const { review_policy } = JSON.parse((line.data as { state: string }).state) as {
        review_policy: { version: number; policy: string };
      };
      const { version, policy } = review_policy;
      this.#policy = { version, policy: JSON.parse(policy) as ReviewPolicy };
    } else if (type === 'decision.created' && this.#policy !== null) {
      if ((line.data as { decision: string }).decision !== 'REVIEW') return;
      const decision = JSON.parse(String(line.document)) as Decision;
      if (hasTermsOf(decision, this.#policy)) return;
      this.#add({ seq, kind: 'ROW_MISMATCH', detail: wrongTier(subject_id, this.#policy.version) });
    }
  }

  #takeCheckpoint(line: Line, text: string, wanted: ExportHeader): void {
    const note = String(line.note);
    if (checkpointLine(note) !== text) throw new TypeError('was altered');
    const seq = wanted.checkpoints[this.#counts.checkpoints] ?? this.#previous.seq + 1;
    this.#counts.checkpoints += 1;
    const said = openCheckpoint(note, this.#keys);
    if (said === null || said.workspace_id !== wanted.workspace_id || said.seq !== seq) {
      const detail = `The checkpoint of event ${seq} is not signed with the given key for this history.`;
      this.#add({ seq, kind: 'ROW_MISMATCH', detail });
    } else if (said.seq > this.#previous.seq) {
      const end = `The chain ends at event ${this.#previous.seq}`;
      const detail = `${end}, but event ${seq} was signed at ${said.signed_at}.`;
      this.#add({ seq: this.#previous.seq + 1, kind: 'TRUNCATED', detail });
    } else this.#compare(said, wanted);
  }

  /** Compares a checkpoint with the event that it signs. One before the beginning of the export has nothing to compare. */
  #compare({ seq, hash, signed_at }: Checkpoint, wanted: ExportHeader): void {
    const found = this.#signed_hashes.get(seq);
    if (found === undefined) {
      if (seq >= wanted.since)
        this.#add({ seq, kind: 'GAP', detail: `Event ${seq}, which was signed, is missing.` });
    } else if (!found.equals(hash)) {
      const detail = `Event ${seq} differs from the one signed at ${signed_at}.`;
      this.#add({ seq, kind: 'ENTRY_ALTERED', detail });
    } else {
      this.#counts.good += 1;
      if (this.#newest === null || seq >= this.#newest.seq) this.#newest = { seq, signed_at };
    }
  }

  #takeEnd(text: string, digest: Buffer): void {
    if (text !== endLine(this.#counts.events, this.#counts.checkpoints, digest))
      throw new TypeError('was altered');
    this.#is_over = true;
  }

  /** Adds what is missing once nothing more comes. */
  #checkEnd(): void {
    for (const found of this.#gone_pages.breaks()) this.#add(found);
    const previous = this.#previous;
    const seq = previous.seq + 1;
    const head = this.#header?.head ?? GENESIS;
    if (!this.#is_over)
      this.#add({ seq, kind: 'TRUNCATED', detail: 'The export was cut off: its last line is missing.' });
    if (head.seq > previous.seq) {
      const detail = `The export ends at event ${previous.seq}, but its head is event ${head.seq}.`;
      this.#add({ seq, kind: 'TRUNCATED', detail });
    } else if (head.seq !== previous.seq || !head.hash.equals(previous.hash)) {
      const detail = `Event ${previous.seq} is not the head of the export, which is event ${head.seq}.`;
      this.#add({ seq: previous.seq, kind: 'LINK_BROKEN', detail });
    }
    if (this.#counts.checkpoints !== (this.#header?.checkpoints.length ?? 0)) {
      this.#add({ seq, kind: 'TRUNCATED', detail: 'Checkpoints that the header names are missing.' });
    }
    if (this.#newest === null) {
      const detail = 'Nothing here is signed with this key: anyone could have written it.';
      this.#add({ seq: previous.seq, kind: 'LINK_BROKEN', detail });
    }
  }
}
