-- compatible-with: 50
-- Mail about accounts that is to be sent: invitations and password links. Links hold a token that is computed when the
-- mail is sent, so no row has one.
create table emails (
  -- Becomes the Message-ID.
  email_id text collate "C" primary key,
  -- INVITATION or RESET.
  kind text collate "C" not null,
  recipient text not null,
  -- Of an invitation.
  workspace_id text collate "C",
  invitation_id text collate "C",
  -- Of a password link: whose, and the credential epoch in which it was asked for.
  user_id text collate "C",
  credential_epoch integer,
  created_at timestamptz not null,
  -- The next attempt; while a process sends it, the time from which another one may.
  due_at timestamptz not null,
  attempts integer not null default 0,
  -- QUEUED, SENT, FAILED, or OBSOLETE: nothing to send any more.
  status text collate "C" not null default 'QUEUED',
  -- Why the last attempt failed.
  error text
);
create index emails_due on emails (due_at) where status = 'QUEUED';
create index emails_of_invitations on emails (workspace_id, invitation_id) where invitation_id is not null;

-- How a person wants to be notified; without a row, of each request that they may decide, by mail.
create table notification_settings (
  user_id text collate "C" primary key,
  time_zone text not null,
  -- MINE or NONE.
  email text collate "C" not null,
  -- DAILY or NONE.
  digest text collate "C" not null,
  quiet_hours json,
  -- When the next digest is due; null: there is none.
  next_digest_at timestamptz
);
create index notification_settings_due on notification_settings (next_digest_at) where next_digest_at is not null;

-- The last digest of each member, by the moment that it was due at: each is made once.
create table digests (
  workspace_id text collate "C" not null,
  user_id text collate "C" not null,
  due_at timestamptz not null,
  primary key (workspace_id, user_id)
);
