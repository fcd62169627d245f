#!/bin/sh
# Writes a backup of the database of DATABASE_URL, and of the checkpoints in DATA_DIR, into DIRECTORY, and keeps the
# newest KEEP (7). Prints the backup's name. pg_dump may not be older than the server. SECRET_KEY is not in it.
#   DATABASE_URL=... DATA_DIR=/var/lib/purser backup.sh DIRECTORY
set -eu
umask 077
: "${DATABASE_URL:?set DATABASE_URL to the database}"
directory=${1:?name the directory of the backups}
mkdir -p "$directory"
[ -w "$directory" ] || { echo "backup: $directory cannot be written." >&2; exit 1; }
# Only one backup at a time can have made the part of a name, so none is moved into another.
while :; do
  name=$directory/purser-$(date -u +%Y%m%dT%H%M%SZ)
  if mkdir "$name.part" 2> /dev/null; then
    [ -e "$name" ] || break
    rmdir "$name.part"
  fi
  sleep 1
done
# Of the checkpoints first: what they sign is then in the dump.
checkpoints=${DATA_DIR:-.data}/checkpoints
mkdir "$name.part/checkpoints"
# The service goes on meanwhile: its drafts are no checkpoints, and what it has pruned since the listing is no loss.
if [ -d "$checkpoints" ]; then
  find "$checkpoints" -name '*.txt' -exec sh -c 'for file; do
    folder=$0/$(basename "$(dirname "$file")")
    mkdir -p "$folder"
    cp "$file" "$folder/" || [ ! -e "$file" ] || exit 1
  done' "$name.part/checkpoints" {} +
fi
pg_dump --dbname="$DATABASE_URL" --format=custom --no-owner --file="$name.part/database.dump"
# Read once more before it counts: a dump that was cut off has no whole table of contents.
pg_restore --list "$name.part/database.dump" > /dev/null
mv "$name.part" "$name"
ls -d "$directory"/purser-*Z | sort -r | tail -n "+$((${KEEP:-7} + 1))" | while read -r old; do rm -rf "$old"; done
echo "$name"
