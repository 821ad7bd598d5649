-- Indexes with their definitions.
SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, NULL::name AS tablespace, pg_catalog.pg_get_indexdef(i.oid) AS indexdef
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
