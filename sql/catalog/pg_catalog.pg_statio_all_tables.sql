-- Tables. There are no counters of blocks per table, so they are NULL.
SELECT relid, schemaname, relname, NULL::int8 AS heap_blks_read, NULL::int8 AS heap_blks_hit, NULL::int8 AS idx_blks_read, NULL::int8 AS idx_blks_hit,
       NULL::int8 AS toast_blks_read, NULL::int8 AS toast_blks_hit, NULL::int8 AS tidx_blks_read, NULL::int8 AS tidx_blks_hit
FROM pg_catalog.pg_stat_all_tables
