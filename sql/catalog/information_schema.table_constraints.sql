-- Constraints; NOT NULL counts as a check.
SELECT current_database() AS constraint_catalog, nc.nspname AS constraint_schema, c.conname AS constraint_name,
       current_database() AS table_catalog, nc.nspname AS table_schema, r.relname AS table_name,
       CASE c.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS constraint_type,
       CASE WHEN c.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable, CASE WHEN c.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred, 'YES' AS enforced,
       CASE WHEN c.contype = 'u' THEN CASE WHEN i.indnullsnotdistinct THEN 'NO' ELSE 'YES' END END AS nulls_distinct
FROM pg_catalog.pg_constraint c
JOIN pg_catalog.pg_class r ON r.oid = c.conrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = r.relnamespace
LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.conindid
UNION ALL
SELECT current_database(), nr.nspname, nr.oid::text || '_' || r.oid::text || '_' || a.attnum::text || '_not_null',
       current_database(), nr.nspname, r.relname, 'CHECK', 'NO', 'NO', 'YES', NULL
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class r ON r.oid = a.attrelid
JOIN pg_catalog.pg_namespace nr ON nr.oid = r.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p')
