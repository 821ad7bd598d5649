-- Sequences, with the value each has given out last.
SELECT n.nspname AS schemaname, c.relname AS sequencename, pg_catalog.pg_get_userbyid(c.relowner) AS sequenceowner, s.seqtypid::regtype AS data_type,
       s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value, s.seqincrement AS increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size,
       pg_catalog.pg_sequence_last_value(c.oid) AS last_value
FROM pg_catalog.pg_sequence s
JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
