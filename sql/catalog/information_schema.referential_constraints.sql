-- Foreign keys and the keys they point to.
SELECT current_database() AS constraint_catalog, ncon.nspname AS constraint_schema, con.conname AS constraint_name,
       CASE WHEN pkc.oid IS NOT NULL THEN current_database() END AS unique_constraint_catalog, npkc.nspname AS unique_constraint_schema, pkc.conname AS unique_constraint_name,
       CASE con.confmatchtype WHEN 'f' THEN 'FULL' WHEN 's' THEN 'NONE' END AS match_option,
       CASE con.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END AS update_rule,
       CASE con.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END AS delete_rule
FROM pg_catalog.pg_constraint con
JOIN pg_catalog.pg_namespace ncon ON ncon.oid = con.connamespace
LEFT JOIN pg_catalog.pg_constraint pkc ON pkc.conrelid = con.confrelid AND pkc.conindid = con.conindid AND pkc.contype IN ('p', 'u')
LEFT JOIN pg_catalog.pg_namespace npkc ON npkc.oid = pkc.connamespace
WHERE con.contype = 'f'
