-- Conditions of checks; NOT NULL counts as one.
SELECT current_database() AS constraint_catalog, nc.nspname AS constraint_schema, c.conname AS constraint_name,
       '(' || pg_catalog.pg_get_expr(c.conbin, c.conrelid) || ')' AS check_clause
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.connamespace
WHERE c.contype = 'c'
UNION ALL
SELECT current_database(), n.nspname, n.oid::text || '_' || r.oid::text || '_' || a.attnum::text || '_not_null', a.attname || ' IS NOT NULL'
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class r ON r.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p')
