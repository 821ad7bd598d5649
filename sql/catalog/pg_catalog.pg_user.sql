-- Users, under the names of old, without their passwords.
SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls, '********' AS passwd, valuntil, useconfig FROM pg_catalog.pg_shadow
