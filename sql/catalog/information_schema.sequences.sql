-- Sequences, without those behind identity columns.
SELECT current_database() AS sequence_catalog, nc.nspname AS sequence_schema, c.relname AS sequence_name, pg_catalog.format_type(s.seqtypid, NULL) AS data_type,
       CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 END AS numeric_precision, 2 AS numeric_precision_radix, 0 AS numeric_scale,
       s.seqstart::text AS start_value, s.seqmin::text AS minimum_value, s.seqmax::text AS maximum_value, s.seqincrement::text AS increment,
       CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END AS cycle_option
FROM pg_catalog.pg_sequence s
JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')
