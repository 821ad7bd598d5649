-- Columns that were declared with a domain.
SELECT current_database() AS domain_catalog, nt.nspname AS domain_schema, t.typname AS domain_name,
       current_database() AS table_catalog, nc.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_catalog.pg_attribute a ON a.atttypid = t.oid
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
WHERE t.typtype = 'd' AND c.relkind IN ('r', 'v', 'p') AND a.attnum > 0 AND NOT a.attisdropped
