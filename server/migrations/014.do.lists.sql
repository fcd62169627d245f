-- compatible-with: 14
-- What lists are found by. Each index holds the rows that a list is narrowed to and nothing else; the conditions also keep
-- them from look-ups by key, as with decisions_by_agent.

-- A decision that waits for a person has a state from its making on, in SHADOW too, so that whoever asks what waits reads
-- no decision that does not. And a state whose review is pending keeps the deadline where an outcome settled its hold.
insert into states_to_refold
  select d.workspace_id, d.decision_id from decisions d
  where d.decision = 'REVIEW' and not exists (
    select from decision_states s where s.workspace_id = d.workspace_id and s.decision_id = d.decision_id)
  union
  select s.workspace_id, s.decision_id from decision_states s
  where s.review_state = 'PENDING' and s.outcome_state <> 'NONE'
  on conflict do nothing;

create index decisions_by_kind on decisions (workspace_id, decision, decision_id) where decision <> 'ALLOW';
create index decisions_by_merchant on decisions (workspace_id, merchant, decision_id) where merchant <> '';
create index decision_states_by_review on decision_states (workspace_id, review_state, decision_id)
  where review_state is not null;
-- In SHADOW a review never runs out, so it comes after all that do.
create index pending_reviews_by_deadline
  on decision_states (workspace_id, (coalesce(expires_at, '9999-12-31 00:00:00+00'::timestamptz)), decision_id)
  where review_state = 'PENDING';
create index decision_states_by_outcome on decision_states (workspace_id, outcome_state, decision_id)
  where outcome_state <> 'NONE';
create index labels_by_label on labels (workspace_id, label, decision_id) where label <> '';
