-- compatible-with: 35
-- The maker of each key and the person at the root of its making, the inviter of each invitation, whether a reviewer made the
-- requesting key, and a workspace's separation of duties. Builds before this one would leave them out and let a review pass
-- that the setting forbids, so they are stopped first.
alter table api_keys
  add column made_by_key_id text collate "C",
  add column made_by_principal_id text,
  -- The principal of the person who made the key, or the first of the keys that led to it. Null: no person did.
  add column made_by_person text;
alter table invitations
  add column invited_by_key_id text collate "C",
  -- The principal of the person who invited, or at the root of the key that did. Null: no person did.
  add column invited_by_person text;
alter table reviews add column by_key_maker boolean not null default false;
-- Reports count such reviews.
alter table report_counted add column by_key_maker boolean not null default false;
alter table workspaces add column separation_of_duties text not null default 'AUTO';

-- For earlier rows the audit records say who made them. Verification reads it from there too.
with recursive made as (
  select r.workspace_id, r.target_id as key_id, r.actor ->> 'key_id' as by_key_id, r.actor ->> 'principal_id' as by_principal_id,
    r.actor ->> 'type' as by_type
  from audit_records r where r.action = 'api_key.created'
), rooted as (
  select workspace_id, key_id, case when by_type = 'user' then by_principal_id end as person
  from made where by_key_id is null
  union all
  select m.workspace_id, m.key_id, r.person
  from made m join rooted r on r.workspace_id = m.workspace_id and r.key_id = m.by_key_id
)
update api_keys k
set made_by_key_id = m.by_key_id, made_by_principal_id = m.by_principal_id, made_by_person = r.person
from made m left join rooted r on r.workspace_id = m.workspace_id and r.key_id = m.key_id
where k.workspace_id = m.workspace_id and k.key_id = m.key_id;

update invitations i
set invited_by_key_id = r.actor ->> 'key_id',
  invited_by_person = case when r.actor ->> 'type' = 'user' then r.actor ->> 'principal_id' else k.made_by_person end
from audit_records r
left join api_keys k on k.workspace_id = r.workspace_id and k.key_id = r.actor ->> 'key_id'
where r.action = 'member.invited' and i.workspace_id = r.workspace_id and i.invitation_id = r.target_id;

-- A principal that a member had is kept from others after the member was removed.
create index members_by_any_principal on members (workspace_id, principal_id);
