-- Tables and views.
SELECT current_database() AS table_catalog, nc.nspname AS table_schema, c.relname AS table_name,
       CASE WHEN c.relpersistence = 't' THEN 'LOCAL TEMPORARY' WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE' WHEN c.relkind = 'v' THEN 'VIEW' END AS table_type,
       NULL::name AS self_referencing_column_name, NULL::varchar AS reference_generation,
       NULL::name AS user_defined_type_catalog, NULL::name AS user_defined_type_schema, NULL::name AS user_defined_type_name,
       CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END AS is_insertable_into, 'NO' AS is_typed, NULL::varchar AS commit_action
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'p')
