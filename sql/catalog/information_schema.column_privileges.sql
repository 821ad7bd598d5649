-- What owners may do with the columns of their tables; there are no other grants.
SELECT pg_catalog.pg_get_userbyid(c.relowner) AS grantor, pg_catalog.pg_get_userbyid(c.relowner) AS grantee, current_database() AS table_catalog, nc.nspname AS table_schema,
       c.relname AS table_name, a.attname AS column_name, p.privilege AS privilege_type, 'YES' AS is_grantable
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
CROSS JOIN (VALUES ('INSERT'), ('SELECT'), ('UPDATE'), ('REFERENCES')) AS p(privilege)
WHERE c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
