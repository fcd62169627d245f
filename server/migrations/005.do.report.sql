-- What the shadow report is read from, so that a month of a million decisions is some thousand rows. A worker adds
-- the ledger's events up here off the decision's path; what it has not reached yet, the report counts itself.

-- Sums for one UTC day of decisions, by the day on which a decision was made. `slice`: an agent's id, or '' for all of the
-- workspace. What `name` says depends on `measure`: see domain/report-counters.ts.
create table report_counters (
  workspace_id text collate "C" not null,
  slice text collate "C" not null,
  measure text collate "C" not null,
  day text collate "C" not null,
  decision text collate "C" not null,
  name text collate "C" not null,
  currency text collate "C" not null,
  count bigint not null,
  -- Sums of a month may pass what bigint holds.
  amount_minor numeric not null,
  -- The newest decisions counted, newest first; a few, as examples.
  newest_ids text[] not null,
  primary key (workspace_id, slice, measure, day, decision, name, currency)
) with (fillfactor = 70);

-- What was counted of a decision of which more is known than when it was made: reviews, labels and outcomes may
-- change, and then what was counted before has to be taken back. A decision that is not here was counted as made.
create table report_counted (
  workspace_id text collate "C" not null,
  decision_id text collate "C" not null,
  review_state text,
  waited_s bigint,
  label text,
  assessment text,
  outcome_state text not null,
  executed_minor bigint not null,
  primary key (workspace_id, decision_id)
) with (fillfactor = 80);

-- The last event of each chain that has been added up.
create table report_watermarks (
  workspace_id text collate "C" not null primary key,
  seq bigint not null
) with (fillfactor = 20);
