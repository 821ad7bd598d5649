-- Tables that constraints use; of a foreign key, the table it points to.
SELECT current_database() AS table_catalog, nr.nspname AS table_schema, r.relname AS table_name,
       current_database() AS constraint_catalog, nc.nspname AS constraint_schema, c.conname AS constraint_name
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.connamespace
JOIN pg_catalog.pg_class r ON r.oid = CASE c.contype WHEN 'f' THEN c.confrelid ELSE c.conrelid END
JOIN pg_catalog.pg_namespace nr ON nr.oid = r.relnamespace
WHERE c.contype IN ('f', 'p', 'u')
