-- compatible-with: 125
-- What lists and the rules about later states read of a decision: its core as JSON text, and where the fields that change lie in its
-- document. Both are sealed with the row; in older rows they are null. Builds before this one would leave them out when they verify
-- a decision, so they are stopped first.
alter table decisions add column core text, add column live_at integer[];
-- As the document: it is kept as it is, and moves out of the row after it.
alter table decisions alter column core set storage external;
