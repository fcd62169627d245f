-- compatible-with: 31
-- The sign-ins through the identity provider that came back: each comes back once.
create table used_oidc_states (
  state text collate "C" not null primary key,
  expires_at timestamptz not null
);
