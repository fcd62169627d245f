-- One row: a value derived from the SECRET_KEY that the keys, tokens and secrets of this database were made with, so
-- that a start with another one is told at once. Nothing else can be derived from it.
create table installation (
  only_row boolean not null primary key default true check (only_row),
  secret_check bytea not null
);
