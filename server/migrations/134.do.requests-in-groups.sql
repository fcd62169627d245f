-- compatible-with: 134
-- Texts are found by signatures of their groups instead of an index of trigrams, which took most of the time of writing them. Requests
-- lie in groups alone, and only records have rows of `search_texts`. The table is a new one, since Citus does not alter the storage
-- of a column.
drop table search_groups;
create table search_groups (
  workspace_id text collate "C" not null,
  -- The record of the group's first text. Groups of requests follow one another in the order of their decisions.
  record_id text collate "C" not null,
  -- Of each of its texts, in one order: the decision, the kind (none in a group of requests), and the text itself.
  decision_ids text[] collate "C" not null,
  kinds text[] collate "C" not null,
  folded text[] not null,
  -- A bit for each trigram of its texts. All signatures of a workspace are read for a search, so they stay in the row, and texts leave it.
  signature bytea not null,
  primary key (workspace_id, record_id)
);
alter table search_groups alter column signature set storage main;

-- The follower writes all texts again.
truncate search_texts, search_watermarks;
delete from skipped_events where follower = 'search';
