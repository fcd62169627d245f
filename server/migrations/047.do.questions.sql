-- compatible-with: 47
-- The questions that decisions of an agent asked, and the answers of people. `question_events` has each decision that asked a
-- question, and each answer, by the `seq` of the event of the chain that seals it; `questions` is their sum. Both follow from
-- the chain, so verification makes them again. Builds before this one would record decisions, reviews and labels without
-- them, so they are stopped first.
create table questions (
  workspace_id text collate "C" not null,
  agent_id text collate "C" not null,
  question_id text collate "C" not null,
  kind text collate "C" not null,
  merchant text not null,
  -- JSON; null: the merchant itself.
  about text,
  sentence text not null,
  asked integer not null,
  first_seq bigint not null,
  first_asked_at timestamptz not null,
  last_seq bigint not null,
  last_asked_at timestamptz not null,
  -- JSON.
  asked_for text not null,
  -- JSON; null: open.
  answer text,
  primary key (workspace_id, agent_id, question_id)
) with (fillfactor = 80);
create index questions_newest on questions (workspace_id, agent_id, last_seq, question_id);
create index questions_answered on questions (workspace_id, agent_id, last_seq) where answer is not null;

create table question_events (
  workspace_id text collate "C" not null,
  seq bigint not null,
  agent_id text collate "C" not null,
  question_id text collate "C" not null,
  -- ASKED, YES, NO or FORGOTTEN.
  what text collate "C" not null,
  at timestamptz not null,
  key_id text collate "C",
  principal_id text,
  comment text,
  decision_id text collate "C",
  amount_minor bigint,
  currency text collate "C",
  payee_id text,
  primary key (workspace_id, seq, question_id)
);
create index question_events_of_one on question_events (workspace_id, agent_id, question_id, seq);
create index question_events_answered on question_events (workspace_id, agent_id, seq) where what <> 'ASKED';
create index question_events_asked on question_events (workspace_id, question_id, decision_id) where what = 'ASKED';
create index question_events_of_decisions on question_events (workspace_id, decision_id) where what = 'ASKED';

-- The `seq` of the last event that answered a question of the agent's decisions, so that a decision can tell whether the
-- answers that it was prepared with still are the ones in force.
alter table agents add column answers_version bigint not null default 0;

-- The questions of the decision that a review or label answered.
alter table reviews add column questions text[] not null default '{}';
alter table labels add column questions text[] not null default '{}';
