-- compatible-with: 58
-- What rails say was paid, from files. An event of the chain seals each page of lines; audit records seal imports and the
-- assignments of instruments. Builds before this one would verify the chain without them, so they are stopped first.
create table imports (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  file_name text not null,
  source text collate "C" not null,
  feed text collate "C" not null,
  -- Whose the lines are where their instrument is not assigned.
  agent_id text collate "C",
  -- JSON.
  mapping text,
  bytes bigint,
  created_at timestamptz not null,
  key_id text collate "C",
  principal_id text,
  primary key (workspace_id, import_id)
);

-- How far a file was read. It can be made again by sending the file again, so nothing seals it.
create table import_progress (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  status text collate "C" not null,
  -- The attempt to read the file that is at work or was last.
  run_id text collate "C",
  -- Until when that attempt may be silent.
  alive_until timestamptz,
  bytes_read bigint not null,
  taken integer not null,
  present integer not null,
  bad integer not null,
  -- JSON: how many lines were left out, by reason.
  skipped text not null,
  -- JSON.
  failure text,
  -- The line with the names of the columns, and its SHA-256, by which a mapping is found again.
  header text,
  header_hash text collate "C",
  updated_at timestamptz not null,
  primary key (workspace_id, import_id)
);
create index import_progress_by_header on import_progress (workspace_id, header_hash, import_id)
  where header_hash is not null;

create table import_problems (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  place integer not null,
  line_number integer not null,
  column_name text,
  code text collate "C" not null,
  message text not null,
  text text not null,
  primary key (workspace_id, import_id, place)
);

create table lines (
  workspace_id text collate "C" not null,
  line_id text collate "C" not null,
  -- The event that seals its page.
  seq bigint not null,
  import_id text collate "C",
  rail_id text collate "C",
  line_number integer,
  feed text collate "C" not null,
  -- SHA-256 of what the feed knows it by.
  identity text collate "C" not null,
  kind text collate "C" not null,
  merchant text not null,
  payee_id text collate "C",
  instrument text collate "C",
  amount_minor bigint not null,
  currency text collate "C" not null,
  merchant_amount_minor bigint,
  merchant_currency text collate "C",
  occurred_at timestamptz not null,
  precision text collate "C" not null,
  external_reference text collate "C",
  authorization_id text collate "C",
  description text,
  category text,
  recorded_at timestamptz not null,
  primary key (workspace_id, line_id)
);
create unique index lines_by_identity on lines (workspace_id, feed, identity);
create index lines_by_page on lines (workspace_id, seq);
create index lines_by_import on lines (workspace_id, import_id, line_number) where import_id is not null;
create index lines_by_instrument on lines (workspace_id, instrument, occurred_at) where instrument is not null;

-- Whose an instrument is from a time on. The newest version whose time has come holds.
create table instrument_assignments (
  workspace_id text collate "C" not null,
  instrument text collate "C" not null,
  version integer not null,
  from_at timestamptz not null,
  -- Null: nobody's, so that the agent of the import counts.
  agent_id text collate "C",
  created_at timestamptz not null,
  key_id text collate "C",
  principal_id text,
  primary key (workspace_id, instrument, version)
);
