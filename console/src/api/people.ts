import { call } from './client.ts';

export type Role = 'admin' | 'reviewer' | 'viewer';
export type Scope = 'admin' | 'review' | 'read' | 'authorize' | 'consume';

/** How one can sign in here. */
export interface SignInOptions {
  setup: boolean;
  password: boolean;
  passkey: boolean;
  oidc: { name: string } | null;
}

/** Who is signed in, where, and as what. */
export interface Me {
  user: { id: string; email: string; name: string };
  workspace: { id: string; name: string };
  role: Role;
  scopes: Scope[];
  principal_id: string;
  session: { id: string; created_at: string; expires_at: string };
  workspaces: { id: string; name: string; role: Role }[];
}

export interface OwnSession {
  id: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  client_address: string | null;
  user_agent: string | null;
  current: boolean;
}

export interface OwnPasskey {
  id: string;
  name: string;
  created_at: string;
  last_used_at: string | null;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  principal_id: string;
  last_seen_at: string | null;
  joined_at: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  principal_id: string | null;
  status: 'pending' | 'accepted' | 'revoked' | 'expired';
  created_at: string;
  /** Shown once, in the answer that makes it. */
  url?: string;
  expires_at: string;
}

export interface SignIn {
  id: string;
  created_at: string;
  kind: string;
  email: string | null;
  user_id: string | null;
  method: string | null;
  client_address: string | null;
}

export interface List<T> {
  data: T[];
  next_cursor: string | null;
}

const page = (cursor?: string) => ({ query: { cursor, limit: 50 } });

/** People, sessions and invitations. */
export const people = {
  options: () => call<SignInOptions>('GET', '/v1/auth/options', { quiet: true }),
  setUp: (body: { code: string; email: string; name: string; password: string }) =>
    call<Me>('POST', '/v1/auth/setup', { body }),
  signIn: (body: { email: string; password: string }) => call<Me>('POST', '/v1/auth/sign-in', { body }),
  signOut: () => call<void>('POST', '/v1/auth/sign-out'),
  changePassword: (body: { current_password: string; new_password: string }) =>
    call<void>('POST', '/v1/auth/password', { body }),
  /** What the browser needs to ask for a passkey, and the answer that signs in. */
  askPasskey: () => call<object>('POST', '/v1/auth/passkey/options'),
  signInWithPasskey: (body: object) => call<Me>('POST', '/v1/auth/passkey/verify', { body }),
  reauthenticate: (body: { password: string } | { passkey: object }) =>
    call<void>('POST', '/v1/auth/reauthenticate', { body }),
  accept: (body: { token: string; name: string; password: string }) =>
    call<Me>('POST', '/v1/auth/invitations/accept', { body }),
  reset: (body: { token: string; password: string }) => call<Me>('POST', '/v1/auth/password/reset', { body }),
  /** Quiet: a missing session is an answer here, and no interruption. */
  me: () => call<Me>('GET', '/v1/me', { quiet: true }),
  rename: (name: string) => call<Me>('PATCH', '/v1/me', { body: { name } }),
  switchWorkspace: (workspace_id: string) => call<Me>('POST', '/v1/me/workspace', { body: { workspace_id } }),
  sessions: () => call<List<OwnSession>>('GET', '/v1/me/sessions'),
  endSession: (id: string) => call<void>('DELETE', `/v1/me/sessions/${id}`),
  passkeys: () => call<List<OwnPasskey>>('GET', '/v1/me/passkeys'),
  beginPasskey: () => call<object>('POST', '/v1/auth/passkey/register/options'),
  addPasskey: (body: object) => call<void>('POST', '/v1/auth/passkey/register/verify', { body }),
  removePasskey: (id: string) => call<void>('DELETE', `/v1/me/passkeys/${encodeURIComponent(id)}`),
  members: (cursor?: string) => call<List<Member>>('GET', '/v1/members', page(cursor)),
  setRole: (user_id: string, role: Role) =>
    call<Member>('PATCH', `/v1/members/${user_id}`, { body: { role } }),
  remove: (user_id: string) => call<void>('DELETE', `/v1/members/${user_id}`),
  invitations: (cursor?: string) => call<List<Invitation>>('GET', '/v1/invitations', page(cursor)),
  invite: (body: { email: string; role: Role; principal_id?: string }) =>
    call<Invitation & { url: string }>('POST', '/v1/invitations', { body }),
  revokeInvitation: (id: string) => call<void>('DELETE', `/v1/invitations/${id}`),
  signIns: (cursor?: string) => call<List<SignIn>>('GET', '/v1/sign-ins', page(cursor)),
};
