import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type LedgerHead, sha256 } from './ledger.ts';

/**
 * A signed statement of where a workspace's chain stood: `seq` events, ending in `hash`. Its text is a C2SP signed
 * note with a tlog-checkpoint. Since the chain is no Merkle tree, the line of the root hash is the chain's head hash.
 */
export interface Checkpoint {
  workspace_id: string;
  seq: number;
  /** The hash of event `seq`. */
  hash: Buffer;
  signed_at: string;
  key_id: string;
  /** The signed note. */
  note: string;
}

/** An Ed25519 key that checkpoints are verified with. */
export interface VerifyingKey {
  /** The RFC 7638 thumbprint of the key as a JWK: what `kid` says in `/.well-known/jwks.json`. */
  key_id: string;
  /** 32 bytes. */
  public_key: Buffer;
  verify(text: string, signature: Buffer): boolean;
}

/** An Ed25519 key that checkpoints are signed with. */
export interface SigningKey extends VerifyingKey {
  sign(text: string): Buffer;
}

/** A public Ed25519 key as RFC 8037 and RFC 7517 write it. */
export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
}

/** The first bytes of an Ed25519 key's DER SubjectPublicKeyInfo (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
/** The signature type of Ed25519 in a signed note's key hash. */
const ED25519 = 0x01;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const KEY_HASH_BYTES = 4;

/** Makes a verifying key of 32 bytes. Throws TypeError for any other length. */
export function makeVerifyingKey(public_key: Buffer): VerifyingKey {
  if (public_key.length !== PUBLIC_KEY_BYTES) throw new TypeError('an Ed25519 public key has 32 bytes');
  const der = Buffer.concat([SPKI_HEAD, public_key]);
  const key: KeyObject = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const x = public_key.toString('base64url');
  return {
    key_id: sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString('base64url'),
    public_key,
    verify: (text, signature) => verify(null, Buffer.from(text), key, signature),
  };
}

/** The key as a JWK, the form in which it is published. */
export function publicJwk(key: VerifyingKey): PublicJwk {
  const x = key.public_key.toString('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: key.key_id, use: 'sig', alg: 'EdDSA' };
}

/** The key as PEM (SubjectPublicKeyInfo), with a newline at the end. */
export function publicPem(key: VerifyingKey): string {
  const der = Buffer.concat([SPKI_HEAD, key.public_key]).toString('base64');
  return `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n`;
}

/**
 * Reads public keys in any common form: a JWK, a JWK set, PEM, base64 or base64url of the 32 bytes. Returns at least one.
 * Throws TypeError, which says what is expected, for anything else.
 */
export function readPublicKeys(text: string): VerifyingKey[] {
  const given = text.trim();
  if (given.startsWith('{')) {
    const keys = bytesOfJwks(given);
    if (keys.length === 0 || keys.some((bytes) => bytes?.length !== PUBLIC_KEY_BYTES)) throw noPublicKey();
    return keys.map((bytes) => makeVerifyingKey(bytes as Buffer));
  }
  const pem = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/.exec(given)?.[1];
  const bytes =
    pem !== undefined
      ? bytesOfDer(Buffer.from(pem, 'base64'))
      : /^[A-Za-z0-9+/_-]{43}=?$/.test(given)
        ? Buffer.from(given, 'base64')
        : null;
  if (bytes === null || bytes.length !== PUBLIC_KEY_BYTES) throw noPublicKey();
  return [makeVerifyingKey(bytes)];
}

function noPublicKey(): TypeError {
  return new TypeError('expected an Ed25519 public key: a JWK, PEM, or the 32 bytes in base64');
}

function bytesOfDer(der: Buffer): Buffer | null {
  return der.subarray(0, SPKI_HEAD.length).equals(SPKI_HEAD) ? der.subarray(SPKI_HEAD.length) : null;
}

/** The key bytes of a JWK or of each in a set; null for one that is not an Ed25519 key. */
function bytesOfJwks(text: string): (Buffer | null)[] {
  let given: { keys?: unknown };
  try {
    given = JSON.parse(text);
  } catch {
    return [];
  }
  const all: unknown[] = Array.isArray(given.keys) ? given.keys : [given];
  return all.map((one) => {
    const jwk = one as { crv?: unknown; x?: unknown } | null;
    return jwk?.crv === 'Ed25519' && typeof jwk.x === 'string' ? Buffer.from(jwk.x, 'base64url') : null;
  });
}

/** The first line of a workspace's checkpoints, which is also the name of the key in their signature line. */
function checkpointOrigin(workspace_id: string): string {
  return `purser/${workspace_id}`;
}

/** SHA-256(name ‖ newline ‖ 0x01 ‖ key), cut to 4 bytes: how a signature line identifies its key. */
function keyHash(origin: string, key: VerifyingKey): Buffer {
  const text = Buffer.concat([Buffer.from(`${origin}\n`), Buffer.from([ED25519]), key.public_key]);
  return sha256(text).subarray(0, KEY_HASH_BYTES);
}

/** The key as a `vkey`, the form that verifiers of signed notes accept. */
export function noteVerifierKey(workspace_id: string, key: VerifyingKey): string {
  const origin = checkpointOrigin(workspace_id);
  const typed = Buffer.concat([Buffer.from([ED25519]), key.public_key]).toString('base64');
  return `${origin}+${keyHash(origin, key).toString('hex')}+${typed}`;
}

function signedText(of: Pick<Checkpoint, 'workspace_id' | 'seq' | 'hash' | 'signed_at'>): string {
  const origin = checkpointOrigin(of.workspace_id);
  return `${origin}\n${of.seq}\n${of.hash.toString('base64')}\nsigned_at ${of.signed_at}\n`;
}

function noteOf(text: string, workspace_id: string, key: VerifyingKey, signature: Buffer): string {
  const origin = checkpointOrigin(workspace_id);
  return `${text}\n— ${origin} ${Buffer.concat([keyHash(origin, key), signature]).toString('base64')}\n`;
}

/** Signs the head of a chain. The same head, time and key always produce the same note. */
export function signCheckpoint(
  workspace_id: string,
  head: LedgerHead,
  signed_at: string,
  key: SigningKey,
): Checkpoint {
  const { seq, hash } = head;
  const text = signedText({ workspace_id, seq, hash, signed_at });
  const note = noteOf(text, workspace_id, key, key.sign(text));
  return { workspace_id, seq, hash, signed_at, key_id: key.key_id, note };
}

const NOTE =
  /^purser\/(ws_[0-9A-HJKMNP-TV-Z]{26})\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\nsigned_at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n\n— purser\/\1 ([A-Za-z0-9+/]{90,91}={0,2})\n$/;

/** Longer than any note of this service. Readers stop here. */
export const MAX_NOTE_BYTES = 1_024;

/** Parses a note without verifying its signature; null where the form is wrong. */
export function readCheckpoint(note: string): Omit<Checkpoint, 'key_id'> | null {
  const found = NOTE.exec(note);
  if (found === null) return null;
  const [, workspace_id, seq, hash, signed_at] = found as unknown as [string, string, string, string, string];
  return { workspace_id, seq: Number(seq), hash: Buffer.from(hash, 'base64'), signed_at, note };
}

/**
 * Parses a note and verifies that one of `keys` signed it. Null where the form is wrong, any bit was changed or another
 * key signed it.
 */
export function openCheckpoint(note: string, keys: readonly VerifyingKey[]): Checkpoint | null {
  const parsed = readCheckpoint(note);
  const signed = NOTE.exec(note)?.[5];
  if (parsed === null || signed === undefined) return null;
  const signature = Buffer.from(signed, 'base64').subarray(KEY_HASH_BYTES);
  if (signature.length !== SIGNATURE_BYTES) return null;
  const text = signedText(parsed);
  // The note is written anew and compared, because base64 has several spellings of the same bytes.
  const key = keys.find(
    (one) => noteOf(text, parsed.workspace_id, one, signature) === note && one.verify(text, signature),
  );
  return key === undefined ? null : { ...parsed, key_id: key.key_id };
}

/** A public key that signed checkpoints in the past, vouched for by its successor. */
export interface RetiredKey {
  /** 32 bytes in base64. */
  public_key: string;
  retired_at: string;
  /** The successor's signature of the two fields above, in base64. */
  signature: string;
}

/** The signed text. No checkpoint begins like it, so neither signature can pass for the other. */
const retiredText = (public_key: string, retired_at: string) =>
  `purser/retired-checkpoint-key\n${public_key}\n${retired_at}\n`;

/** Vouches for a retired key, so that its checkpoints can still be verified once its secret is gone. */
export function retireKey(retired: VerifyingKey, retired_at: string, key: SigningKey): RetiredKey {
  const public_key = retired.public_key.toString('base64');
  const signature = key.sign(retiredText(public_key, retired_at)).toString('base64');
  return { public_key, retired_at, signature };
}

/** The retired keys that one of `keys` vouches for; the others are left out. */
export function openRetiredKeys(
  retired: readonly RetiredKey[],
  keys: readonly VerifyingKey[],
): (VerifyingKey & { retired_at: string })[] {
  return retired.flatMap(({ public_key, retired_at, signature }) => {
    const text = retiredText(public_key, retired_at);
    const bytes = Buffer.from(public_key, 'base64');
    const is_vouched_for =
      bytes.length === PUBLIC_KEY_BYTES &&
      keys.some((key) => key.verify(text, Buffer.from(signature, 'base64')));
    return is_vouched_for ? [{ ...makeVerifyingKey(bytes), retired_at }] : [];
  });
}

const MIN_NEWEST = 20;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTH_MS = 31 * DAY_MS;

/**
 * The `seq`s of a workspace's checkpoints that retention no longer needs: all but the newest 20, the last of each hour
 * of the past day, of each day of the past 31, and of each month. The newest one alone covers every event before it;
 * earlier ones show until when the history was still intact.
 */
export function checkpointsToPrune(
  stored: readonly Pick<Checkpoint, 'seq' | 'signed_at'>[],
  now_ms: number,
): number[] {
  const newest_first = [...stored].sort((a, b) => b.seq - a.seq);
  const spans = new Set<string>();
  return newest_first
    .filter(({ signed_at }, i) => {
      const age_ms = now_ms - Date.parse(signed_at);
      // `2026-11-21T08`, `2026-11-21` or `2026-11`: the last checkpoint of each such span stays.
      const span = signed_at.slice(0, age_ms < DAY_MS ? 13 : age_ms < MONTH_MS ? 10 : 7);
      const is_last = !spans.has(span);
      spans.add(span);
      return i >= MIN_NEWEST && !is_last;
    })
    .map(({ seq }) => seq);
}
