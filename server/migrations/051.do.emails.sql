-- compatible-with: 47
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
