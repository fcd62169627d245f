#!/bin/sh
# Restores a backup into the empty database of DATABASE_URL and its checkpoints into DATA_DIR, migrates the schema and
# verifies every history. The user must own the database.
# Exits 0 only if every history verifies. Set SECRET_KEY to its old value; PURSER is the operator's command.
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
purser() { ${PURSER:-node "$here/../../server/dist/main.js"} "$@"; }
# Leave out the dump's rights: `migrate` prepares the service's role, as far as this user may, and grants them.
pg_restore --dbname="$DATABASE_URL" --no-owner --no-privileges --exit-on-error --single-transaction "$backup/database.dump"
if [ -d "$backup/checkpoints" ]; then
  mkdir -p "$DATA_DIR/checkpoints"
  cp -R "$backup/checkpoints/." "$DATA_DIR/checkpoints/"
fi
purser migrate
purser ledger verify
