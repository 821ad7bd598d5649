-- What owners may do with their tables; there are no other grants.
SELECT pg_catalog.pg_get_userbyid(c.relowner) AS grantor, pg_catalog.pg_get_userbyid(c.relowner) AS grantee, current_database() AS table_catalog, nc.nspname AS table_schema,
       c.relname AS table_name, p.privilege AS privilege_type, 'YES' AS is_grantable, CASE WHEN p.privilege = 'SELECT' THEN 'YES' ELSE 'NO' END AS with_hierarchy
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
CROSS JOIN (VALUES ('INSERT'), ('SELECT'), ('UPDATE'), ('DELETE'), ('TRUNCATE'), ('REFERENCES'), ('TRIGGER')) AS p(privilege)
WHERE c.relkind IN ('r', 'v')
