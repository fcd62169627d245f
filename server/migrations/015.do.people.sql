-- compatible-with: 15
-- People, their sessions, and their memberships of workspaces.
-- A person may be a member of several workspaces, so the tables of persons are keyed by person, as api_key_digests is
-- by digest; members, invitations and sign-ins belong to a workspace. Members and invitations change through the lane
-- alone, and each change is sealed. Builds before this one cannot verify those records, so they are stopped first.

create table users (
  user_id text collate "C" not null primary key,
  -- Lower case, NFC. Never changed.
  email text collate "C" not null unique,
  name text not null,
  -- PHC string (argon2id); null: no password.
  password_hash text,
  password_changed_at timestamptz,
  created_at timestamptz not null,
  disabled_at timestamptz
);

-- Who a person is for an identity provider: matched by issuer and subject, never by e-mail alone.
create table user_identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index user_identities_by_user on user_identities (user_id);

create table user_passkeys (
  credential_id text collate "C" not null primary key,
  user_id text collate "C" not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index user_passkeys_by_user on user_passkeys (user_id);

-- What a passkey has to sign, each good for one answer.
create table passkey_challenges (
  challenge text collate "C" not null primary key,
  -- Set for the registration of a passkey: who may register with it.
  user_id text collate "C",
  expires_at timestamptz not null
);

-- The value of a session's cookie is kept as a keyed hash alone.
create table sessions (
  digest bytea not null primary key,
  session_id text collate "C" not null unique,
  user_id text collate "C" not null,
  -- The current workspace.
  workspace_id text collate "C" not null,
  method text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the person last proved who they are.
  proved_at timestamptz not null,
  client_address text not null,
  user_agent text,
  revoked_at timestamptz
) with (fillfactor = 70);
create index sessions_by_user on sessions (user_id, session_id);

create table members (
  workspace_id text collate "C" not null,
  user_id text collate "C" not null,
  role text not null,
  principal_id text not null,
  joined_at timestamptz not null,
  removed_at timestamptz,
  primary key (workspace_id, user_id)
);
create unique index members_by_principal on members (workspace_id, principal_id) where removed_at is null;
create index members_by_user on members (user_id);

create table invitations (
  workspace_id text collate "C" not null,
  invitation_id text collate "C" not null,
  email text collate "C" not null,
  role text not null,
  principal_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by text collate "C",
  revoked_at timestamptz,
  primary key (workspace_id, invitation_id)
);
-- Invitations that still wait, by whom they are for.
create index invitations_by_email on invitations (email) where accepted_at is null and revoked_at is null;

-- Sign-ins, kept for a year. Not in the chain: whoever fails to sign in must not lock a workspace's head.
create table sign_ins (
  workspace_id text collate "C" not null,
  sign_in_id text collate "C" not null,
  kind text not null,
  method text not null,
  email text not null,
  user_id text collate "C",
  client_address text not null,
  created_at timestamptz not null,
  primary key (workspace_id, sign_in_id)
);

-- Codes that make the first person, printed at the start while there is nobody.
create table setup_codes (
  digest bytea not null primary key,
  expires_at timestamptz not null
);

-- A person has no key.
alter table reviews alter column key_id drop not null;
alter table labels alter column key_id drop not null;
alter table outcomes alter column key_id drop not null;
