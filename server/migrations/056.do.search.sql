-- compatible-with: 55
-- What people find decisions by. A follower of the chain writes it, off the decision's path, and without these rows it writes
-- everything again.

-- The texts of a decision, or of a record about one, as they are compared: without case and accents. `grams` are numbers of the
-- workspace with each three characters of `folded`, so the index holds the trigrams of each workspace apart from those of all
-- others, and needs no extension of PostgreSQL.
create table search_texts (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  -- The decision's own id for what its request says.
  record_id text collate "C" not null,
  agent_id text collate "C" not null,
  kind text collate "C" not null,
  folded text not null,
  grams integer[] not null,
  primary key (workspace_id, decision_id, record_id)
);
create index search_texts_by_grams on search_texts using gin (grams);

-- The last event of each chain whose texts can be found.
create table search_watermarks (
  workspace_id text collate "C" not null primary key,
  seq bigint not null
) with (fillfactor = 20);
