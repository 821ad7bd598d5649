-- Users, under the names of old.
SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper, rolreplication AS userepl, rolbypassrls AS usebypassrls,
       rolpassword AS passwd, rolvaliduntil AS valuntil, NULL::text[] AS useconfig
FROM pg_catalog.pg_authid
WHERE rolcanlogin
