#!/bin/sh
# Makes the role and the database of Parley. The role is no superuser, because superusers pass row level security, and
# row level security keeps the organizations apart.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username=postgres <<'SQL'
create role parley login password :'password';
create database parley owner parley;
SQL
