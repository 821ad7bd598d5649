-- Roles that the current user has.
SELECT rolname AS role_name FROM pg_catalog.pg_authid
