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

-- Decisions whose states are to be made anew from their records before the service starts, because a rule by which they
-- were made is another since: what a client's word counts beside the payment rail's, and once a capability was consumed.
create table states_to_refold (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  primary key (workspace_id, decision_id)
);
insert into states_to_refold
  select s.workspace_id, s.decision_id from decision_states s
  where exists (select from outcomes o where o.workspace_id = s.workspace_id and o.decision_id = s.decision_id
      and o.source = 'CLIENT_REPORTED')
    and (s.capability_status = 'CONSUMED' or exists (
      select from outcomes o where o.workspace_id = s.workspace_id and o.decision_id = s.decision_id
        and o.source = 'PAYMENT_RAIL'));
