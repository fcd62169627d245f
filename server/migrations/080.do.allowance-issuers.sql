-- compatible-with: 80
-- Other systems whose signed allowances are taken. Every issuer is sealed by its audit records. Builds before this one would
-- take those records for unknown rows, so they are stopped first. What an issuer signed is in `allowances`, with the name of the
-- issuer as its creator and the JWT's id as its external id.
create table allowance_issuers (
  workspace_id text collate "C" not null,
  issuer_id text collate "C" not null,
  name text not null,
  -- JSON of the public key.
  jwk text not null,
  currency text collate "C" not null,
  max_amount_minor bigint not null,
  -- Ids of the agents that it may name; empty: any.
  agents text[] collate "C" not null,
  -- All that it issues are parts of this.
  parent_id text collate "C",
  created_at timestamptz not null,
  created_by_key_id text collate "C",
  created_by_principal_id text collate "C",
  revoked_at timestamptz,
  primary key (workspace_id, issuer_id)
);
create index allowances_of_issuer on allowances (workspace_id, issuer_id, allowance_id) where issuer_id <> '';
