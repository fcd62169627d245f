#!/bin/sh
# Creates Purser's role and database once, after Patroni has initialized the cluster. $1 is the connection string.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PURSER_PASSWORD" "$1" <<'SQL'
create role purser login createrole password :'password';
create database purser owner purser;
SQL
