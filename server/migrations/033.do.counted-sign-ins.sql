-- compatible-with: 30
-- Refused attempts with e-mails that no member has are counted, a row for an hour and an address, so that they neither fill
-- the table nor bury what members did. What the operator does at the command line has no address.

alter table sign_ins
  alter column client_address drop not null,
  add column attempts integer not null default 1,
  -- The beginning of the hour; null: one attempt, or a change.
  add column counted_hour timestamptz;
create unique index sign_ins_counted on sign_ins (workspace_id, counted_hour, client_address, kind, method)
  where counted_hour is not null;
