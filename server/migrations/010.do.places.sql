-- compatible-with: 10
-- Where the consumption of a capability, and a hold that ran out, stand in the order of the ledger: the id of their
-- event. The ids of reviews, labels and outcomes say so themselves; these two share theirs with their decision.
alter table consumptions add column event_id text collate "C" not null default '';
alter table run_out_holds add column event_id text collate "C" not null default '';
update consumptions c set event_id = e.id from ledger_events e
  where e.workspace_id = c.workspace_id and e.type = 'capability.consumed' and e.subject_id = c.capability_id;
update run_out_holds h set event_id = e.id from ledger_events e
  where e.workspace_id = h.workspace_id and e.type = 'reservation.expired' and e.subject_id = h.reservation_id;
-- What no event speaks of keeps the empty name, and verification names it.
alter table consumptions alter column event_id drop default;
alter table run_out_holds alter column event_id drop default;
