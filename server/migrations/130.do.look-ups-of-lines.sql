-- compatible-with: 125
-- Every row is in both. The conditions keep them from queries that do not repeat them: with the statistics of a new table the
-- planner took the index by page for a look-up by identity, and read all lines of a workspace for each page that was imported.
drop index lines_by_identity, lines_by_page;
create unique index lines_by_identity on lines (workspace_id, feed, identity) where identity <> '';
create index lines_by_page on lines (workspace_id, seq) where seq > 0;
