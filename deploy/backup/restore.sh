#!/bin/sh
# Puts a backup into the empty database of DATABASE_URL and its checkpoints into DATA_DIR, then verifies every history.
# Exits 0 only if all of it is as it was written. Set SECRET_KEY as it was; PURSER is how to run the operator's command.
#   DATABASE_URL=... SECRET_KEY=... DATA_DIR=/var/lib/purser restore.sh BACKUP
set -eu
umask 077
: "${DATABASE_URL:?set DATABASE_URL to an empty database}"
: "${SECRET_KEY:?set SECRET_KEY to what it was when the backup was made}"
backup=${1:?name the backup}
here=$(cd "$(dirname "$0")" && pwd)
export DATA_DIR="${DATA_DIR:-.data}"
if [ "$(psql "$DATABASE_URL" -Atc "select count(*) from pg_tables where schemaname = 'public'")" != 0 ]; then
  echo 'restore: the database has tables already; give an empty one.' >&2
  exit 1
fi
# The rights in the dump are those of this role, which belongs to the server and not to the database.
psql "$DATABASE_URL" -qv ON_ERROR_STOP=1 -c "do \$\$ begin
  if not exists (select from pg_roles where rolname = 'purser_service') then create role purser_service; end if;
  execute format('grant purser_service to %I', current_user);
end \$\$"
pg_restore --dbname="$DATABASE_URL" --no-owner --exit-on-error --single-transaction "$backup/database.dump"
if [ -d "$backup/checkpoints" ]; then
  mkdir -p "$DATA_DIR/checkpoints"
  cp -R "$backup/checkpoints/." "$DATA_DIR/checkpoints/"
fi
${PURSER:-node "$here/../../server/dist/main.js"} ledger verify
