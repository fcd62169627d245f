-- Signed statements of where each chain stood, kept apart from the ledger's own tables: what the chain is held
-- against whenever it is verified. The signature's key is not in the database. Copies lie in DATA_DIR/checkpoints.
create table checkpoints (
  workspace_id text collate "C" not null,
  seq bigint not null,
  hash bytea not null,
  signed_at timestamptz not null,
  key_id text not null,
  -- The signed note, from which all columns beside it can be read again.
  note text not null,
  primary key (workspace_id, seq)
);

-- Verification asks which digests lead to keys of a workspace: one too many would open a door. Look-ups of a digest
-- keep to the primary key, since no other index has the digest.
create index api_key_digests_by_workspace on api_key_digests (workspace_id, key_id);
