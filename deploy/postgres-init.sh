#!/bin/sh
# Makes the role and the database of Parley. The role is no superuser: those pass row level security, which keeps the
# organizations apart.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username=postgres <<'SQL'
create role parley login password :'password';
create database parley owner parley;
SQL
