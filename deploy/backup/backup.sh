#!/bin/sh
# Backs up the database of DATABASE_URL and the checkpoints in DATA_DIR into DIRECTORY, and keeps the newest KEEP (7)
# backups. Prints the backup's name. pg_dump must not be older than the server. The backup does not contain SECRET_KEY.
#   DATABASE_URL=... DATA_DIR=/var/lib/purser backup.sh DIRECTORY
set -eu
umask 077
: "${DATABASE_URL:?set DATABASE_URL to the database}"
directory=${1:?name the directory of the backups}
mkdir -p "$directory"
[ -w "$directory" ] || { echo "backup: $directory cannot be written." >&2; exit 1; }
# Only one backup at a time can create a .part of one name, so no backup is moved into another.
while :; do
  name=$directory/purser-$(date -u +%Y%m%dT%H%M%SZ)
  if mkdir "$name.part" 2> /dev/null; then
    [ -e "$name" ] || break
    rmdir "$name.part"
  fi
  sleep 1
done
# Checkpoints first: the dump then contains everything that they sign.
checkpoints=${DATA_DIR:-.data}/checkpoints
mkdir "$name.part/checkpoints"
# The service keeps running: its drafts are not checkpoints, and a checkpoint pruned since the listing is no loss.
if [ -d "$checkpoints" ]; then
  find "$checkpoints" -name '*.txt' -exec sh -c 'for file; do
    folder=$0/$(basename "$(dirname "$file")")
    mkdir -p "$folder"
    cp "$file" "$folder/" || [ ! -e "$file" ] || exit 1
  done' "$name.part/checkpoints" {} +
fi
pg_dump --dbname="$DATABASE_URL" --format=custom --no-owner --file="$name.part/database.dump"
# Read the dump again: a truncated dump has no complete table of contents.
pg_restore --list "$name.part/database.dump" > /dev/null
mv "$name.part" "$name"
ls -d "$directory"/purser-*Z | sort -r | tail -n "+$((${KEEP:-7} + 1))" | while read -r old; do rm -rf "$old"; done
echo "$name"
