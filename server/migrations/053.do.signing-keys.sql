-- compatible-with: 53
-- Signing keys: passkeys that were taken into a workspace's chain, and what they sign. Every change of a key is sealed, with
-- the signatures that prove it. Builds before this one would record reviews without their signatures, and let removed
-- members sign on, so they are stopped first.
create table signing_keys (
  workspace_id text collate "C" not null,
  signing_key_id text collate "C" not null,
  user_id text collate "C" not null,
  principal_id text not null,
  name text not null,
  credential_id text collate "C" not null,
  public_key text collate "C" not null,
  rp_id text not null,
  origin text not null,
  status text collate "C" not null,
  is_root boolean not null,
  -- JSON of a statement and its signature.
  enrolment text not null,
  endorsed_by text collate "C",
  endorsement text,
  created_at timestamptz not null,
  revoked_at timestamptz,
  reset_at timestamptz,
  primary key (workspace_id, signing_key_id)
);

-- JSON of the statement that the reviewer signed, and the signature.
alter table reviews add column signature text;
-- The same for a version that has a tier with signed approvals, or replaces one that has.
alter table review_policies add column signature text;
