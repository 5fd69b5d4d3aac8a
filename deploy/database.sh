#!/bin/sh
# Runs once, when the database is made. The service's role owns its database and is no superuser; the
# superuser keeps no password, so that nobody is one from outside of this container.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 \
  --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv password POSTGRES_PASSWORD
CREATE ROLE farthing LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE farthing OWNER farthing;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
