-- Conditions of domains.
SELECT current_database() AS constraint_catalog, rs.nspname AS constraint_schema, con.conname AS constraint_name,
       current_database() AS domain_catalog, n.nspname AS domain_schema, t.typname AS domain_name,
       CASE WHEN con.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable, CASE WHEN con.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred
FROM pg_catalog.pg_constraint con
JOIN pg_catalog.pg_namespace rs ON rs.oid = con.connamespace
JOIN pg_catalog.pg_type t ON t.oid = con.contypid
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
