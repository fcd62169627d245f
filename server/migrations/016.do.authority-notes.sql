-- compatible-with: 16
-- Why a version of an authority was made, in the words of whoever made it. It is no part of the authority nor of its hash.
alter table authorities add column note text;

-- What lists are narrowed to, in the order in which they are shown. Of the events of the chain and the attempts of
-- deliveries only the rarer kinds are indexed, so that the frequent ones cost nothing: those are found by their time, which
-- ascends with seq.
create index webhook_attempts_not_received on webhook_attempts (workspace_id, attempt_id)
  where status <> 'SUCCEEDED';
create index ledger_events_by_type on ledger_events (workspace_id, type, seq) where type <> 'decision.created';
create index ledger_events_by_subject on ledger_events (workspace_id, subject_id, seq)
  where subject_type not in ('decision', 'outcome');
create index audit_records_by_action on audit_records (workspace_id, action, seq) where action <> '';
create index audit_records_by_target on audit_records (workspace_id, target_id, seq) where target_id <> '';
