-- Tables with their number of rows, as ANALYZE found it. What is not counted per table is NULL.
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname, NULL::int8 AS seq_scan, NULL::int8 AS seq_tup_read, NULL::int8 AS idx_scan, NULL::int8 AS idx_tup_fetch,
       NULL::int8 AS n_tup_ins, NULL::int8 AS n_tup_upd, NULL::int8 AS n_tup_del, NULL::int8 AS n_tup_hot_upd,
       CASE WHEN c.reltuples >= 0 THEN c.reltuples::int8 ELSE 0 END AS n_live_tup, 0 AS n_dead_tup, NULL::int8 AS n_mod_since_analyze, NULL::int8 AS n_ins_since_vacuum,
       NULL::timestamptz AS last_vacuum, NULL::timestamptz AS last_autovacuum, NULL::timestamptz AS last_analyze, NULL::timestamptz AS last_autoanalyze,
       NULL::int8 AS vacuum_count, NULL::int8 AS autovacuum_count, NULL::int8 AS analyze_count, NULL::int8 AS autoanalyze_count
FROM pg_catalog.pg_class c
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r'
