-- Columns of primary, unique and foreign keys, in order.
SELECT current_database() AS constraint_catalog, nc.nspname AS constraint_schema, c.conname AS constraint_name,
       current_database() AS table_catalog, nc.nspname AS table_schema, r.relname AS table_name, a.attname AS column_name, p.n AS ordinal_position,
       CASE WHEN c.contype = 'f' THEN (SELECT s.n FROM pg_catalog.generate_series(1, i.indnkeyatts::int4) AS s(n) WHERE i.indkey[s.n - 1] = c.confkey[p.n]) END
           AS position_in_unique_constraint
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_class r ON r.oid = c.conrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = r.relnamespace
CROSS JOIN LATERAL pg_catalog.generate_subscripts(c.conkey, 1) AS p(n)
JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum = c.conkey[p.n]
LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.conindid
WHERE c.contype IN ('p', 'u', 'f')
