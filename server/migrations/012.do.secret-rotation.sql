-- compatible-with: 10
-- Which SECRET_KEY the digest of an API key was made with, so that an operator who replaced it can be told which keys
-- still need the old one. The start fills it in where an earlier build left it out.
alter table api_key_digests add column secret_id text collate "C";

-- When the secret key that the row is checked by came to be, and the public keys that checkpoints were signed with before
-- it: [{ public_key, retired_at, signature }], each vouched for by a key that is not in the database.
alter table installation
  add column secret_since timestamptz,
  add column retired_keys json not null default '[]';
