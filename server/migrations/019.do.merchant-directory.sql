-- compatible-with: 19
-- The merchants that people listed for an agent, whatever its authority says. An entry is never removed: where it was
-- unlisted, that stays on record, so that simulation knows what was listed when a decision was made. The agent's row has
-- the version of its directory, which grows with every change, so that a decision can tell without looking at the entries
-- whether those that it was prepared with still are the ones in force.
create table merchant_entries (
  workspace_id text collate "C" not null,
  entry_id text collate "C" not null,
  agent_id text collate "C" not null,
  merchant text not null,
  payee_ids text[] not null,
  verdict text collate "C" not null,
  note text,
  listed_in integer not null,
  unlisted_in integer,
  created_at timestamptz not null,
  unlisted_at timestamptz,
  key_id text collate "C",
  principal_id text,
  primary key (workspace_id, entry_id)
);
create index merchant_entries_in_force on merchant_entries (workspace_id, agent_id, entry_id)
  where unlisted_in is null;
create index merchant_entries_unlisted on merchant_entries (workspace_id, agent_id, unlisted_in)
  where unlisted_in is not null;
alter table agents add column directory_version integer not null default 0;

-- What people and the payment rail said of an agent's spends is kept by merchant and payee, and there by the words of the
-- descriptions, under whichever purpose it was said: an edit of the purpose sets back what it touches, and nothing else.
-- It is learnt anew from the chain, which has all of it.
drop table feedback;
create table feedback (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  purpose_hash text collate "C" not null,
  merchant text collate "C" not null,
  payee_id text collate "C" not null,
  word text collate "C" not null,
  allowed integer not null,
  denied integer not null,
  aligned integer not null,
  misaligned integer not null,
  paid integer not null,
  -- Lowest and highest amount by currency: {"EUR": {"low": 100, "high": 900}}.
  usual_minor json not null,
  changed_at timestamptz not null,
  primary key (workspace_id, agent_id, merchant, payee_id, purpose_hash, word)
) with (fillfactor = 80);
truncate decision_lessons, feedback_watermarks;
delete from skipped_events where follower = 'learning';
