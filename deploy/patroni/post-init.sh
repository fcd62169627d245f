#!/bin/sh
# Makes what Purser needs, once, when Patroni has made the database. $1 is how to connect.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$PURSER_PASSWORD" "$1" <<'SQL'
create role purser login createrole password :'password';
create database purser owner purser;
SQL
