-- Columns of tables and views; one of a domain is described as what the domain is made over (b). Numbers in CASE are types: 20 bigint, 21 smallint, 23 integer, 25 text, 700 real, 701 double precision, 1042 character,
-- 1043 character varying, 1082 date, 1083 time, 1114 timestamp, 1184 timestamptz, 1186 interval, 1266 timetz, 1700 numeric.
SELECT current_database() AS table_catalog, nc.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, a.attnum::int4 AS ordinal_position,
       CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) END AS column_default,
       CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable,
       CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN nb.nspname = 'pg_catalog' THEN pg_catalog.format_type(b.oid, NULL) ELSE 'USER-DEFINED' END AS data_type,
       CASE WHEN b.oid IN (1042, 1043) AND CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END <> -1 THEN CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END - 4 END AS character_maximum_length,
       CASE WHEN b.oid IN (25, 1042, 1043) THEN CASE WHEN CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END = -1 THEN 1073741824 ELSE (CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END - 4) * 4 END END AS character_octet_length,
       CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
            WHEN 1700 THEN CASE WHEN CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END <> -1 THEN ((CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END - 4) >> 16) & 65535 END END AS numeric_precision,
       CASE WHEN b.oid IN (20, 21, 23, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END AS numeric_precision_radix,
       CASE WHEN b.oid IN (20, 21, 23) THEN 0 WHEN b.oid = 1700 AND CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END <> -1 THEN (CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END - 4) & 2047 END AS numeric_scale,
       CASE WHEN b.oid = 1082 THEN 0 WHEN b.oid IN (1083, 1114, 1184, 1266, 1186) THEN CASE WHEN CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END < 0 THEN 6 ELSE CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END & 65535 END END
           AS datetime_precision,
       NULL::varchar AS interval_type, NULL::int4 AS interval_precision,
       NULL::name AS character_set_catalog, NULL::name AS character_set_schema, NULL::name AS character_set_name,
       CASE WHEN co.oid IS NOT NULL THEN current_database() END AS collation_catalog, CASE WHEN co.oid IS NOT NULL THEN 'pg_catalog' END AS collation_schema,
       co.collname AS collation_name,
       CASE WHEN t.typtype = 'd' THEN current_database() END AS domain_catalog, CASE WHEN t.typtype = 'd' THEN nt.nspname END AS domain_schema,
       CASE WHEN t.typtype = 'd' THEN t.typname END AS domain_name,
       current_database() AS udt_catalog, nb.nspname AS udt_schema, b.typname AS udt_name,
       NULL::name AS scope_catalog, NULL::name AS scope_schema, NULL::name AS scope_name, NULL::int4 AS maximum_cardinality,
       a.attnum::text AS dtd_identifier, 'NO' AS is_self_referencing,
       CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END AS is_identity,
       CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END AS identity_generation,
       seq.seqstart::text AS identity_start, seq.seqincrement::text AS identity_increment, seq.seqmax::text AS identity_maximum, seq.seqmin::text AS identity_minimum,
       CASE WHEN seq.seqcycle THEN 'YES' ELSE 'NO' END AS identity_cycle,
       CASE WHEN a.attgenerated <> '' THEN 'ALWAYS' ELSE 'NEVER' END AS is_generated,
       CASE WHEN a.attgenerated <> '' THEN pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) END AS generation_expression,
       CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END AS is_updatable
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace nc ON nc.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
JOIN pg_catalog.pg_namespace nt ON nt.oid = t.typnamespace
JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
JOIN pg_catalog.pg_namespace nb ON nb.oid = b.typnamespace
LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation AND co.collname <> 'default'
LEFT JOIN (pg_catalog.pg_depend dep JOIN pg_catalog.pg_sequence seq ON dep.objid = seq.seqrelid AND dep.deptype = 'i')
    ON dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'p')
