/** What a key may do. A route names the scopes of which the key must hold one. */
export const SCOPES = ['authorize', 'admin', 'review', 'read', 'consume'] as const;
export type Scope = (typeof SCOPES)[number];

export const KEY_KINDS = ['agent', 'admin', 'reviewer', 'read_only', 'payment_adapter', 'custom'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

const KINDS_BY_SCOPES: Record<string, KeyKind> = {
  'admin,authorize,read,review': 'admin',
  'read,review': 'reviewer',
  read: 'read_only',
  consume: 'payment_adapter',
};

/** The kind of a scoped key: one of the named sets of scopes, else `custom`. */
export function kindOfScopes(scopes: readonly Scope[]): KeyKind {
  return KINDS_BY_SCOPES[[...scopes].sort().join(',')] ?? 'custom';
}

/** Who is calling: what the key says that never changes during its life. */
export interface Caller {
  workspace_id: string;
  key_id: string;
  kind: KeyKind;
  scopes: readonly Scope[];
  /** Set for an agent key: the one agent it is bound to. */
  agent_id: string | null;
  /** `user:<id>`, to whom reviews are attributed. */
  principal_id: string | null;
}
