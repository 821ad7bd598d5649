-- Collations.
SELECT current_database() AS collation_catalog, 'pg_catalog' AS collation_schema, collname AS collation_name, 'NO PAD' AS pad_attribute FROM pg_catalog.pg_collation
