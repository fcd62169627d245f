import type { KEY_KINDS, KEY_STATUSES } from '@purser/contract/values/keys';
import type { Role, Scope } from '@purser/contract/values/scopes';

export type KeyKind = (typeof KEY_KINDS)[number];

const KINDS_BY_SCOPES: Record<string, KeyKind> = {
  'admin,authorize,read,review': 'admin',
  'read,review': 'reviewer',
  read: 'read_only',
  consume: 'payment_adapter',
};

/** The kind of a scoped key: the name of its set of scopes, or `custom`. */
export function kindOfScopes(scopes: readonly Scope[]): KeyKind {
  return KINDS_BY_SCOPES[[...scopes].sort().join(',')] ?? 'custom';
}

/** The caller: the holder of a key, or a signed-in person. */
export interface Caller {
  workspace_id: string;
  /** The key, or null for a person. */
  key_id: string | null;
  /** The person's session, or null for a key. */
  session: CallerSession | null;
  kind: KeyKind;
  scopes: readonly Scope[];
  /** Set for an agent key: the one agent it is bound to. */
  agent_id: string | null;
  /** `user:<id>`, to whom reviews are attributed. */
  principal_id: string | null;
  /** Set for a key that is bound to an allowance. */
  bound?: BoundTo;
}

/** An allowance that a key is bound to, and the agent keys that it was made by. It ends with each of them. */
export type BoundTo = Pick<ApiKey, 'allowance_path' | 'maker_key_ids'>;

/** The allowance that a caller is bound to, which it does not see beyond; null where it is bound to none. */
export const allowanceOf = ({ bound }: Pick<Caller, 'bound'>): string | null =>
  bound?.allowance_path[0] ?? null;

/** The session of a person who is calling. */
export interface CallerSession {
  session_id: string;
  user_id: string;
  /** The credential epoch of the person in which the session began. */
  credential_epoch: number;
  /** Null: the person has yet to accept the membership of the workspace, and may do nothing there. */
  role: Role | null;
  /** True if the person proved who they are a short while ago, as some changes need it. */
  is_proof_fresh: boolean;
}

/** The id that requests are counted by: the key's or the session's. */
export function credentialOf(caller: Pick<Caller, 'key_id' | 'session'>): string {
  return (caller.key_id ?? caller.session?.session_id) as string;
}

/** The owner of a caller's share of the process: the workspace, and the key or session. */
export function holderOf(caller: Caller): { workspace_id: string; key_id: string } {
  return { workspace_id: caller.workspace_id, key_id: credentialOf(caller) };
}

/** A key as it is stored: its value only as a keyed hash. */
export interface ApiKey {
  key_id: string;
  name: string;
  kind: KeyKind;
  scopes: readonly Scope[];
  agent_id: string | null;
  principal_id: string | null;
  /** HMAC-SHA256 of the value under a pepper that is not in the database. */
  digest: Buffer;
  /** `sk_…a1b2`: enough to tell keys apart, not to use one. */
  hint: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** The key that made it; null: a person, the operator or the service did. */
  made_by_key_id: string | null;
  /** The principal of the person or key that made it. */
  made_by_principal_id: string | null;
  /** The principal of the person at the root of its making: of the person, or of the first of the keys that led to it. */
  made_by_person: string | null;
  /** The allowance that it is bound to and all above it, the nearest first; empty for every other key. */
  allowance_path: readonly string[];
  /** The agent keys by which a bound key was made, the nearest first; empty for every other key. */
  maker_key_ids: readonly string[];
}

/** The state of what a key is bound to, where that was looked up with the key. */
export interface KeyBounds {
  /** When the first of it expires; null: it is bound to nothing. */
  bound_until: string | null;
  /** True if one of it was revoked. */
  is_bound_revoked: boolean;
}

/** The part of a key that decides its status. */
type Ending = Pick<ApiKey, 'expires_at' | 'revoked_at'> & Partial<KeyBounds>;

/** When a key expires, by its own time or with what it is bound to; null: never. */
export function expiryOf({ expires_at, bound_until = null }: Ending): string | null {
  if (expires_at === null || bound_until === null) return expires_at ?? bound_until;
  return expires_at < bound_until ? expires_at : bound_until;
}

export type KeyStatus = (typeof KEY_STATUSES)[number];

/** The status of a key at `now_ms`: revoked for good, expired from its expiry on, else active. */
export function keyStatus(key: Ending, now_ms: number): KeyStatus {
  if (key.revoked_at !== null || key.is_bound_revoked === true) return 'revoked';
  const expires_at = expiryOf(key);
  return expires_at !== null && Date.parse(expires_at) <= now_ms ? 'expired' : 'active';
}

/** The message of the 401 for a known key that is expired or revoked; null for an active key. */
export function keyRefusal(key: Ending, now_ms: number): string | null {
  const status = keyStatus(key, now_ms);
  if (status === 'active') return null;
  return status === 'expired' ? `The key expired at ${expiryOf(key)}.` : INVALID_KEY;
}

/** One message for missing, unknown and revoked keys, so that a caller cannot tell them apart. */
export const INVALID_KEY = 'The x-api-key header is missing or holds no valid key.';

/** A key as the API returns it: without its value. */
export function keyBody(key: ApiKey & Partial<KeyBounds>) {
  const { key_id, name, kind, scopes, agent_id, principal_id, created_at, allowance_path } = key;
  const made_by = { key_id: key.made_by_key_id, principal_id: key.made_by_principal_id };
  const { made_by_person } = key;
  return {
    id: key_id,
    name,
    kind,
    scopes,
    agent_id,
    principal_id,
    allowance_id: allowance_path[0] ?? null,
    created_at,
    expires_at: expiryOf(key),
    made_by,
    made_by_person,
  };
}

/** Returns whether a person made the key, directly or by other keys, or the key carries the person's principal. */
export function isKeyOf(
  key: Pick<ApiKey, 'principal_id' | 'made_by_principal_id' | 'made_by_person'>,
  person: string,
): boolean {
  return [key.made_by_person, key.made_by_principal_id, key.principal_id].includes(person);
}

/** When a key was last used. */
export interface KeyUse {
  key_id: string;
  last_used_at: string;
}
