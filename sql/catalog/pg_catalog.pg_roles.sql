-- Roles without their passwords.
SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolconnlimit,
       '********' AS rolpassword, rolvaliduntil, rolbypassrls, NULL::text[] AS rolconfig, oid
FROM pg_catalog.pg_authid
