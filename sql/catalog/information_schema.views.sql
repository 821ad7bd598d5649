-- Views; none can be written through.
SELECT current_database() AS table_catalog, nc.nspname AS table_schema, c.relname AS table_name, pg_catalog.pg_get_viewdef(c.oid) AS view_definition,
       CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED' WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL' ELSE 'NONE' END AS check_option, 'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable, 'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
WHERE c.relkind = 'v'
