-- compatible-with: 31
-- A person's credentials (password, sessions, passkeys, links that set a password) are good only in the epoch in which they
-- were made. The first proof of the e-mail, a used link and another password raise it. Builds before this one would let in
-- credentials of an earlier epoch, so they are stopped first.
alter table users
  add column credential_epoch integer not null default 0,
  -- When a provider, the operator's link or the set-up first proved that the e-mail is this person's; null: nobody has.
  -- Memberships from before are set aside until the person accepts them.
  add column email_proved_at timestamptz;
alter table sessions add column credential_epoch integer not null default 0;
alter table user_passkeys add column credential_epoch integer not null default 0;
-- Set for the registration of a passkey.
alter table passkey_challenges add column credential_epoch integer;

-- A provider has vouched for these. What they have joined stays theirs.
update users u set email_proved_at = date_trunc('milliseconds', u.created_at)
  where exists (select from user_identities i where i.user_id = u.user_id);
