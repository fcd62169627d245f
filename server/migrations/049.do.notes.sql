-- compatible-with: 49
-- Notes of reviewers on decisions, some of which assign the review to somebody; and the listing of a merchant that a review
-- asked for. Builds before this one would verify the chain without the notes, so they are stopped first.
create table notes (
  workspace_id text collate "C" not null,
  note_id text collate "C" not null,
  decision_id text collate "C" not null,
  text text not null,
  -- The principal to whom the review was assigned; null: the note assigned it to nobody.
  assign_to text,
  principal_id text,
  key_id text collate "C",
  created_at timestamptz not null,
  primary key (workspace_id, note_id)
);
create index notes_by_decision on notes (workspace_id, decision_id, note_id) where decision_id <> '';

-- ALWAYS or NEVER: the merchant was listed as allowed or blocked together with the review.
alter table reviews add column remember text collate "C";
